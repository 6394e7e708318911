package app

import (
	"context"
	"time"

	"github.com/nats-io/nuid"

	"github.com/gridhook/gridhook/events"
)

// reportBreakers reports the worker's open circuit breakers to the APIs of the fleet.
func (a *App) reportBreakers(context.Context) error {
	worker := nuid.Next()
	reported := false // whether the last report had open breakers
	report := func(context.Context) {
		open := a.worker.OpenBreakers()
		if len(open) == 0 && !reported {
			return
		}
		reported = len(open) > 0
		if err := a.conn.PublishBreakers(events.BreakerReport{Worker: worker, Open: open}); err != nil {
			a.Log.Warn("breaker report not sent", "error", err)
		}
	}
	a.run("the breaker reports", func(ctx context.Context) error { return every(ctx, events.ReportEvery, report) })
	return nil
}

// receiveBreakers receives the workers' reports of open circuit breakers.
func (a *App) receiveBreakers(context.Context) error {
	stop, err := a.conn.SubscribeBreakers(func(r events.BreakerReport) { a.breakers.Take(r, time.Now()) })
	if err != nil {
		return err
	}
	a.onStop("the subscription to breaker reports", stop)
	return nil
}
