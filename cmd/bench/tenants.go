package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/cmd/internal/sandbox"
	"github.com/gridhook/gridhook/pricing/savings"
	"github.com/gridhook/gridhook/storage"
)

// Tenants compares an organization's waiting times beside a greedy organization with its
// waiting times alone. The server, the receivers and the clients are separate processes.
// In production the greedy organization's clients and receiver run on its own machines. So
// here they have the lowest priority, and compete with each other for what the server
// leaves.
type Tenants struct {
	Signal   Wait `json:"signal"`
	Estimate Wait `json:"estimate"`
	// Trigger is the time until a trigger's response. Deliveries is the time from the
	// trigger's request to its last webhook.
	Trigger    Wait `json:"trigger"`
	Deliveries Wait `json:"deliveries"`
	Homes      int  `json:"homes"`
	// Processors is the processor time of the server beside the greedy organization, in
	// processors.
	Processors float64 `json:"processors"`
}

// Wait is the duration of an operation. The times are medians over all rounds.
type Wait struct {
	AloneMs  float64 `json:"aloneMs"`
	BesideMs float64 `json:"besideMs"`
	Ratio    float64 `json:"ratio"`
}

// The greedy organization has as many endpoints as it may. It sends these requests at once
// and repeats each after its response or refusal: more estimates than may wait, long price
// signals at a key's default rate limit, feedback, and triggers. More clients do not read
// the responses.
const (
	greedy          = "greedy"
	greedyEstimates = 150
	greedySignals   = 16
	greedyFeedback  = 2
	greedyTriggers  = 2
	greedyReads     = 50
	greedyEndpoints = 50
	greedyHomes     = 500
	// signalPause follows each response: 16 clients then request 100 signals a second.
	signalPause = 160 * time.Millisecond
	greedyPause = 100 * time.Millisecond
	// greedyStart is the time until the greedy organization has reached its limits.
	greedyStart = 2 * time.Second
)

const tenantHome = "home_0000000"

// tenantMeter measures an organization's waiting times.
type tenantMeter struct {
	*server
	homes int
	sink  *Sink
}

func measureTenants(ctx context.Context, o Options) (r *Tenants, err error) {
	m, rounds := &tenantMeter{homes: 2000}, 5
	if o.Quick {
		m.homes, rounds = 500, 3
	}
	if m.server, err = startServer(o); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	var sinks [2]*Sink // of the modest and of the greedy organization
	for i, start := range []func(context.Context, ...string) (*child, error){startChild, startRemote} {
		if sinks[i], err = newSink(start(ctx, sinkCommand)); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, sinks[i].Close()) }()
	}
	m.sink = sinks[0]
	modest, err := m.tenant(ctx, organization, m.homes, 1, m.sink.URL)
	if err != nil {
		return nil, err
	}
	taker, err := m.tenant(ctx, greedy, greedyHomes, greedyEndpoints, sinks[1].URL)
	if err != nil {
		return nil, err
	}
	if _, err := m.waits(ctx, modest); err != nil { // warms up
		return nil, err
	}
	var alone, beside [4][]float64
	var processors []float64
	for range rounds {
		a, err := m.waits(ctx, modest)
		if err != nil {
			return nil, err
		}
		asking, err := startRemote(ctx, greedyCommand, taker.BaseURL, taker.Key)
		if err != nil {
			return nil, err
		}
		if err := pauseFor(ctx, greedyStart); err != nil {
			return nil, errors.Join(err, asking.Close())
		}
		began, used := time.Now(), m.processorTime()
		b, err := m.waits(ctx, modest)
		processors = append(processors, (m.processorTime()-used).Seconds()/time.Since(began).Seconds())
		if err = errors.Join(err, asking.Close(), m.idle(ctx)); err != nil {
			return nil, err
		}
		o.say("tenants: alone and beside in ms: signal %.1f %.1f, estimate %.0f %.0f, trigger %.1f %.1f, deliveries %.0f %.0f; %.1f processors",
			a[0], b[0], a[1], b[1], a[2], b[2], a[3], b[3], processors[len(processors)-1])
		for i := range a {
			alone[i], beside[i] = append(alone[i], a[i]), append(beside[i], b[i])
		}
	}
	wait := func(i int) Wait {
		a, b := median(alone[i]), median(beside[i])
		return Wait{AloneMs: a, BesideMs: b, Ratio: b / a}
	}
	return &Tenants{Signal: wait(0), Estimate: wait(1), Trigger: wait(2), Deliveries: wait(3), Homes: m.homes, Processors: median(processors)}, nil
}

func (m *tenantMeter) processorTime() time.Duration { return processorTimeOf(m.running.PID()) }

// idle waits until all triggers are walked.
func (m *tenantMeter) idle(ctx context.Context) error {
	return sandbox.Poll(ctx, time.Second, func() (bool, error) {
		homes, err := m.metric(ctx, "gridhook_backlog_homes")
		return homes == 0, err
	})
}

