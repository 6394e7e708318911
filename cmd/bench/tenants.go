package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
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
// leaves. Alone means that the greedy organization is suspended.
//
// The greedy organization is at all its limits at once, with these exceptions:
//   - max-history: beyond it no trigger is accepted, so none would wait or be delivered.
//   - openadr-max-objects, MQTT and relays: the server does not serve OpenADR here, and
//     nothing listens at a relay.
type Tenants struct {
	Signal   Wait `json:"signal"`
	Estimate Wait `json:"estimate"`
	// Trigger is the time until a trigger's response. Deliveries is the time from the
	// trigger's request to its last webhook.
	Trigger    Wait `json:"trigger"`
	Deliveries Wait `json:"deliveries"`
	Homes      int  `json:"homes"`
	// LimitsReached is the number of refusals of the greedy organization by limit. The suite
	// fails if one of greedyLimits refuses nothing in a round, or one of operatorLimits
	// nothing at all.
	LimitsReached map[string]int `json:"limitsReached"`
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

const (
	greedy     = "greedy"
	tenantHome = "home_0000000"
)

// tenantMeter measures an organization's waiting times.
type tenantMeter struct {
	*server
	homes int
	sink  *Sink
	// devices are the devices that fill the greedy organization's state.
	devices int
	// refused counts the refusals to the greedy organization as refusals does.
	refused map[string]int
}

func measureTenants(ctx context.Context, o Options) (r *Tenants, err error) {
	m, rounds := &tenantMeter{homes: 2000, refused: map[string]int{}}, 5
	if o.Quick {
		m.homes, rounds = 500, 3
	}
	if m.server, err = startServer(o, limitArgs(m.homes)...); err != nil {
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
	modest, keys, err := m.tenants(ctx, sinks[1].URL)
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
		b, used, err := m.beside(ctx, o, modest, keys)
		if err != nil {
			return nil, err
		}
		o.say("tenants: alone and beside in ms: signal %.1f %.1f, estimate %.0f %.0f, trigger %.1f %.1f, deliveries %.0f %.0f; %.1f processors",
			a[0], b[0], a[1], b[1], a[2], b[2], a[3], b[3], used)
		processors = append(processors, used)
		for i := range a {
			alone[i], beside[i] = append(alone[i], a[i]), append(beside[i], b[i])
		}
	}
	wait := func(i int) Wait {
		a, b := median(alone[i]), median(beside[i])
		return Wait{AloneMs: a, BesideMs: b, Ratio: b / a}
	}
	r = &Tenants{Signal: wait(0), Estimate: wait(1), Trigger: wait(2), Deliveries: wait(3), Homes: m.homes, Processors: median(processors)}
	r.LimitsReached, err = m.limitsReached()
	return r, err
}

// tenants creates both organizations and suspends the greedy one. It returns a client of
// the modest one and the greedy one's keys.
func (m *tenantMeter) tenants(ctx context.Context, greedyURL string) (modest *client.Client, keys []string, err error) {
	for _, org := range []string{organization, greedy} {
		if err := m.tenant(ctx, org); err != nil {
			return nil, nil, err
		}
	}
	if err := register(ctx, m.Operator, organization, m.sink.URL); err != nil {
		return nil, nil, err
	}
	key, err := m.Operator.CreateKey(ctx, client.NewKey{OrganizationID: organization})
	if err != nil {
		return nil, nil, err
	}
	if keys, err = m.fill(ctx, greedyURL); err != nil {
		return nil, nil, err
	}
	return &client.Client{BaseURL: m.running.API, Key: key.Text}, keys, m.suspend(ctx, true)
}

// beside returns the waiting times while the greedy organization exceeds its limits, and
// the processors that the server uses meanwhile.
func (m *tenantMeter) beside(ctx context.Context, o Options, modest *client.Client, keys []string) (ms [4]float64, processors float64, err error) {
	if err := m.suspend(ctx, false); err != nil {
		return ms, 0, err
	}
	loads := len(greedyLoads(time.Now()))
	asking, err := startRemote(ctx, append([]string{greedyCommand, m.running.API}, keys[:loads]...)...)
	if err != nil {
		return ms, 0, err
	}
	began, used := time.Now(), m.processorTime()
	ms, err = m.waits(ctx, modest)
	processors = (m.processorTime() - used).Seconds() / time.Since(began).Seconds()
	refused, ended := m.collect(asking)
	o.say("tenants: refusals %v", refused)
	return ms, processors, errors.Join(err, ended, m.suspend(ctx, true), m.idle(ctx))
}

func (m *tenantMeter) processorTime() time.Duration { return processorTimeOf(m.running.PID()) }

// idle waits until all triggers are walked.
func (m *tenantMeter) idle(ctx context.Context) error {
	return sandbox.Poll(ctx, time.Second, func() (bool, error) {
		homes, err := m.metric(ctx, "gridhook_backlog_homes")
		return homes == 0, err
	})
}

// tenant creates an organization with homes, one of them for estimates.
func (m *tenantMeter) tenant(ctx context.Context, org string) error {
	if err := sandbox.Furnish(ctx, m.Operator, org, m.homes); err != nil {
		return err
	}
	err := sandbox.Import(ctx, m.Operator, strings.NewReader(
		`{"resource":"home","organizationId":"`+org+`","id":"`+tenantHome+`","zipcode":"94110","timezone":"America/Los_Angeles","ratePlanId":"pge-e-elec"}`+"\n"+
			`{"resource":"hvacDevice","organizationId":"`+org+`","deviceId":"dev","homeId":"`+tenantHome+`","coolingRate":6,"heatingRate":6,"heatTransferCoefficient":0.05}`))
	if err != nil {
		return fmt.Errorf("a home to estimate: %w", err)
	}
	return nil
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
