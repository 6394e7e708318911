package tester

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/gridhook/gridhook/dispatcher/channel"
	"github.com/gridhook/gridhook/dispatcher/policy"
	"github.com/gridhook/gridhook/dispatcher/send"
	"github.com/gridhook/gridhook/dispatcher/target"
	"github.com/gridhook/gridhook/dispatcher/webhook"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/signals"
	"github.com/gridhook/gridhook/storage/vault"
)

// Tester sends webhook.test events and test messages to notification channels, and shows
// messages of deliveries. Close ends it.
type Tester struct {
	store    *storage.Store
	vault    *vault.Vault
	sender   *send.Sender
	channels *channel.Sender
}

// New returns a tester that owns sender and closes it.
func New(s *storage.Store, v *vault.Vault, sender *send.Sender, m channel.Mail) *Tester {
	return &Tester{store: s, vault: v, sender: sender, channels: channel.New(v, sender, m)}
}

// TestChannel sends a test message to a notification channel and returns the result.
func (t *Tester) TestChannel(ctx context.Context, c storage.Channel) events.ChannelTest {
	return t.channels.Test(ctx, c, t.store.Now())
}

// Close closes the tester's connections and waits for its current requests.
func (t *Tester) Close() { t.sender.Close() }

// Verify asks the URL of an endpoint, or the callback of an OpenADR subscription, to prove
// that it belongs to its client.
func (t *Tester) Verify(ctx context.Context, rawURL string) error {
	return t.sender.Echo(ctx, rawURL)
}

// SendTest makes one attempt and returns its outcome. It does not retry.
func (t *Tester) SendTest(ctx context.Context, e storage.WebhookEndpoint) (events.Delivery, error) {
	to, err := t.open(e)
	if err != nil {
		return events.Delivery{}, err
	}
	now := t.store.Now()
	body, err := json.Marshal(map[string]any{
		"type": storage.EventWebhookTest, "timestamp": storage.Time{Time: now},
		"data": map[string]string{"organizationId": e.OrganizationID, "endpointId": e.ID},
	})
	if err != nil {
		return events.Delivery{}, err
	}
	p := webhook.NewPayload(storage.NewID("msg_", now), body, to.Compression)
	a := t.sender.Send(ctx, to.Destination, &send.Request{At: now, ID: p.ID, Headers: to.Headers(&p, now), Body: p.Sent()})
	d := events.Delivery{MessageID: p.ID, EndpointID: to.ID, Outcome: events.OutcomeFailed, Attempt: 1}
	a.Describe(&d)
	if a.Verdict() == policy.Delivered {
		d.Outcome = events.OutcomeDelivered
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return d, ctx.Err()
	}
	return d, nil
}

// Message makes a trigger's message of a signal, without compression. The headers identify
// and sign it as if it were sent now.
func (t *Tester) Message(e storage.WebhookEndpoint, tr *events.Trigger, signal signals.Signal, f storage.SignalFormat) (body []byte, headers map[string]string, err error) {
	to, err := t.open(e)
	if err != nil {
		return nil, nil, err
	}
	m := webhook.NewMessage(tr, e.ID, signal, f)
	p := webhook.NewPayload(m.ID(), m.AppendBody(nil), storage.CompressionNone)
	headers = map[string]string{}
	for _, h := range to.Headers(&p, t.store.Now()) {
		headers[h.Name] = h.Value
	}
	return p.Sent(), headers, nil
}

// open reads an endpoint and decrypts its secrets.
func (t *Tester) open(e storage.WebhookEndpoint) (to *target.Target, err error) {
	err = t.store.View(func(v storage.View) error {
		r, err := v.Get(e.Ref())
		if err == nil {
			to, err = target.Open(t.vault, r)
		}
		return err
	})
	return to, err
}
