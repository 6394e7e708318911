package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/cmd/internal/sandbox"
	"github.com/gridhook/gridhook/pricing/savings"
	"github.com/gridhook/gridhook/storage"
)

// Tenants compares an organization's waiting times beside a greedy organization with its
// waiting times alone.
type Tenants struct {
	Signal   Wait `json:"signal"`
	Estimate Wait `json:"estimate"`
	Trigger  Wait `json:"trigger"`
	Homes    int  `json:"homes"`
}

// Wait is the duration of an operation. The times are medians over all rounds.
type Wait struct {
	AloneMs  float64 `json:"aloneMs"`
	BesideMs float64 `json:"besideMs"`
	Ratio    float64 `json:"ratio"`
}

// The greedy organization sends these requests at once and repeats each after its
// response or refusal: more estimates than may wait, long price signals at a key's
// default rate limit, and triggers one after the other.
const (
	greedy          = "greedy"
	greedyEstimates = 150
	greedySignals   = 16
	greedyTriggers  = 2
	greedyHomes     = 5000
	// signalPause follows each response: 16 clients then request 100 signals a second.
	signalPause = 160 * time.Millisecond
	greedyPause = 100 * time.Millisecond
)

const tenantHome = "home_0000000"

func measureTenants(ctx context.Context, o Options) (r *Tenants, err error) {
	homes, rounds := 2000, 5
	if o.Quick {
		homes, rounds = 500, 1
	}
	m, done, err := startMeter(ctx, o, homes)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, done()) }()
	if err := m.furnish(ctx, greedy, greedyHomes, m.url()); err != nil {
		return nil, err
	}
	modest, err := m.tenant(ctx, organization)
	if err != nil {
		return nil, err
	}
	taker, err := m.tenant(ctx, greedy)
	if err != nil {
		return nil, err
	}
	var alone, beside [3][]float64
	if _, err := m.waits(ctx, modest); err != nil { // warms up
		return nil, err
	}
	for range rounds {
		a, err := m.waits(ctx, modest)
		if err != nil {
			return nil, err
		}
		stop := runGreedy(ctx, taker)
		b, err := m.waits(ctx, modest)
		stop()
		if err != nil {
			return nil, err
		}
		o.say("tenants: signal %.1f and %.1f ms, estimate %.0f and %.0f ms, trigger %.0f and %.0f ms, alone and beside", a[0], b[0], a[1], b[1], a[2], b[2])
		for i := range a {
			alone[i], beside[i] = append(alone[i], a[i]), append(beside[i], b[i])
		}
	}
	wait := func(i int) Wait {
		a, b := median(alone[i]), median(beside[i])
		return Wait{AloneMs: a, BesideMs: b, Ratio: b / a}
	}
	return &Tenants{Signal: wait(0), Estimate: wait(1), Trigger: wait(2), Homes: homes}, nil
}

// tenant creates an organization's home for estimates and returns a client with the
// organization's key.
func (m *deliveryMeter) tenant(ctx context.Context, org string) (*client.Client, error) {
	err := sandbox.Import(ctx, m.box.Operator, strings.NewReader(
		`{"resource":"home","organizationId":"`+org+`","id":"`+tenantHome+`","zipcode":"94110","timezone":"America/Los_Angeles","ratePlanId":"pge-e-elec"}`+"\n"+
			`{"resource":"hvacDevice","organizationId":"`+org+`","deviceId":"dev","homeId":"`+tenantHome+`","coolingRate":6,"heatingRate":6,"heatTransferCoefficient":0.05}`))
	if err != nil {
		return nil, fmt.Errorf("a home to estimate: %w", err)
	}
	key, err := m.box.Operator.CreateKey(ctx, client.NewKey{OrganizationID: org})
	if err != nil {
		return nil, err
	}
	return &client.Client{BaseURL: m.box.App.URL(), Key: key.Text}, nil
}

// waits returns the median times of price signals, of estimates, and of a trigger with
// all its deliveries, in milliseconds.
func (m *deliveryMeter) waits(ctx context.Context, c *client.Client) (ms [3]float64, err error) {
	const signals, estimates = 20, 3
	took := func(times int, do func() error) (float64, error) {
		var list []float64
		for range times {
			began := time.Now()
			if err := do(); err != nil {
				return 0, err
			}
			list = append(list, float64(time.Since(began).Microseconds())/1000)
		}
		return median(list), nil
	}
	for i, op := range []struct {
		times int
		do    func() error
	}{
		{signals, func() error { return askSignal(ctx, c, 24*time.Hour) }},
		{estimates, func() error { return askEstimate(ctx, c) }},
		{1, func() error {
			accepted, err := m.triggerOf(ctx, organization)
			if err != nil {
				return err
			}
			return m.completed(ctx, organization, accepted.TriggerID)
		}},
	} {
		if ms[i], err = took(op.times, op.do); err != nil {
			return ms, err
		}
	}
	return ms, nil
}

func askSignal(ctx context.Context, c *client.Client, window time.Duration) error {
	start := time.Now().UTC().Truncate(15 * time.Minute)
	_, err := c.PriceSignal(ctx, tenantHome, client.Window{StartTime: &storage.Time{Time: start}, EndTime: &storage.Time{Time: start.Add(window)}})
	return err
}

func askEstimate(ctx context.Context, c *client.Client) error {
	_, err := c.EstimateSavings(ctx, tenantHome, client.SavingsRequest{Type: savings.Annual})
	return err
}

// runGreedy exceeds an organization's limits until stop is called.
func runGreedy(ctx context.Context, c *client.Client) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var asking sync.WaitGroup
	for _, load := range []struct {
		clients int
		pause   time.Duration
		ask     func() error
	}{
		{greedyEstimates, greedyPause, func() error { return askEstimate(ctx, c) }},
		{greedySignals, signalPause, func() error { return askSignal(ctx, c, 28*24*time.Hour) }},
		{greedyTriggers, greedyPause, func() error { _, err := c.Trigger(ctx, client.TriggerRequest{}); return err }},
	} {
		for range load.clients {
			asking.Go(func() {
				for ctx.Err() == nil {
					_ = load.ask() // refusals are expected
					select {
					case <-ctx.Done():
					case <-time.After(load.pause):
					}
				}
			})
		}
	}
	return func() { cancel(); asking.Wait() }
}
