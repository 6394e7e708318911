package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/cmd/internal/sandbox"
	"github.com/gridhook/gridhook/storage"
)

// Delivery compares walks of triggers with a bare client. A walk counts from the stored
// trigger to the last webhook's arrival. The bare client posts as many signed bodies of
// the same size, over as many connections, to the same receivers.
type Delivery struct {
	// One uses one endpoint and bodies of about 8 KB.
	One
	// Small uses one endpoint and bodies of about 2 KB. Many uses a thousand endpoints of
	// a hundred organizations, each endpoint on its own host.
	Small One `json:"small"`
	Many  One `json:"many"`
}

// One is the result of one comparison.
type One struct {
	// DeliveriesPerSecond and CeilingPerSecond are medians over the rounds, and
	// Ratio is the median of each round's ratio.
	DeliveriesPerSecond float64 `json:"deliveriesPerSecond"`
	CeilingPerSecond    float64 `json:"ceilingPerSecond"`
	Ratio               float64 `json:"ratio"`
	// DeliveryCPU and CeilingCPU are medians of the rounds' processor time.
	DeliveryCPU float64 `json:"deliveryCpuMicroseconds"`
	CeilingCPU  float64 `json:"ceilingCpuMicroseconds"`
	Deliveries  int     `json:"deliveries"`
	Endpoints   int     `json:"endpoints"`
	BodyBytes   int     `json:"bodyBytes"`
	Connections int     `json:"connections"`
	// CeilingHTTP2 is the bare client's number of HTTP/2 connections to each destination.
	// It is the number that measured best.
	CeilingHTTP2 int     `json:"ceilingHttp2Connections,omitempty"`
	Rounds       []Round `json:"rounds"`
}

// Round is one measurement of the product and of the bare client.
type Round struct {
	DeliveriesPerSecond float64 `json:"deliveriesPerSecond"`
	CeilingPerSecond    float64 `json:"ceilingPerSecond"`
	// DeliveryCPU and CeilingCPU are the sending process's processor time per delivery,
	// in microseconds. They exclude the receiver's time.
	DeliveryCPU float64 `json:"deliveryCpuMicroseconds"`
	CeilingCPU  float64 `json:"ceilingCpuMicroseconds"`
	// FirstMilliseconds is the time from the trigger's request to the first webhook's
	// arrival.
	FirstMilliseconds float64 `json:"firstMs"`
	// DeliveryHandshakes and CeilingHandshakes count the TLS connections that each side
	// opened.
	DeliveryHandshakes int64 `json:"deliveryHandshakes,omitempty"`
	CeilingHandshakes  int64 `json:"ceilingHandshakes,omitempty"`
}

const organization = "bench"

// intervals is the length of the signals in quarter hours. It makes bodies of about 8 KB;
// fewIntervals makes bodies of about 2 KB.
const (
	intervals    = 46
	fewIntervals = 8
)

// connections is the number of requests in flight on both sides.
const connections = 64

// Many uses a thousand endpoints of a hundred organizations.
const (
	manyOrganizations = 100
	endpointsEach     = 10
)

func measureDelivery(ctx context.Context, o Options) (d *Delivery, err error) {
	m, rounds, done, err := startDelivery(ctx, o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, done()) }()
	o.say("delivery: importing %d homes", m.homes)
	one, err := m.toOne(ctx, organization, plain)
	if err != nil {
		return nil, err
	}
	many, err := m.toMany(ctx, "many", plain)
	if err != nil {
		return nil, err
	}
	small := *one
	small.intervals = fewIntervals
	d = &Delivery{}
	return d, compareAll(ctx, o, rounds, []comparison{
		{"delivery, 8 KB", one, &d.One}, {"delivery, 2 KB", &small, &d.Small}, {"delivery, 1,000 endpoints", many, &d.Many},
	})
}

// startDelivery starts a sink and a sandbox with as many requests in flight as the bare
// client. It returns the number of rounds to measure.
func startDelivery(ctx context.Context, o Options) (m *deliveryMeter, rounds int, done func() error, err error) {
	homes, rounds := 60_000, 5
	if o.Quick {
		homes, rounds = 15_000, 3
	}
	m, done, err = startSandbox(ctx, o, homes, manyConnections)
	return m, rounds, done, err
}

// toOne creates an organization with one endpoint.
func (m *deliveryMeter) toOne(ctx context.Context, name string, version storage.HTTPVersion) (*deliveryMeter, error) {
	one := &deliveryMeter{box: m.box, sink: m.sink, homes: m.homes, organizations: []string{name}, version: version}
	one.urls = []string{one.url()}
	return one, one.furnish(ctx, name, m.homes, one.urls...)
}

