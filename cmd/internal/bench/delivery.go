package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/gridhook/gridhook/cmd/internal/sandbox"
	"github.com/gridhook/gridhook/dispatcher"
	"github.com/gridhook/gridhook/events"
)

// Delivery compares a trigger's walk, from the moment that the trigger is stored
// to the last webhook's arrival, with a bare client that posts as many bodies of
// the same size, signed, over as many connections to the same receiver.
type Delivery struct {
	// DeliveriesPerSecond and CeilingPerSecond are medians over the rounds, and
	// Ratio is the median of each round's ratio.
	DeliveriesPerSecond float64 `json:"deliveriesPerSecond"`
	CeilingPerSecond    float64 `json:"ceilingPerSecond"`
	Ratio               float64 `json:"ratio"`
	Homes               int     `json:"homes"`
	BodyBytes           int     `json:"bodyBytes"`
	Connections         int     `json:"connections"`
	Rounds              []Round `json:"rounds"`
}

// Round is one measurement of both.
type Round struct {
	DeliveriesPerSecond float64 `json:"deliveriesPerSecond"`
	CeilingPerSecond    float64 `json:"ceilingPerSecond"`
	// DeliveryCPU and CeilingCPU are the processor time that the sending process
	// used for each, in microseconds; the receiver's is not in it.
	DeliveryCPU float64 `json:"deliveryCpuMicroseconds"`
	CeilingCPU  float64 `json:"ceilingCpuMicroseconds"`
	// FirstMilliseconds is how long after the trigger was asked for the first
	// webhook arrived.
	FirstMilliseconds float64 `json:"firstMs"`
}

const organization = "bench"

// intervals is the length of the signals: so many quarter hours make bodies of
// about 8 KB.
const intervals = 46

// connections is how many requests are in flight on both sides.
const connections = 64

func measureDelivery(ctx context.Context, o Options) (d *Delivery, err error) {
	homes, rounds := 60_000, 5
	if o.Quick {
		homes, rounds = 15_000, 3
	}
	sink, err := StartSink(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, sink.Close()) }()
	box, err := sandbox.Start(ctx, o.Log, dispatcher.Options{EndpointConcurrency: connections})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, box.Close()) }()
	o.say("delivery: importing %d homes", homes)
	if err := box.Furnish(ctx, organization, homes, func(int) {}); err != nil {
		return nil, err
	}
	m := &deliveryMeter{box: box, sink: sink, homes: homes}
	body, err := m.sampleBody(ctx)
	if err != nil {
		return nil, fmt.Errorf("a sample of the webhooks: %w", err)
	}
	if _, err := box.Register(ctx, organization, sink.URL); err != nil {
		return nil, err
	}
	if _, err := m.round(ctx, body); err != nil { // warms both up
		return nil, err
	}
	d = &Delivery{Homes: homes, BodyBytes: len(body), Connections: connections}
	var deliveries, ceilings, ratios []float64
	for range rounds {
		r, err := m.round(ctx, body)
		if err != nil {
			return nil, err
		}
		o.say("delivery: %6.0f/s (%.0f µs of CPU each), bare client %6.0f/s (%.0f µs), ratio %.2f",
			r.DeliveriesPerSecond, r.DeliveryCPU, r.CeilingPerSecond, r.CeilingCPU, r.DeliveriesPerSecond/r.CeilingPerSecond)
		d.Rounds = append(d.Rounds, r)
		deliveries = append(deliveries, r.DeliveriesPerSecond)
		ceilings = append(ceilings, r.CeilingPerSecond)
		ratios = append(ratios, r.DeliveriesPerSecond/r.CeilingPerSecond)
	}
	d.DeliveriesPerSecond, d.CeilingPerSecond, d.Ratio = median(deliveries), median(ceilings), median(ratios)
	return d, nil
}

// deliveryMeter measures rounds.
type deliveryMeter struct {
	box   *sandbox.Sandbox
	sink  *Sink
	homes int
}

func (m *deliveryMeter) round(ctx context.Context, body []byte) (r Round, err error) {
	used := cpuTime()
	if r.CeilingPerSecond, err = ceiling(ctx, m.sink.URL, body, m.homes, connections); err != nil {
		return r, err
	}
	r.CeilingCPU = microsecondsEach(cpuTime()-used, m.homes)
	used = cpuTime()
	w, err := m.walk(ctx)
	r.DeliveryCPU = microsecondsEach(cpuTime()-used, m.homes)
	r.DeliveriesPerSecond, r.FirstMilliseconds = w.perSecond, w.firstMs
	return r, err
}

// completed waits for the end of a trigger and wants every home delivered.
func (m *deliveryMeter) completed(ctx context.Context, id string) error {
	return sandbox.Poll(ctx, 50*time.Millisecond, func() (bool, error) {
		p, err := m.box.Operator.For(organization).GetTrigger(ctx, id)
		if err != nil || p.Status != events.TriggerCompleted {
			return false, err
		}
		if n := p.Outcomes[events.OutcomeDelivered]; n != m.homes {
			return false, fmt.Errorf("%d of %d homes were delivered", n, m.homes)
		}
		return true, nil
	})
}

// sampleBody is one webhook's body: the one that the trigger of a single home of
// another organization delivers.
func (m *deliveryMeter) sampleBody(ctx context.Context) ([]byte, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	got := make(chan []byte, 1)
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // a broken one shows in its size
		select {
		case got <- body:
		default:
		}
	})}
	go func() { _ = server.Serve(listener) }()
	defer func() { _ = server.Close() }()
	const sample = "sample"
	if err := m.box.Furnish(ctx, sample, 1, func(int) {}); err != nil {
		return nil, err
	}
	if _, err := m.box.Register(ctx, sample, "http://"+listener.Addr().String()); err != nil {
		return nil, err
	}
	if _, err := m.triggerOf(ctx, sample); err != nil {
		return nil, err
	}
	select {
	case body := <-got:
		return body, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
