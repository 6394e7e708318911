package main

import (
	"context"
	"time"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/catalog"
	"github.com/gridhook/gridhook/pricing/urdb"
)

// Prices is the speed of price curves on one core.
type Prices struct {
	// DistinctPerSecond counts curves of one day, computed and encoded as JSON.
	// SharedPerSecond counts unsigned messages of homes that share one encoded curve.
	DistinctPerSecond float64 `json:"distinctPerSecond"`
	SharedPerSecond   float64 `json:"sharedPerSecond"`
}

func measurePrices(ctx context.Context, o Options) (*Prices, error) {
	span := 3 * time.Second
	if o.Quick {
		span = time.Second
	}
	o.say("pricing: curves of a day from %d rate plans, on one core", len(catalog.Plans()))
	inputs, err := priceInputs()
	if err != nil {
		return nil, err
	}
	start := time.Now().UTC().Truncate(15 * time.Minute)
	var buf []byte
	var curve *pricing.Curve
	distinct, err := repeat(ctx, span, func(i int) (err error) {
		from := start.Add(time.Duration(i%96) * 15 * time.Minute)
		curve, err = pricing.Price(inputs[i%len(inputs)], pricing.Window{Start: from, End: from.Add(24 * time.Hour)})
		if err == nil {
			buf = curve.AppendShared(buf[:0], "plan")
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	shared := curve.AppendShared(nil, "plan")
	messages, err := repeat(ctx, span, func(int) error {
		buf = pricing.AppendSignal(buf[:0], "home_0000001", shared, start, 1)
		return nil
	})
	return &Prices{DistinctPerSecond: distinct, SharedPerSecond: messages}, err
}

func priceInputs() ([]pricing.Input, error) {
	var inputs []pricing.Input
	for _, p := range catalog.Plans() {
		tariff, err := urdb.Parse(p.URDB)
		if err != nil {
			return nil, err
		}
		location, err := time.LoadLocation(p.Timezone)
		if err != nil {
			return nil, err
		}
		inputs = append(inputs, pricing.Input{Tariff: tariff, Location: location})
	}
	return inputs, nil
}

// repeat calls do for a while and returns the calls per second.
func repeat(ctx context.Context, span time.Duration, do func(i int) error) (perSecond float64, err error) {
	const batch = 256 // between two reads of the clock
	began, n := time.Now(), 0
	for time.Since(began) < span && ctx.Err() == nil {
		for range batch {
			if err := do(n); err != nil {
				return 0, err
			}
			n++
		}
	}
	return float64(n) / time.Since(began).Seconds(), ctx.Err()
}
