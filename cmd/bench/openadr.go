package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/gridhook/gridhook/cmd/internal/app"
	"github.com/gridhook/gridhook/cmd/internal/openadr"
	"github.com/gridhook/gridhook/config"
	"github.com/gridhook/gridhook/storage"
)

// OpenADR compares the callbacks of one changed event with as many webhooks of about the
// same size to the same receiver.
type OpenADR struct {
	Webhooks  Side `json:"webhooks"`
	Callbacks Side `json:"callbacks"`
	// Ratio and CPURatio are the medians of the rounds' ratios.
	Ratio         float64 `json:"ratio"`
	CPURatio      float64 `json:"cpuRatio"`
	Subscriptions int     `json:"subscriptions"`
}

// Side is one side of the comparison. The values are medians of the rounds.
type Side struct {
	PerSecond float64 `json:"perSecond"`
	// CPU is the processor time of one delivery, until its receipt is stored.
	CPU float64 `json:"cpuMicroseconds"`
	// FirstMs and LastMs are the time from the request that causes the deliveries to the
	// first and last arrival.
	FirstMs float64 `json:"firstMs"`
	LastMs  float64 `json:"lastMs"`
}

// callbackIntervals makes webhooks of about 2.6 KB, the size of the callbacks.
const callbackIntervals = 11

func measureOpenADR(ctx context.Context, o Options) (a *OpenADR, err error) {
	subscriptions, rounds := 100_000, 5
	if o.Quick {
		subscriptions, rounds = 20_000, 3
	}
	m, done, err := startSandbox(ctx, o, subscriptions, manyConnections, func(o *app.Options) {
		o.OpenADR = config.OpenADR{Enabled: true, ReportRetention: 30 * 24 * time.Hour}
	})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, done()) }()
	o.say("openadr: importing %d homes and %d subscriptions", m.homes, subscriptions)
	one, err := m.toOne(ctx, organization, plain)
	if err != nil {
		return nil, err
	}
	one.intervals = callbackIntervals
	business, err := newBusiness(ctx, one)
	if err != nil {
		return nil, err
	}
	if err := business.subscribe(ctx, one, subscriptions); err != nil {
		return nil, err
	}
	return business.compare(ctx, o, one, rounds)
}

// business is a business logic client and the event that it changes.
type business struct {
	*openadr.Client
	program, path string
}

func newBusiness(ctx context.Context, m *deliveryMeter) (*business, error) {
	c, err := openadr.NewClient(ctx, m.box.Operator, m.box.App.URL(), organization, storage.ScopeBusiness, http.DefaultClient)
	if err != nil {
		return nil, err
	}
	var made struct{ ID string }
	if err := c.Do(ctx, http.MethodPost, "programs", `{"programName":"bench"}`, &made); err != nil {
		return nil, err
	}
	b := &business{Client: c, program: made.ID}
	err = c.Do(ctx, http.MethodPost, "events", dayEvent(b.program, 0), &made)
	b.path = "events/" + made.ID
	return b, err
}

// dayEvent returns an event of 24 hours.
func dayEvent(program string, price int) string {
	intervals := make([]string, 24)
	for i := range intervals {
		intervals[i] = fmt.Sprintf(`{"id":%d,"payloads":[{"type":"PRICE","values":[0.%06d]},{"type":"EXPORT_PRICE","values":[0.05]}]}`, i, price)
	}
	return `{"programID":"` + program + `","intervals":[` + strings.Join(intervals, ",") + `]}`
}

// subscribe stores subscriptions to event updates, each with its own endpoint. It stores
// them in batches because single requests would take minutes.
func (b *business) subscribe(ctx context.Context, m *deliveryMeter, n int) error {
	log, now := m.box.App.StateLog(), time.Now()
	var batch []storage.Write
	for i := range n {
		s := storage.OpenADRObject{
			ID: fmt.Sprintf("%s%026d", storage.SubscriptionPrefix, i), Type: storage.OpenADRSubscription, ClientID: b.KeyID, Parent: b.program, Name: "bench", Body: []byte(`{}`),
			Callbacks: []storage.Callback{{URL: m.urls[0], Objects: []storage.OpenADRType{storage.OpenADREvent}, Operations: []string{"UPDATE"}}},
		}
		s.OrganizationID, s.CreatedAt, s.UpdatedAt = organization, storage.Time{Time: now}, storage.Time{Time: now}
		value, err := json.Marshal(&s)
		if err != nil {
			return err
		}
		if batch = append(batch, storage.Write{Ref: s.Ref(), At: now, Value: value}); len(batch) == storage.MaxBatch || i == n-1 {
			if _, err := log.AppendBatch(ctx, batch); err != nil {
				return err
			}
			batch = nil
		}
	}
	return nil
}

// change updates the event, and waits for every callback and its receipt.
func (b *business) change(ctx context.Context, m *deliveryMeter, price int) (w walked, err error) {
	if err := m.sink.Reset(ctx); err != nil {
		return w, err
	}
	used, asked := cpuTime(), time.Now()
	if err := b.Do(ctx, http.MethodPut, b.path, dayEvent(b.program, price), new(any)); err != nil {
		return w, err
	}
	arrived, err := m.sink.Wait(ctx, m.homes)
	if err != nil {
		return w, err
	}
	w.firstMs, w.lastMs = milliseconds(arrived.First.Sub(asked)), milliseconds(arrived.Last.Sub(asked))
	newest, err := m.box.Operator.For(organization).Triggers(ctx, 1)
	if err == nil {
		err = m.completed(ctx, organization, newest[0].TriggerID)
	}
	w.cpu = microsecondsEach(cpuTime()-used, m.homes)
	return w, err
}

func (b *business) compare(ctx context.Context, o Options, m *deliveryMeter, rounds int) (*OpenADR, error) {
	var webhooks, callbacks []walked
	var ratios, cpuRatios []float64
	for i := range rounds + 1 {
		w, err := m.walk(ctx)
		if err != nil {
			return nil, err
		}
		c, err := b.change(ctx, m, i+1)
		if err != nil {
			return nil, err
		}
		if i == 0 { // the first change warms both up
			continue
		}
		webhooks, callbacks = append(webhooks, w), append(callbacks, c)
		ratios, cpuRatios = append(ratios, w.lastMs/c.lastMs), append(cpuRatios, w.cpu/c.cpu)
		o.say("openadr: webhooks %s; callbacks %s; ratio %.2f, of CPU %.2f", newSide(m, w), newSide(m, c), w.lastMs/c.lastMs, w.cpu/c.cpu)
	}
	return &OpenADR{
		Webhooks: newSide(m, webhooks...), Callbacks: newSide(m, callbacks...), Ratio: median(ratios), CPURatio: median(cpuRatios), Subscriptions: m.homes,
	}, nil
}

// newSide returns the medians of rounds.
func newSide(m *deliveryMeter, rounds ...walked) Side {
	middle := func(value func(w *walked) float64) float64 {
		var values []float64
		for i := range rounds {
			values = append(values, value(&rounds[i]))
		}
		return median(values)
	}
	last := middle(func(w *walked) float64 { return w.lastMs })
	return Side{
		PerSecond: float64(m.homes) / last * 1000, LastMs: last,
		CPU: middle(func(w *walked) float64 { return w.cpu }), FirstMs: middle(func(w *walked) float64 { return w.firstMs }),
	}
}

// String describes the side in one line.
func (s Side) String() string {
	return fmt.Sprintf("%.0f/s (%.0f µs of CPU each, first after %.0f ms, last after %.0f ms)", s.PerSecond, s.CPU, s.FirstMs, s.LastMs)
}
