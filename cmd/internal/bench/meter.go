package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/cmd/internal/sandbox"
	"github.com/gridhook/gridhook/dispatcher"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// deliveryMeter measures walks.
type deliveryMeter struct {
	box  *sandbox.Sandbox
	sink *Sink
	// homes is how many webhooks all of a walk's homes and endpoints make.
	homes int
	// organizations are triggered together, by default the one of the benchmark;
	// urls are where their webhooks go, by default the sink's.
	organizations, urls []string
	// intervals is how long the signals are, by default that of 8 KB.
	intervals int
}

// startMeter starts a sink and a sandbox with an organization whose webhooks go
// there.
func startMeter(ctx context.Context, o Options, homes int) (m *deliveryMeter, done func() error, err error) {
	sink, err := StartSink(ctx)
	if err != nil {
		return nil, nil, err
	}
	box, err := sandbox.Start(ctx, o.Log, dispatcher.Options{})
	if err != nil {
		return nil, nil, errors.Join(err, sink.Close())
	}
	done = func() error { return errors.Join(box.Close(), sink.Close()) }
	m = &deliveryMeter{box: box, sink: sink, homes: homes}
	if err := m.furnish(ctx, organization, homes, sink.URL); err != nil {
		return nil, nil, errors.Join(err, done())
	}
	return m, done, nil
}

// walked is one walk of the homes.
type walked struct {
	perSecond float64
	// answeredMs is how long the first trigger took to be answered, firstMs how
	// long after it was asked for the first webhook arrived.
	answeredMs, firstMs float64
}

// walk triggers the organizations and waits for every webhook.
func (m *deliveryMeter) walk(ctx context.Context) (w walked, err error) {
	if err := m.sink.Reset(ctx); err != nil {
		return w, err
	}
	organizations := m.organizations
	if len(organizations) == 0 {
		organizations = []string{organization}
	}
	asked := time.Now()
	var accepted time.Time // the first of them
	triggers := make([]client.Accepted, len(organizations))
	for i, name := range organizations {
		if triggers[i], err = m.triggerOf(ctx, name); err != nil {
			return w, err
		}
		if i == 0 {
			accepted = time.Now()
		}
	}
	arrived, err := m.sink.Wait(ctx, m.homes)
	if err != nil {
		return w, err
	}
	w.perSecond = float64(m.homes) / arrived.Last.Sub(accepted).Seconds()
	w.answeredMs = float64(accepted.Sub(asked).Microseconds()) / 1000
	w.firstMs = float64(arrived.First.Sub(asked).Microseconds()) / 1000
	for i, name := range organizations {
		if err := m.completed(ctx, name, triggers[i].TriggerID); err != nil {
			return w, err
		}
	}
	return w, nil
}

func (m *deliveryMeter) triggerOf(ctx context.Context, organization string) (client.Accepted, error) {
	length := m.intervals
	if length == 0 {
		length = intervals
	}
	start := time.Now().UTC().Truncate(15 * time.Minute)
	accepted, err := m.box.Operator.For(organization).Trigger(ctx, client.TriggerRequest{
		StartTime: &storage.Time{Time: start}, EndTime: &storage.Time{Time: start.Add(time.Duration(length) * 15 * time.Minute)},
	})
	if err != nil {
		return accepted, fmt.Errorf("trigger %s: %w", organization, err)
	}
	return accepted, nil
}

// completed waits for the end of an organization's trigger and wants every webhook
// delivered.
func (m *deliveryMeter) completed(ctx context.Context, organization, id string) error {
	return sandbox.Poll(ctx, 50*time.Millisecond, func() (bool, error) {
		p, err := m.box.Operator.For(organization).GetTrigger(ctx, id)
		if err != nil || p.Status != events.TriggerCompleted {
			return false, err
		}
		if n := p.Outcomes[events.OutcomeDelivered]; n != m.homes/max(1, len(m.organizations)) {
			return false, fmt.Errorf("%d of %d webhooks were delivered", n, m.homes)
		}
		return true, nil
	})
}
