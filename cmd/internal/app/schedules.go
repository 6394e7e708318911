package app

import (
	"context"
	"time"

	"github.com/gridhook/gridhook/events/notifier"
	"github.com/gridhook/gridhook/events/replayer"
	"github.com/gridhook/gridhook/events/scheduler"
)

// startScheduler starts a scheduler. It needs the ledger, because the quota of an
// organization holds for its schedules too.
func (a *App) startScheduler(context.Context) error {
	d := scheduler.Deps{
		Store: a.store, Book: a.book, Tasks: a.conn, Triggers: a.ledger.Log(a.triggers()), Runs: a.conn, Log: a.Log, Registerer: a.Registry, Now: time.Now,
	}
	if a.OpenADR.Enabled {
		d.State, d.ReportRetention = a.conn.StateLog(), a.OpenADR.ReportRetention
	}
	s := scheduler.New(d)
	a.run("the scheduler", s.Run)
	return nil
}

// startReplayer starts a replayer. It repeats exhausted and expired deliveries, which it
// finds in the ledger.
func (a *App) startReplayer(context.Context) error {
	r := replayer.New(replayer.Deps{
		Store: a.store, Ledger: a.ledger, Bus: a.conn, Tasks: a.conn, Log: a.Log, Registerer: a.Registry, Now: time.Now,
	})
	a.run("the replayer", r.Run)
	return nil
}

// startNotifier starts a notifier. It finds the endpoints to notify in the ledger and the
// store.
func (a *App) startNotifier(context.Context) error {
	n := notifier.New(notifier.Deps{
		Store: a.store, Ledger: a.ledger, Notices: a.conn, Log: a.Log, Registerer: a.Registry, Now: time.Now,
	})
	a.run("the notifier", n.Run)
	return nil
}
