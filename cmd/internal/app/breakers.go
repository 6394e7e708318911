package app

import (
	"context"
	"time"

	"github.com/nats-io/nuid"

	"github.com/gridhook/gridhook/events"
)

// tellBreakers has a worker tell the APIs of the fleet which endpoints it does not try.
func (a *App) tellBreakers(context.Context) error {
	worker := nuid.Next()
	a.run("telling of breakers", func(ctx context.Context) error {
		tick := time.NewTicker(events.ReportEvery)
		defer tick.Stop()
		told := false // of any
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

// hearBreakers hears of them.
func (a *App) hearBreakers(context.Context) error {
	stop, err := a.conn.HearBreakers(func(r events.BreakerReport) { a.breakers.Take(r, time.Now()) })
	if err != nil {
		return err
	}
	a.onStop("hearing of breakers", stop)
	return nil
}
