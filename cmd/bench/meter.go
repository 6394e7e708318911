package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/cmd/internal/app"
	"github.com/gridhook/gridhook/cmd/internal/sandbox"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// deliveryMeter measures walks.
type deliveryMeter struct {
	box  *sandbox.Sandbox
	sink *Sink
	// homes is the number of webhooks of a walk, over all homes and endpoints.
	homes int
	// organizations are triggered together. The default is the benchmark's organization.
	organizations []string
	// urls receive the webhooks and the bare client's requests.
	urls []string
	// version is the HTTP version over TLS, or plain for HTTP without TLS.
	version storage.HTTPVersion
	// processorTime returns the processor time of Gridhook's processes. The default is
	// the time of this process.
	processorTime func() time.Duration
	// intervals is the length of the signals. The default makes bodies of 8 KB.
	intervals int
}

// plain is HTTP without TLS.
const plain storage.HTTPVersion = ""

// url returns the sink's URL for webhooks.
func (m *deliveryMeter) url() string {
	if m.version == plain {
		return m.sink.URL
	}
	return m.sink.SecureURL
}

// startMeter starts a sink and a sandbox. The sandbox has one organization, whose
// webhooks go to the sink.
func startMeter(ctx context.Context, o Options, homes int) (m *deliveryMeter, done func() error, err error) {
	m, done, err = startSandbox(ctx, o, homes)
	if err != nil {
		return nil, nil, err
	}
	if err := m.furnish(ctx, organization, homes, m.url()); err != nil {
		return nil, nil, errors.Join(err, done())
	}
	return m, done, nil
}

// startSandbox starts a sink and a sandbox without an organization.
func startSandbox(ctx context.Context, o Options, homes int, change ...func(*app.Options)) (m *deliveryMeter, done func() error, err error) {
	sink, err := StartSink(ctx)
	if err != nil {
		return nil, nil, err
	}
	box, err := sandbox.Start(ctx, o.Log, change...)
	if err != nil {
		return nil, nil, errors.Join(err, sink.Close())
	}
	return &deliveryMeter{box: box, sink: sink, homes: homes}, func() error { return errors.Join(box.Close(), sink.Close()) }, nil
}

// walked is the result of one walk of the homes.
type walked struct {
	perSecond float64
	// cpu is the processor time of a delivery in all of Gridhook's processes, in
	// microseconds. It counts until the trigger is completed.
	cpu float64
	// answeredMs is the time until the first trigger's response. firstMs and lastMs are the
	// times from its request to the first and last webhook's arrival.
	answeredMs, firstMs, lastMs float64
	// handshakes counts the TLS connections opened.
	handshakes int64
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
	processorTime := m.processorTime
	if processorTime == nil {
		processorTime = cpuTime
	}
	used, asked := processorTime(), time.Now()
	var accepted time.Time // when the first trigger was accepted
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
	w.handshakes = arrived.Handshakes
	w.perSecond = float64(m.homes) / arrived.Last.Sub(accepted).Seconds()
	w.answeredMs, w.firstMs, w.lastMs = milliseconds(accepted.Sub(asked)), milliseconds(arrived.First.Sub(asked)), milliseconds(arrived.Last.Sub(asked))
	for i, name := range organizations {
		if err := m.completed(ctx, name, triggers[i].TriggerID); err != nil {
			return w, err
		}
	}
	w.cpu = microsecondsEach(processorTime()-used, m.homes)
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

// completed waits until an organization's trigger is completed. It returns an error if a
// webhook was not delivered.
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

// manyConnections lets one endpoint use every connection of the worker.
func manyConnections(o *app.Options) {
	o.Worker.Concurrency, o.Worker.EndpointConcurrency = connections, connections
}

// register registers the URL for an organization's price signals.
func register(ctx context.Context, operator *client.Client, organization, url string) error {
	_, err := operator.For(organization).CreateEndpoint(ctx, client.NewEndpoint{EndpointFields: client.EndpointFields{
		URL: &url, EventTypes: &[]string{storage.EventPriceSignalUpdated},
	}})
	return err
}
