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
)

// Delivery compares the walks of triggers, from the moment that they are stored to
// the last webhook's arrival, with a bare client that posts as many bodies of the
// same size, signed, over as many connections to the same receivers.
type Delivery struct {
	// One is of one endpoint and bodies of about 8 KB.
	One
	// Small is of one endpoint and bodies of about 2 KB, Many of a thousand
	// endpoints, each a host of its own, of a hundred organizations.
	Small One `json:"small"`
	Many  One `json:"many"`
}

// One is one such comparison.
type One struct {
	// DeliveriesPerSecond and CeilingPerSecond are medians over the rounds, and
	// Ratio is the median of each round's ratio.
	DeliveriesPerSecond float64 `json:"deliveriesPerSecond"`
	CeilingPerSecond    float64 `json:"ceilingPerSecond"`
	Ratio               float64 `json:"ratio"`
	Deliveries          int     `json:"deliveries"`
	Endpoints           int     `json:"endpoints"`
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
// about 8 KB, and fewIntervals such of about 2 KB.
const (
	intervals    = 46
	fewIntervals = 8
)

// connections is how many requests are in flight on both sides.
const connections = 64

// A thousand endpoints of a hundred organizations.
const (
	manyOrganizations = 100
	endpointsEach     = 10
)

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
	box, err := sandbox.Start(ctx, o.Log, dispatcher.Options{EndpointConcurrency: connections, Concurrency: connections})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, box.Close()) }()
	o.say("delivery: importing %d homes", homes)
	one := &deliveryMeter{box: box, sink: sink, homes: homes}
	if err := one.furnish(ctx, organization, homes, sink.URL); err != nil {
		return nil, err
	}
	many := &deliveryMeter{box: box, sink: sink, homes: homes}
	for i := range manyOrganizations {
		name := fmt.Sprintf("many-%03d", i)
		for e := range endpointsEach {
			many.urls = append(many.urls, sink.at(i*endpointsEach+e))
		}
		many.organizations = append(many.organizations, name)
		if err := many.furnish(ctx, name, homes/manyOrganizations/endpointsEach, many.urls[i*endpointsEach:]...); err != nil {
			return nil, err
		}
	}
	small := &deliveryMeter{box: box, sink: sink, homes: homes, intervals: fewIntervals}
	d = &Delivery{}
	for _, c := range []struct {
		name string
		m    *deliveryMeter
		into *One
	}{{"8 KB", one, &d.One}, {"2 KB", small, &d.Small}, {"1,000 endpoints", many, &d.Many}} {
		if *c.into, err = c.m.compare(ctx, o, c.name, rounds); err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
	}
	return d, nil
}

// furnish makes an organization with homes, whose webhooks go to all of the URLs.
func (m *deliveryMeter) furnish(ctx context.Context, name string, homes int, urls ...string) error {
	if err := m.box.Furnish(ctx, name, homes, func(int) {}); err != nil {
		return err
	}
	for _, url := range urls {
		if _, err := m.box.Register(ctx, name, url); err != nil {
			return err
		}
	}
	return nil
}

// compare measures rounds of walks and of the bare client.
func (m *deliveryMeter) compare(ctx context.Context, o Options, name string, rounds int) (One, error) {
	body, err := m.sampleBody(ctx)
	if err != nil {
		return One{}, fmt.Errorf("a sample of the webhooks: %w", err)
	}
	if _, err := m.round(ctx, body); err != nil { // warms both up
		return One{}, err
	}
	d := One{Deliveries: m.homes, Endpoints: max(1, len(m.urls)), BodyBytes: len(body), Connections: connections}
	var deliveries, ceilings, ratios []float64
	for range rounds {
		r, err := m.round(ctx, body)
		if err != nil {
			return d, err
		}
		o.say("delivery, %s: %6.0f/s (%.0f µs of CPU each), bare client %6.0f/s (%.0f µs), ratio %.2f",
			name, r.DeliveriesPerSecond, r.DeliveryCPU, r.CeilingPerSecond, r.CeilingCPU, r.DeliveriesPerSecond/r.CeilingPerSecond)
		d.Rounds = append(d.Rounds, r)
		deliveries = append(deliveries, r.DeliveriesPerSecond)
		ceilings = append(ceilings, r.CeilingPerSecond)
		ratios = append(ratios, r.DeliveriesPerSecond/r.CeilingPerSecond)
	}
	d.DeliveriesPerSecond, d.CeilingPerSecond, d.Ratio = median(deliveries), median(ceilings), median(ratios)
	return d, nil
}

func (m *deliveryMeter) round(ctx context.Context, body []byte) (r Round, err error) {
	urls := m.urls
	if len(urls) == 0 {
		urls = []string{m.sink.URL}
	}
	used := cpuTime()
	if r.CeilingPerSecond, err = ceiling(ctx, urls, body, m.homes, connections); err != nil {
		return r, err
	}
	r.CeilingCPU = microsecondsEach(cpuTime()-used, m.homes)
	used = cpuTime()
	w, err := m.walk(ctx)
	r.DeliveryCPU = microsecondsEach(cpuTime()-used, m.homes)
	r.DeliveriesPerSecond, r.FirstMilliseconds = w.perSecond, w.firstMs
	return r, err
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
	sample := fmt.Sprintf("sample-%d-%d", m.intervals, len(m.urls))
	if err := m.furnish(ctx, sample, 1, "http://"+listener.Addr().String()); err != nil {
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