// tenant creates an organization with homes, one of them for estimates, and endpoints. It
// returns a client with the organization's key.
func (m *tenantMeter) tenant(ctx context.Context, org string, homes, endpoints int, url string) (*client.Client, error) {
	if err := sandbox.Furnish(ctx, m.Operator, org, homes); err != nil {
		return nil, err
	}
	for range endpoints {
		if err := register(ctx, m.Operator, org, url); err != nil {
			return nil, err
		}
	}
	err := sandbox.Import(ctx, m.Operator, strings.NewReader(
		`{"resource":"home","organizationId":"`+org+`","id":"`+tenantHome+`","zipcode":"94110","timezone":"America/Los_Angeles","ratePlanId":"pge-e-elec"}`+"\n"+
			`{"resource":"hvacDevice","organizationId":"`+org+`","deviceId":"dev","homeId":"`+tenantHome+`","coolingRate":6,"heatingRate":6,"heatTransferCoefficient":0.05}`))
	if err != nil {
		return nil, fmt.Errorf("a home to estimate: %w", err)
	}
	key, err := m.Operator.CreateKey(ctx, client.NewKey{OrganizationID: org})
	if err != nil {
		return nil, err
	}
	return &client.Client{BaseURL: m.running.API, Key: key.Text}, nil
}

// waits returns the median times of price signals, estimates, the response to a trigger
// and its deliveries, in milliseconds.
func (m *tenantMeter) waits(ctx context.Context, c *client.Client) (ms [4]float64, err error) {
	const signals, estimates, triggers = 100, 3, 45
	var took [4][]float64
	measure := func(i, times int, do func() error) error {
		for range times {
			began := time.Now()
			if err := do(); err != nil {
				return err
			}
			took[i] = append(took[i], milliseconds(time.Since(began)))
		}
		return nil
	}
	if err := measure(0, signals, func() error { return askSignal(ctx, c) }); err != nil {
		return ms, err
	}
	if err := measure(1, estimates, func() error { return askEstimate(ctx, c) }); err != nil {
		return ms, err
	}
	err = measure(3, triggers, func() error {
		if err := m.sink.Reset(ctx); err != nil {
			return err
		}
		if err := measure(2, 1, func() error { _, err := c.Trigger(ctx, client.TriggerRequest{}); return err }); err != nil {
			return err
		}
		_, err := m.sink.Wait(ctx, m.homes)
		return err
	})
	for i := range took {
		ms[i] = median(took[i])
	}
	return ms, err
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func askSignal(ctx context.Context, c *client.Client) error {
	start := time.Now().UTC().Truncate(15 * time.Minute)
	_, err := c.PriceSignal(ctx, tenantHome, client.Window{StartTime: &storage.Time{Time: start}, EndTime: &storage.Time{Time: start.Add(24 * time.Hour)}})
	return err
}

func askEstimate(ctx context.Context, c *client.Client) error {
	_, err := c.EstimateSavings(ctx, tenantHome, client.SavingsRequest{Request: savings.Request{Type: savings.Annual}})
	return err
}

// greedyCommand is the argument that makes this program run serveGreedy. The address of
// the API and a key follow.
const greedyCommand = "bench-greedy"

// serveGreedy exceeds an organization's limits until in ends. It does not decode the
// responses: on a machine shared with the server, that would take more processor time
// than the server itself.
func serveGreedy(ctx context.Context, c *client.Client, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if _, err := fmt.Fprintln(out, "ready"); err != nil {
		return err
	}
	start := time.Now().UTC().Truncate(15 * time.Minute)
	month := fmt.Sprintf(`{"startTime":%q,"endTime":%q}`, start.Format(time.RFC3339), start.AddDate(0, 0, 28).Format(time.RFC3339))
	signal := "/v1/homes/" + tenantHome + "/price_signal"
	var asking sync.WaitGroup
	for range greedyReads {
		asking.Go(func() {
			for ctx.Err() == nil {
				_ = postAs(ctx, c, signal, month, func(io.Reader) error { return pauseFor(ctx, slowRead) }) // cut off by the server
			}
		})
	}
	for _, load := range []struct {
		clients    int
		pause      time.Duration
		path, body string
	}{
		{greedyEstimates, greedyPause, "/v1/homes/" + tenantHome + "/hvac/estimate_savings", `{"type":"annual"}`},
		{greedySignals, signalPause, signal, month},
		{greedyFeedback, greedyPause, "/v1/feedback", `{"feedback_type":"bug","summary":"s","message":"m"}`},
		{greedyTriggers, greedyPause, "/v1/webhook/price_signal/trigger", `{}`},
	} {
		for range load.clients {
			asking.Go(func() {
				for ctx.Err() == nil {
					_ = postAs(ctx, c, load.path, load.body, discard) // refusals are expected
					_ = pauseFor(ctx, load.pause)                     // it ends with ctx
				}
			})
		}
	}
	_, err := io.Copy(io.Discard, in)
	cancel()
	asking.Wait()
	return err
}

// slowRead is how long a client waits before it reads a response.
const slowRead = 10 * time.Second

// pauseFor returns after a time. Errors: the error of ctx.
func pauseFor(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

func discard(body io.Reader) error {
	_, err := io.Copy(io.Discard, body)
	return err
}

func postAs(ctx context.Context, c *client.Client, path, body string, read func(io.Reader) error) (err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.BaseURL+path, bytes.NewReader([]byte(body)))
	if err != nil {
		return err
	}
	request.Header = http.Header{"Content-Type": {"application/json"}, "X-Ws-Api-Key": {c.Key}}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	return read(response.Body)
}
