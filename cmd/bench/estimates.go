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
)

// Estimates compares deliveries during many savings estimates with deliveries alone.
type Estimates struct {
	// AlonePerSecond and BesidePerSecond are medians. Ratio is the median of the rounds'
	// ratios.
	AlonePerSecond  float64 `json:"alonePerSecond"`
	BesidePerSecond float64 `json:"besidePerSecond"`
	Ratio           float64 `json:"ratio"`
	// AloneCPU is the median processor time of a delivery alone, in microseconds.
	AloneCPU float64 `json:"aloneCpuMicroseconds"`
	// EstimateMs is the duration of one annual estimate on an idle machine.
	EstimateMs float64 `json:"estimateMs"`
	Asked      int     `json:"asked"` // simultaneous requests, repeated after each response
	Homes      int     `json:"homes"`
}

const estimatesAtOnce = 100

func measureEstimates(ctx context.Context, o Options) (e *Estimates, err error) {
	homes, rounds := 60_000, 5
	if o.Quick {
		homes, rounds = 20_000, 3
	}
	o.say("estimates: importing %d homes", homes)
	m, done, err := startMeter(ctx, o, homes)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, done()) }()
	const comfortable, home = "comfortable", "home_0000000"
	if err := sandbox.Furnish(ctx, m.box.Operator, comfortable, 1); err != nil {
		return nil, err
	}
	err = sandbox.Import(ctx, m.box.Operator, strings.NewReader(
		`{"resource":"home","organizationId":"`+comfortable+`","id":"`+home+`","zipcode":"94110","timezone":"America/Los_Angeles","ratePlanId":"pge-e-elec"}`+"\n"+
			`{"resource":"hvacDevice","organizationId":"`+comfortable+`","deviceId":"dev","homeId":"`+home+`","coolingRate":6,"heatingRate":6,"heatTransferCoefficient":0.05}`))
	if err != nil {
		return nil, fmt.Errorf("a home to estimate: %w", err)
	}
	ask := func(ctx context.Context) error {
		_, err := m.box.Operator.For(comfortable).EstimateSavings(ctx, home, client.SavingsRequest{Request: savings.Request{Type: savings.Annual}})
		return err
	}
	if err := ask(ctx); err != nil { // warms up
		return nil, err
	}
	began := time.Now()
	if err := ask(ctx); err != nil {
		return nil, err
	}
	e = &Estimates{EstimateMs: float64(time.Since(began).Microseconds()) / 1000, Asked: estimatesAtOnce, Homes: homes}
	if _, err := m.walk(ctx); err != nil { // warms up
		return nil, err
	}
	return e, m.beside(ctx, o, rounds, ask, e)
}

// beside measures rounds of a walk alone and a walk during estimates.
func (m *deliveryMeter) beside(ctx context.Context, o Options, rounds int, ask func(context.Context) error, e *Estimates) error {
	var alone, beside, ratios, cpu []float64
	for range rounds {
		a, err := m.walk(ctx)
		if err != nil {
			return err
		}
		stop := keepEstimating(ctx, ask)
		b, err := m.walk(ctx)
		stop()
		if err != nil {
			return err
		}
		o.say("estimates: %6.0f/s alone, %6.0f/s beside %d estimates, ratio %.2f", a.perSecond, b.perSecond, estimatesAtOnce, b.perSecond/a.perSecond)
		alone, beside = append(alone, a.perSecond), append(beside, b.perSecond)
		ratios, cpu = append(ratios, b.perSecond/a.perSecond), append(cpu, a.cpu)
	}
	e.AlonePerSecond, e.BesidePerSecond, e.Ratio, e.AloneCPU = median(alone), median(beside), median(ratios), median(cpu)
	return nil
}

// keepEstimating keeps estimatesAtOnce requests in flight until stop is called. It ignores errors
// and sends the next request.
func keepEstimating(ctx context.Context, ask func(context.Context) error) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var asking sync.WaitGroup
	for range estimatesAtOnce {
		asking.Go(func() {
			for ctx.Err() == nil {
				_ = ask(ctx) // refusals are expected: the load exceeds the limit
			}
		})
	}
	return func() { cancel(); asking.Wait() }
}
