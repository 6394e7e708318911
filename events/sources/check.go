package sources

import (
	"context"
	"math"
	"time"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// Check fetches the data of a source once, and returns what a run would store. It stores
// nothing. A failed fetch is a result and no error.
func (r *Runner) Check(ctx context.Context, source storage.Source) (events.SourceCheck, error) {
	f, run, failure := r.fetch(ctx, &source, &storage.SourceState{})
	result := events.SourceCheck{SourceRun: run, Prices: []events.SourcePrices{}, Alerts: planEvents(&source, f.Alerts)}
	if failure == nil {
		failure = r.Store.View(func(v storage.View) error {
			w := writer{View: v, store: r.Store, source: &source, now: run.At.Time, run: run}
			err := w.write(f)
			if result.SourceRun = w.run; len(w.Put)+len(w.Gone) > 0 {
				result.Outcome = storage.SourceStored
			} else {
				result.Outcome = storage.SourceUnchanged
			}
			return err
		})
	}
	if failure != nil {
		result.Outcome, result.Error = storage.SourceFailed, clip(f.hide(failure).Error())
		return result, ctx.Err()
	}
	for _, p := range merge(f.Prices) {
		series, err := newSeries(p)
		if err != nil {
			return result, err
		}
		from, to := series.Span()
		points := series.Points()
		shown := events.SourcePrices{
			Node: p.Node, Market: string(p.Kind), StepMinutes: int(series.Step() / time.Minute), Lowest: math.Inf(1), Highest: math.Inf(-1),
			StartTime: storage.Time{Time: from}, EndTime: storage.Time{Time: to}, Prices: len(points),
		}
		for _, point := range points {
			shown.Lowest, shown.Highest = min(shown.Lowest, point.Price), max(shown.Highest, point.Price)
		}
		result.Prices = append(result.Prices, shown)
	}
	return result, nil
}