// toMany creates a hundred organizations with ten endpoints each. Each endpoint has its
// own host.
func (m *deliveryMeter) toMany(ctx context.Context, prefix string, version storage.HTTPVersion) (*deliveryMeter, error) {
	many := &deliveryMeter{box: m.box, sink: m.sink, homes: m.homes, version: version}
	for i := range manyOrganizations {
		name := fmt.Sprintf("%s-%03d", prefix, i)
		for e := range endpointsEach {
			many.urls = append(many.urls, hostURL(many.url(), i*endpointsEach+e))
		}
		many.organizations = append(many.organizations, name)
		if err := many.furnish(ctx, name, m.homes/manyOrganizations/endpointsEach, many.urls[i*endpointsEach:]...); err != nil {
			return nil, err
		}
	}
	return many, nil
}

// furnish creates an organization with homes and one endpoint for each URL.
func (m *deliveryMeter) furnish(ctx context.Context, name string, homes int, urls ...string) error {
	if err := sandbox.Furnish(ctx, m.box.Operator, name, homes); err != nil {
		return err
	}
	for _, url := range urls {
		fields := client.EndpointFields{URL: &url, EventTypes: &[]string{storage.EventPriceSignalUpdated}}
		if m.version != plain {
			fields.HTTPVersion = &m.version
		}
		if _, err := m.box.Operator.For(name).CreateEndpoint(ctx, client.NewEndpoint{EndpointFields: fields}); err != nil {
			return err
		}
	}
	return nil
}

// comparison is one comparison of a suite.
type comparison struct {
	name  string
	meter *deliveryMeter
	into  *One
}

func compareAll(ctx context.Context, o Options, rounds int, comparisons []comparison) (err error) {
	for _, c := range comparisons {
		if *c.into, err = c.meter.compare(ctx, o, c.name, rounds); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	return nil
}

// compare measures rounds of the product's walks and of the bare client.
func (m *deliveryMeter) compare(ctx context.Context, o Options, name string, rounds int) (One, error) {
	body, err := m.sampleBody(ctx)
	if err != nil {
		return One{}, fmt.Errorf("a sample of the webhooks: %w", err)
	}
	bare, err := m.bestClient(ctx, body)
	if err != nil {
		return One{}, err
	}
	if _, err := m.round(ctx, bare, body); err != nil { // warms both up
		return One{}, err
	}
	d := One{Deliveries: m.homes, Endpoints: len(m.urls), BodyBytes: len(body), Connections: connections}
	if m.version == storage.HTTPVersion2 {
		d.CeilingHTTP2 = len(bare.transports)
	}
	var deliveries, ceilings, ratios, deliveryCPU, ceilingCPU []float64
	for range rounds {
		r, err := m.round(ctx, bare, body)
		if err != nil {
			return d, err
		}
		o.say("%s: %6.0f/s (%.0f µs of CPU each%s), bare client %6.0f/s (%.0f µs%s), ratio %.2f", name,
			r.DeliveriesPerSecond, r.DeliveryCPU, handshakes(r.DeliveryHandshakes),
			r.CeilingPerSecond, r.CeilingCPU, handshakes(r.CeilingHandshakes), r.DeliveriesPerSecond/r.CeilingPerSecond)
		d.Rounds = append(d.Rounds, r)
		deliveries = append(deliveries, r.DeliveriesPerSecond)
		ceilings = append(ceilings, r.CeilingPerSecond)
		ratios = append(ratios, r.DeliveriesPerSecond/r.CeilingPerSecond)
		deliveryCPU, ceilingCPU = append(deliveryCPU, r.DeliveryCPU), append(ceilingCPU, r.CeilingCPU)
	}
	d.DeliveriesPerSecond, d.CeilingPerSecond, d.Ratio = median(deliveries), median(ceilings), median(ratios)
	d.DeliveryCPU, d.CeilingCPU = median(deliveryCPU), median(ceilingCPU)
	return d, nil
}

func (m *deliveryMeter) round(ctx context.Context, bare *bareClient, body []byte) (r Round, err error) {
	if err := m.sink.Reset(ctx); err != nil {
		return r, err
	}
	used := cpuTime()
	if r.CeilingPerSecond, err = bare.post(ctx, m.urls, body, m.homes); err != nil {
		return r, err
	}
	r.CeilingCPU = microsecondsEach(cpuTime()-used, m.homes)
	arrived, err := m.sink.Wait(ctx, m.homes)
	if err != nil {
		return r, err
	}
	r.CeilingHandshakes = arrived.Handshakes
	w, err := m.walk(ctx)
	r.DeliveriesPerSecond, r.DeliveryCPU, r.FirstMilliseconds, r.DeliveryHandshakes = w.perSecond, w.cpu, w.firstMs, w.handshakes
	return r, err
}

// sampleBody returns the body of one webhook. It triggers a single home of another
// organization.
func (m *deliveryMeter) sampleBody(ctx context.Context) ([]byte, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	got := make(chan []byte, 1)
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // a truncated body shows in its size
		select {
		case got <- body:
		default:
		}
	})}
	go func() { _ = server.Serve(listener) }()
	defer func() { _ = server.Close() }()
	sample := fmt.Sprintf("sample-%s-%d", m.organizations[0], m.intervals)
	in := &deliveryMeter{box: m.box, version: plain}
	if err := in.furnish(ctx, sample, 1, "http://"+listener.Addr().String()); err != nil {
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
