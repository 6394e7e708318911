package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/cmd/internal/app"
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
	Subscriptions      int     `json:"subscriptions"`
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
type business struct{ base, keyID, token, program, path string }

func newBusiness(ctx context.Context, m *deliveryMeter) (*business, error) {
	key, err := m.box.Operator.CreateKey(ctx, client.NewKey{OrganizationID: organization, Scopes: []storage.Scope{storage.ScopeBusiness}})
	if err != nil {
		return nil, err
	}
	b := &business{base: m.box.App.URL() + "/openadr3/3.1.1/", keyID: key.ID}
	var token struct {
		AccessToken string `json:"access_token"`
	}
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {key.ID}, "client_secret": {key.Text}}
	if err := b.ask(ctx, http.MethodPost, "auth/token", "application/x-www-form-urlencoded", form.Encode(), &token); err != nil {
		return nil, err
	}
	b.token = token.AccessToken
	var made struct{ ID string }
	if err := b.ask(ctx, http.MethodPost, "programs", "application/json", `{"programName":"bench"}`, &made); err != nil {
		return nil, err
	}
	b.program = made.ID
	err = b.ask(ctx, http.MethodPost, "events", "application/json", dayEvent(b.program, 0), &made)
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

func (b *business) ask(ctx context.Context, method, path, mediaType, body string, into any) error {
	request, err := http.NewRequestWithContext(ctx, method, b.base+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", mediaType)
	if b.token != "" {
		request.Header.Set("Authorization", "Bearer "+b.token)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }() // it is only read
	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode >= http.StatusBadRequest {
		err = fmt.Errorf("%s %s: %d %s", method, path, response.StatusCode, bytes.TrimSpace(text))
	}
	return errors.Join(err, json.Unmarshal(text, into))
}

// subscribe stores subscriptions to event updates, each with its own endpoint. It stores
// them in batches because single requests would take minutes.
func (b *business) subscribe(ctx context.Context, m *deliveryMeter, n int) error {
	log, now := m.box.App.StateLog(), time.Now()
	var batch []storage.Write
	for i := range n {
		s := storage.OpenADRObject{
			ID: fmt.Sprintf("%s%026d", storage.SubscriptionPrefix, i), Type: storage.OpenADRSubscription, ClientID: b.keyID, Parent: b.program, Name: "bench", Body: []byte(`{}`),
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

// change updates the event and waits for every callback.
func (b *business) change(ctx context.Context, m *deliveryMeter, n, price int) (perSecond, firstMs, lastMs float64, err error) {
	if err := m.sink.Reset(ctx); err != nil {
		return 0, 0, 0, err
	}
	asked := time.Now()
	if err := b.ask(ctx, http.MethodPut, b.path, "application/json", dayEvent(b.program, price), new(any)); err != nil {
		return 0, 0, 0, err
	}
	arrived, err := m.sink.Wait(ctx, n)
	took := arrived.Last.Sub(asked)
	return float64(n) / took.Seconds(), float64(arrived.First.Sub(asked).Microseconds()) / 1000, float64(took.Microseconds()) / 1000, err
}

func (b *business) compare(ctx context.Context, o Options, m *deliveryMeter, rounds int) (*OpenADR, error) {
	a := &OpenADR{Subscriptions: m.homes}
	var webhooks, callbacks, ratios, first, last []float64
	for i := range rounds + 1 {
		w, err := m.walk(ctx)
		if err != nil {
			return nil, err
		}
		perSecond, firstMs, lastMs, err := b.change(ctx, m, m.homes, i+1)
		if err != nil {
			return nil, err
		}
		if i == 0 { // the first change warms both up
			continue
		}
		o.say("openadr: %6.0f webhooks/s, %6.0f callbacks/s, ratio %.2f, first after %.0f ms", w.perSecond, perSecond, perSecond/w.perSecond, firstMs)
		webhooks, callbacks, ratios = append(webhooks, w.perSecond), append(callbacks, perSecond), append(ratios, perSecond/w.perSecond)
		first, last = append(first, firstMs), append(last, lastMs)
	}
	a.WebhooksPerSecond, a.CallbacksPerSecond, a.Ratio, a.FirstMs, a.LastMs = median(webhooks), median(callbacks), median(ratios), median(first), median(last)
	return a, nil
}
