package app

import (
	"context"
	"time"

	"github.com/gridhook/gridhook/dispatcher/send"
	"github.com/gridhook/gridhook/events/notifier"
	"github.com/gridhook/gridhook/events/replayer"
	"github.com/gridhook/gridhook/events/scheduler"
	"github.com/gridhook/gridhook/events/sources"
)

// startTasks starts the scheduler, the replayer and the notifier. They need the ledger with
// its receipts: the quota of an organization holds for its schedules too, the replayer repeats
// the deliveries that it finds there, and the notifier finds the completed triggers there.
func (a *App) startTasks(context.Context) error {
	d := scheduler.Deps{
		Store: a.store, Pricer: a.pricer, Tasks: a.conn, Triggers: a.ledger.Log(a.triggers()), Runs: a.conn, Log: a.Log, Registerer: a.Registry, Now: time.Now,
	}
	if a.OpenADR.Enabled {
		d.State, d.ReportRetention, d.EveryChange = a.conn.StateLog(), a.OpenADR.ReportRetention, a.MQTT != ""
	}
	a.runTasks("the replayer", a.withReceipts(replayer.New(replayer.Deps{
		Store: a.store, Ledger: a.ledger, Bus: a.conn, Tasks: a.conn, Log: a.Log, Registerer: a.Registry, Now: time.Now,
	}).Run))
	a.run("the notifier", a.withReceipts(notifier.New(notifier.Deps{
		Store: a.store, Ledger: a.ledger, Notices: a.conn, Quota: a.quota(), FailureShare: a.Limits.FailureShare,
		Log: a.Log, Registerer: a.Registry, Now: time.Now,
	}).Run))
	a.runTasks("the scheduler", a.withReceipts(scheduler.New(d).Run))
	return nil
}

// startSources starts the runner of sources. A process that only serves the API makes no
// runs, but checks sources on request.
func (a *App) startSources(context.Context) error {
	client := send.NewFetcher(send.Options{Guard: a.delivery.Guard, Egress: a.delivery.Egress, IdlePerDestination: 1})
	a.onStop("the client of sources", func() error { client.Close(); return nil })
	d := sources.Deps{
		Store: a.store, Vault: a.vault, Client: client, Tasks: a.conn, Notices: a.conn, Log: a.Log, Now: time.Now,
	}
	if a.delivers() {
		d.Registerer = a.Registry
	}
	a.sources = sources.New(d)
	if a.delivers() {
		a.runTasks("the sources", a.sources.Run)
	}
	return nil
}
