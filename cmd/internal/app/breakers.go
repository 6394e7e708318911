package app

import (
	"context"
	"time"

	"github.com/nats-io/nuid"

	"github.com/gridhook/gridhook/events"
)

// tellBreakers notifies the APIs of the fleet of the worker's open circuit breakers.
func (a *App) tellBreakers(context.Context) error {
	worker := nuid.Next()
	a.run("telling of breakers", func(ctx context.Context) error {
		tick := time.NewTicker(events.ReportEvery)
		defer tick.Stop()
		told := false // whether the last report had open breakers
		for {
			select {
			case <-tick.C:
				open := a.worker.OpenBreakers()
				if len(open) == 0 && !told {
					continue
				}
				told = len(open) > 0
				if err := a.conn.TellBreakers(events.BreakerReport{Worker: worker, Open: open}); err != nil {
					a.Log.Warn("the state of the breakers could not be told", "error", err)
				}
			case <-ctx.Done():
				return nil
			}
		}
	})
	return nil
}

// hearBreakers receives the workers' reports of open circuit breakers.
func (a *App) hearBreakers(context.Context) error {
	stop, err := a.conn.HearBreakers(func(r events.BreakerReport) { a.breakers.Take(r, time.Now()) })
	if err != nil {
		return err
	}
	a.onStop("hearing of breakers", stop)
	return nil
}
