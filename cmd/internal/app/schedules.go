package app

import (
	"context"
	"time"

	"github.com/gridhook/gridhook/events/notifier"
	"github.com/gridhook/gridhook/events/replayer"
	"github.com/gridhook/gridhook/events/scheduler"
)

// startTasks starts the scheduler, the replayer and the notifier. They need the ledger: the
// quota of an organization holds for its schedules too, the replayer repeats the deliveries
// that it finds there, and the notifier finds the completed triggers there.
func (a *App) startTasks(context.Context) error {
	d := scheduler.Deps{
		Store: a.store, Pricer: a.pricer, Tasks: a.conn, Triggers: a.ledger.Log(a.triggers()), Runs: a.conn, Log: a.Log, Registerer: a.Registry, Now: time.Now,
	}
	if a.OpenADR.Enabled {
		d.State, d.ReportRetention, d.EveryChange = a.conn.StateLog(), a.OpenADR.ReportRetention, a.MQTT != ""
	}
	a.run("the replayer", replayer.New(replayer.Deps{
		Store: a.store, Ledger: a.ledger, Bus: a.conn, Tasks: a.conn, Log: a.Log, Registerer: a.Registry, Now: time.Now,
	}).Run)
	a.run("the notifier", notifier.New(notifier.Deps{
		Store: a.store, Ledger: a.ledger, Notices: a.conn, Quota: a.quota(), FailureShare: a.Limits.FailureShare,
		Log: a.Log, Registerer: a.Registry, Now: time.Now,
	}).Run)
	a.run("the scheduler", scheduler.New(d).Run)
	return nil
}
