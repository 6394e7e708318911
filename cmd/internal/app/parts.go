package app

import (
	"context"
	"crypto/x509"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/gridhook/gridhook/api"
	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/config"
	"github.com/gridhook/gridhook/dispatcher"
	"github.com/gridhook/gridhook/dispatcher/resume"
	"github.com/gridhook/gridhook/dispatcher/send"
	"github.com/gridhook/gridhook/dispatcher/tester"
	"github.com/gridhook/gridhook/events/embedded"
	"github.com/gridhook/gridhook/events/jetstream"
	"github.com/gridhook/gridhook/events/ledger"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/replica"
	"github.com/gridhook/gridhook/storage/signals"
	"github.com/gridhook/gridhook/storage/vault"
)

// natsFolder is the embedded server's folder in the data folder.
const natsFolder = "nats"

// stateFile is the replica's file in the data folder.
const stateFile = "state.db"

func (a *App) connect(ctx context.Context) error {
	url, opts, streams := a.NATS.URL, NATSOptions(a.NATS), StreamOptions(a.Config)
	if a.Role == config.Serve {
		mqtt, err := a.mqttListener()
		if err != nil {
			return err
		}
		free, _, err := Space(a.Data)
		if err != nil {
			return err
		}
		store := StoreLimit(&a.Config, free)
		server, err := embedded.Start(embedded.Options{
			Dir: filepath.Join(a.Data, natsFolder), MaxStore: int64(store), StartTimeout: startTimeout, Log: a.Log, MQTT: mqtt, //nolint:gosec // smaller than a disk
		})
		if err != nil {
			return err
		}
		a.onStop("the embedded nats-server", func() error { return server.Stop(30 * time.Second) })
		a.embedded = server
		a.limitToStore(config.Size(store)) //nolint:gosec // smaller than a disk
		streams.Store = int64(store)       //nolint:gosec // smaller than a disk
		url, opts = "", []nats.Option{server.Option()}
	}
	conn, err := jetstream.Connect(ctx, url, streams, a.Log, opts...)
	if err != nil {
		return err
	}
	a.conn = conn
	conn.SetGate(jetstream.Gate{Refusal: a.guard.refusal, Stuck: func() bool { return a.guard.stuck.why() != "" }})
	a.onStop("the connection to NATS", conn.Close)
	return a.retryUnavailable(ctx, a.conn.TakeSchema) // refuses a log of record of a newer Gridhook
}

// followState opens the replica and returns when the replica has caught up.
func (a *App) followState(ctx context.Context) error {
	r, err := replica.Open(filepath.Join(a.Data, stateFile), a.Log)
	if err != nil {
		return err
	}
	a.replica = r
	a.onStop("the replica", r.Close)
	if a.Role == config.Serve {
		r.OnErasure(a.noteErasure)
	}
	log := storage.Log(a.conn.StateLog())
	if a.embedded != nil {
		log = mqttErasingLog{log, a.embedded}
	}
	a.store = storage.NewStore(log, r, time.Now)
	for _, l := range a.limits() {
		if l.Max > 0 {
			a.store.SetLimit(l)
		}
	}
	a.store.SetMaxState(int(a.Limits.MaxState))
	a.run("the reader of the log of record", a.retryFollow(func(ctx context.Context) error { return r.Follow(ctx, log) }))
	return a.waitFor(ctx, func(ctx context.Context) error { return a.retryUnavailable(ctx, a.store.CatchUp) })
}

func (a *App) openVault(ctx context.Context) error {
	masters, err := a.masterKeys()
	if err != nil {
		return err
	}
	a.pricer = signals.NewPricer(a.Curves)
	return a.retryUnavailable(ctx, func(ctx context.Context) error {
		a.vault, err = vault.Open(ctx, a.store, masters...)
		return err
	})
}

// followLedger opens the ledger and returns when the ledger has every accepted trigger. A
// query must not report an accepted trigger as missing. The outcomes may follow for minutes.
func (a *App) followLedger(ctx context.Context) error {
	l, err := ledger.Open(filepath.Join(a.Data, "ledger.db"), ledger.Options{
		Keep: a.conn.ReceiptsAge(), KeepTriggers: a.conn.TriggersAge(), Erased: a.erased, Quota: a.quota(), Log: a.Log, Now: time.Now,
	})
	if err != nil {
		return err
	}
	a.ledger = l
	a.onStop("the ledger", l.Close)
	a.run("the reader of the receipts", a.retryFollow(func(ctx context.Context) error { return l.Follow(ctx, a.conn) }))
	a.run("the resumer", a.withReceipts(resume.New(l, a.conn, a.Log, a.Registry, time.Now).Run))
	return a.waitFor(ctx, l.AwaitTriggers)
}

// withReceipts runs a part once the ledger has the outcomes of the triggers. A ledger that is
// rebuilt shows completed triggers as running until then.
func (a *App) withReceipts(part func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		if err := a.ledger.AwaitReceipts(ctx); err != nil {
			return nil //nolint:nilerr // the process stops
		}
		return part(ctx)
	}
}

// erased reports whether an organization is deleted.
func (a *App) erased(org string) (bool, error) {
	return storage.Query(a.store, func(v storage.View) (bool, error) { return storage.IsErased(v, org, a.store.Now()) })
}

func (a *App) startWorker(context.Context) error {
	a.worker = dispatcher.New(dispatcher.Deps{
		Bus: a.conn, Relay: a.conn, Store: a.store, Pricer: a.pricer, Vault: a.vault,
		Log: a.Log, Registerer: a.Registry, Now: time.Now, Tracer: a.tracer, Histories: &a.histories,
	}, a.delivery)
	a.run("the worker", a.worker.Run)
	return nil
}

// prepareAPI starts what only the API needs: the record of last uses of keys, the sender of
// test events, and the scheduler of estimates, which yield to the process's webhooks.
func (a *App) prepareAPI(context.Context) error {
	a.uses = rest.NewLastUsed(a.store, a.Log)
	a.run("the record of last uses", a.uses.Run)
	a.tester = tester.New(a.store, a.vault, send.New(send.Options{Guard: a.delivery.Guard, Egress: a.delivery.Egress, Relay: a.conn, IdlePerDestination: 1, Tracer: a.tracer, TracedRequests: 1}), a.delivery.Mail)
	a.onStop("the tester", func() error { a.tester.Close(); return nil })
	var sent func() uint64
	if a.worker != nil {
		sent = a.worker.Attempts
	}
	a.estimates = api.NewEstimates(a.Limits.Estimates, sent)
	return nil
}

// trustAuthorities adds the certificate authorities of DestinationCA to the system's.
func (a *App) trustAuthorities(context.Context) error {
	if a.DestinationCA == "" {
		return nil
	}
	text, err := os.ReadFile(a.DestinationCA)
	if err != nil {
		return fmt.Errorf("destination-ca: %w", err)
	}
	if a.delivery.Egress.Roots, err = x509.SystemCertPool(); err != nil {
		return fmt.Errorf("destination-ca: the system's certificate authorities: %w", err)
	}
	a.delivery.Mail.Roots = a.delivery.Egress.Roots
	if !a.delivery.Egress.Roots.AppendCertsFromPEM(text) {
		return fmt.Errorf("destination-ca: %s has no certificate in PEM", a.DestinationCA)
	}
	return nil
}
