package app

import (
	"context"
	"time"

	"github.com/nats-io/nuid"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/events/jetstream"
)

// reportBreakers reports the worker's open circuit breakers to the APIs of the fleet.
func (a *App) reportBreakers(context.Context) error {
	worker := nuid.Next()
	reported := false // whether the last report had open breakers
	a.repeat("the breaker reports", "report open breakers", events.ReportEvery, func(context.Context) error {
		open := a.worker.OpenBreakers()
		if len(open) == 0 && !reported {
			return nil
		}
		reported = len(open) > 0
		return jetstream.Breakers.Publish(a.conn, events.BreakerReport{Worker: worker, Open: open})
	})
	return nil
}

// receiveBreakers receives the workers' reports of open circuit breakers.
func (a *App) receiveBreakers(context.Context) error {
	stop, err := jetstream.Breakers.Subscribe(a.conn, func(r events.BreakerReport) { a.breakers.Add(r, time.Now()) })
	return a.started("the subscription to breaker reports", stop, err)
}

// reportHistories reports the organizations whose history has outgrown its quota to the
// workers of the fleet.
func (a *App) reportHistories(context.Context) error {
	a.repeat("the reports of histories", "report histories", events.ReportEvery, func(context.Context) error {
		multiples, err := a.ledger.Multiples()
		if err != nil || len(multiples) == 0 {
			return err
		}
		return jetstream.Histories.Publish(a.conn, events.HistoryReport{Multiples: multiples})
	})
	return nil
}

// receiveHistories receives the reports of histories for the worker.
func (a *App) receiveHistories(context.Context) error {
	stop, err := jetstream.Histories.Subscribe(a.conn, func(r events.HistoryReport) { a.histories.Add(r, time.Now()) })
	return a.started("the subscription to reports of histories", stop, err)
}
