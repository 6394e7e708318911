package main

import (
	"context"
	"errors"
	"time"

	"github.com/gridhook/gridhook/cmd/internal/sandbox"
)

// Fairness shows how a big organization's walk delays a small organization.
type Fairness struct {
	BigHomes   int `json:"bigHomes"`
	SmallHomes int `json:"smallHomes"`
	// Alone and Beside are the time from the small organization's trigger request to its
	// last webhook's arrival. They are medians in milliseconds.
	Alone  float64 `json:"aloneMs"`
	Beside float64 `json:"besideMs"`
}

const smallHomes = 100

func measureFairness(ctx context.Context, o Options) (f *Fairness, err error) {
	big, rounds := 1_000_000, 3
	if o.Quick {
		big, rounds = 60_000, 3
	}
	o.say("fairness: importing %d homes of one organization, and %d of another", big, smallHomes)
	m, done, err := startMeter(ctx, o, big)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, done()) }()
	const small = "small"
	sink, err := StartSink(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, sink.Close()) }()
	if err := sandbox.Furnish(ctx, m.box.Operator, small, smallHomes); err != nil {
		return nil, err
	}
	if err := register(ctx, m.box.Operator, small, sink.URL); err != nil {
		return nil, err
	}
	beside := &deliveryMeter{box: m.box, sink: sink, homes: smallHomes}
	f = &Fairness{BigHomes: big, SmallHomes: smallHomes}
	var alone, with []float64
	for range rounds {
		ms, err := beside.lastArrival(ctx, small)
		if err != nil {
			return nil, err
		}
		alone = append(alone, ms)
		if err := m.sink.Reset(ctx); err != nil {
			return nil, err
		}
		trigger, err := m.triggerOf(ctx, organization)
		if err != nil {
			return nil, err
		}
		if _, err := m.sink.Wait(ctx, big/10); err != nil { // the walk is in full swing
			return nil, err
		}
		if ms, err = beside.lastArrival(ctx, small); err != nil {
			return nil, err
		}
		with = append(with, ms)
		if err := m.completed(ctx, organization, trigger.TriggerID); err != nil {
			return nil, err
		}
		o.say("fairness: last webhook after %.0f ms alone, %.0f ms beside", alone[len(alone)-1], ms)
	}
	f.Alone, f.Beside = median(alone), median(with)
	return f, nil
}

// lastArrival triggers an organization. It returns the time from the request to the last
// webhook's arrival, in milliseconds.
func (m *deliveryMeter) lastArrival(ctx context.Context, organization string) (float64, error) {
	if err := m.sink.Reset(ctx); err != nil {
		return 0, err
	}
	asked := time.Now()
	if _, err := m.triggerOf(ctx, organization); err != nil {
		return 0, err
	}
	arrived, err := m.sink.Wait(ctx, m.homes)
	return float64(arrived.Last.Sub(asked).Microseconds()) / 1000, err
}
