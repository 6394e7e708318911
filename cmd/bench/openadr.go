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
	// The rates are medians. Ratio is the median of the rounds' ratios.
	WebhooksPerSecond  float64 `json:"webhooksPerSecond"`
	CallbacksPerSecond float64 `json:"callbacksPerSecond"`
	Ratio              float64 `json:"ratio"`
	// WebhookCPU and CallbackCPU are the processor time of one delivery, until its receipt
	// is stored. CPURatio is the median of the rounds' ratios.
	WebhookCPU    float64 `json:"webhookCpuMicroseconds"`
	CallbackCPU   float64 `json:"callbackCpuMicroseconds"`
	CPURatio      float64 `json:"cpuRatio"`
	Subscriptions int     `json:"subscriptions"`
	// FirstMs and LastMs are the time from the change's request to the first and last
	// callback's arrival. They are medians.
	FirstMs float64 `json:"firstMs"`
	LastMs  float64 `json:"lastMs"`
}

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
	one.intervals = fewIntervals
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

// dayEvent returns an event of 24 hours and about 2 KB.
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
func (b *business) change(ctx context.Context, m *deliveryMeter, price int) (w walked, lastMs float64, err error) {
	if err := m.sink.Reset(ctx); err != nil {
		return w, 0, err
	}
	used, asked := cpuTime(), time.Now()
	if err := b.Do(ctx, http.MethodPut, b.path, dayEvent(b.program, price), new(any)); err != nil {
		return w, 0, err
	}
	arrived, err := m.sink.Wait(ctx, m.homes)
	if err != nil {
		return w, 0, err
	}
	took := arrived.Last.Sub(asked)
	w.perSecond, w.firstMs = float64(m.homes)/took.Seconds(), float64(arrived.First.Sub(asked).Microseconds())/1000
	newest, err := m.box.Operator.For(organization).Triggers(ctx, 1)
	if err == nil {
		err = m.completed(ctx, organization, newest[0].TriggerID)
	}
	w.cpu = microsecondsEach(cpuTime()-used, m.homes)
	return w, float64(took.Microseconds()) / 1000, err
}

func (b *business) compare(ctx context.Context, o Options, m *deliveryMeter, rounds int) (*OpenADR, error) {
	a := &OpenADR{Subscriptions: m.homes}
	var webhooks, callbacks, ratios, webhookCPU, callbackCPU, cpuRatios, first, last []float64
	for i := range rounds + 1 {
		w, err := m.walk(ctx)
		if err != nil {
			return nil, err
		}
		c, lastMs, err := b.change(ctx, m, i+1)
		if err != nil {
			return nil, err
		}
		if i == 0 { // the first change warms both up
			continue
		}
		o.say("openadr: %6.0f webhooks/s (%.0f µs of CPU each), %6.0f callbacks/s (%.0f µs), ratio %.2f (of CPU %.2f), first after %.0f ms",
			w.perSecond, w.cpu, c.perSecond, c.cpu, c.perSecond/w.perSecond, w.cpu/c.cpu, c.firstMs)
		webhooks, callbacks, ratios = append(webhooks, w.perSecond), append(callbacks, c.perSecond), append(ratios, c.perSecond/w.perSecond)
		webhookCPU, callbackCPU, cpuRatios = append(webhookCPU, w.cpu), append(callbackCPU, c.cpu), append(cpuRatios, w.cpu/c.cpu)
		first, last = append(first, c.firstMs), append(last, lastMs)
	}
	a.WebhooksPerSecond, a.CallbacksPerSecond, a.Ratio = median(webhooks), median(callbacks), median(ratios)
	a.WebhookCPU, a.CallbackCPU, a.CPURatio = median(webhookCPU), median(callbackCPU), median(cpuRatios)
	a.FirstMs, a.LastMs = median(first), median(last)
	return a, nil
}
