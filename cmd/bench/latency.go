package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Latency is the latency of triggers and webhooks.
type Latency struct {
	// Accept is the time until a trigger is stored durably and acknowledged. First is the
	// time from the acknowledgement to the first webhook's arrival. It is 0 if the
	// webhook arrived earlier.
	Accept   Quantiles `json:"accept"`
	First    Quantiles `json:"first"`
	Triggers int       `json:"triggers"`
}

// Quantiles are in milliseconds.
type Quantiles struct {
	P50  float64 `json:"p50Ms"`
	P99  float64 `json:"p99Ms"`
	P999 float64 `json:"p999Ms"`
}

// quantiles returns the quantiles of a list that is not empty.
func quantiles(list []time.Duration) Quantiles {
	slices.Sort(list)
	at := func(q float64) float64 {
		return float64(list[min(len(list)-1, int(q*float64(len(list))))].Microseconds()) / 1000
	}
	return Quantiles{P50: at(0.5), P99: at(0.99), P999: at(0.999)}
}

func (q Quantiles) String() string {
	return fmt.Sprintf("p50 %.2f ms, p99 %.2f ms, p99.9 %.2f ms", q.P50, q.P99, q.P999)
}

// measureLatency repeatedly triggers an organization with one home on an idle machine.
func measureLatency(ctx context.Context, o Options) (l *Latency, err error) {
	triggers := 2000
	if o.Quick {
		triggers = 300
	}
	m, done, err := startMeter(ctx, o, 1)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, done()) }()
	o.say("latency: %d triggers of one home, one after another", triggers)
	l = &Latency{Triggers: triggers}
	var accept, first []time.Duration
	for range triggers {
		if err := m.sink.Reset(ctx); err != nil {
			return nil, err
		}
		asked := time.Now()
		if _, err := m.triggerOf(ctx, organization); err != nil {
			return nil, err
		}
		answered := time.Now()
		arrived, err := m.sink.Wait(ctx, 1)
		if err != nil {
			return nil, err
		}
		accept = append(accept, answered.Sub(asked))
		first = append(first, max(0, arrived.First.Sub(answered)))
	}
	l.Accept, l.First = quantiles(accept), quantiles(first)
	return l, nil
}
