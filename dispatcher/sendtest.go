package dispatcher

import (
	"context"
	"encoding/json"
	"errors"

	"go.opentelemetry.io/otel/trace"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/vault"
)

// Tester sends the webhook.test event to an endpoint at once, for whoever sets
// one up.
type Tester struct {
	store  *storage.Store
	vault  *vault.Vault
	sender *sender
	// tracing has a span for each test.
	tracing tracing
}

// NewTester makes a tester that dials only where the guard allows.
// tracer may be nil.
func NewTester(s *storage.Store, v *vault.Vault, g Guard, tracer trace.Tracer) *Tester {
	const idle = 1
	return &Tester{store: s, vault: v, sender: newSender(g, idle), tracing: tracing{tracer: tracer, requests: 1}}
}

// SendTest makes one attempt and says what came of it. It is not retried.
func (t *Tester) SendTest(ctx context.Context, e storage.WebhookEndpoint) (events.Delivery, error) {
	var target *endpoint
	err := t.store.View(func(v storage.View) error {
		r, err := v.Get(e.Ref())
		if err == nil {
			target, err = open(t.vault, r)
		}
		return err
	})
	if err != nil {
		return events.Delivery{}, err
	}
	now := t.store.Now()
	id := storage.NewID("msg_", now)
	body, err := json.Marshal(map[string]any{
		"type": storage.EventWebhookTest, "timestamp": storage.Time{Time: now},
		"data": map[string]string{"organizationId": e.OrganizationID, "endpointId": e.ID},
	})
	if err != nil {
		return events.Delivery{}, err
	}
	a := t.tracing.send(ctx, t.sender, target, id, target.payload(body), t.store.Now, 0)
	j := job{message: message{id: id}, endpoint: target, attempt: 1}
	d := j.delivery(a, 1)
	d.Outcome = events.OutcomeFailed
	if judge(a) == delivered {
		d.Outcome, d.Answer = events.OutcomeDelivered, ""
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return d, ctx.Err()
	}
	return d, nil
}
