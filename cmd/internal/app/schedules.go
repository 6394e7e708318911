package app

import (
	"context"
	"time"

	"github.com/gridhook/gridhook/events/notifier"
	"github.com/gridhook/gridhook/events/replayer"
	"github.com/gridhook/gridhook/events/scheduler"
)

// startScheduler takes part in making the runs of schedules, whatever the role is:
// as long as one process of the fleet is there, they are made.
func (a *App) startScheduler(context.Context) error {
	s := scheduler.New(scheduler.Deps{
		Store: a.store, Book: a.book, Tasks: a.conn, Triggers: a.triggers(), Runs: a.conn, Log: a.Log, Registerer: a.Registry, Now: time.Now,
	})
	a.run("the scheduler", s.Run)
	return nil
}

// startReplayer takes part in taking up what was given up, which the ledger tells.
func (a *App) startReplayer(context.Context) error {
	r := replayer.New(replayer.Deps{
		Store: a.store, Ledger: a.ledger, Bus: a.conn, Tasks: a.conn, Log: a.Log, Registerer: a.Registry, Now: time.Now,
	})
	a.run("the replayer", r.Run)
	return nil
}

// startNotifier takes part in seeing what endpoints must be told, which the ledger and
// the store tell.
func (a *App) startNotifier(context.Context) error {
	n := notifier.New(notifier.Deps{
		Store: a.store, Ledger: a.ledger, Notices: a.conn, Log: a.Log, Registerer: a.Registry, Now: time.Now,
	})
	a.run("the notifier", n.Run)
	return nil
}
