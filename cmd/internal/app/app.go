package app

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"go.opentelemetry.io/otel/trace"
	"golang.org/x/sync/errgroup"

	"github.com/gridhook/gridhook/api"
	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/cmd/internal/tracing"
	"github.com/gridhook/gridhook/dispatcher"
	"github.com/gridhook/gridhook/dispatcher/resume"
	"github.com/gridhook/gridhook/dispatcher/send"
	"github.com/gridhook/gridhook/dispatcher/tester"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/events/embedded"
	"github.com/gridhook/gridhook/events/jetstream"
	"github.com/gridhook/gridhook/events/ledger"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/replica"
	"github.com/gridhook/gridhook/storage/signals"
	"github.com/gridhook/gridhook/storage/vault"
)

// Role selects the parts that a process runs.
type Role string

// These are the roles.
const (
	// RoleServe runs every part with an embedded nats-server.
	RoleServe Role = "serve"
	// RoleAPI serves partners and operators on an external NATS.
	RoleAPI Role = "api"
	// RoleWorker delivers on an external NATS.
	RoleWorker Role = "worker"
)

func (r Role) answers() bool  { return r != RoleWorker }
func (r Role) delivers() bool { return r != RoleAPI }

// Options are the options of a process.
type Options struct {
	Role Role
	// Data is the folder of this process's files.
	Data string
	// HTTP and Admin are the addresses to listen on. A port of 0 selects a free port. A
	// worker has no HTTP.
	HTTP, Admin string
	// OperatorKey is the key of the admin API. If empty, the key in Data applies; the
	// first start creates that key.
	OperatorKey string
	// MasterKey holds the keys that seal the data key. MasterKeyFile, if set, is a file
	// with these keys and takes precedence. Both may be empty.
	MasterKey, MasterKeyFile string
	// TLS and AdminTLS are the listeners' certificates; empty means no TLS.
	TLS, AdminTLS KeyPair
	// NATS is the external server's URL. NATSOptions are its credentials and TLS.
	NATS        string
	NATSOptions []nats.Option
	// MaxStore limits the embedded server's files in bytes; 0 selects the server's
	// default.
	MaxStore int64
	Streams  jetstream.Options
	Worker   dispatcher.Options
	// DestinationCA is a file of certificate authorities for destinations, in addition to
	// the system's. Empty adds none.
	DestinationCA string
	// Curves is the number of price curves in the memory cache.
	Curves  int
	Limits  Limits
	OpenADR OpenADR
	// Profiles serves profiles on the admin listener. They require the operator's key.
	Profiles bool
	// Traces configures tracing. Without an endpoint, tracing is off.
	Traces  tracing.Options
	Version string
	Log     *slog.Logger
}

// Limits are the API's limits on requests and on connections.
type Limits struct {
	Requests    rest.Options
	Connections rest.Connections
	// Estimates is the concurrency limit of savings estimates over all listeners. 0 means
	// half the number of processors.
	Estimates int
	// MaxEndpoints bounds an organization's webhook endpoints; 0 means no limit.
	MaxEndpoints int
	// Quota bounds the storage of an organization's triggers.
	Quota events.Quota
}

// OpenADR configures the OpenADR interface.
type OpenADR struct {
	Enabled, VerifyCallbacks bool
	// ReportRetention is the retention of reports.
	ReportRetention time.Duration
	// MaxObjects bounds an organization's objects of each type; 0 means no limit.
	MaxObjects int
}

// App holds the parts of a running process.
type App struct {
	Options
	Registry *prometheus.Registry

	conn    *jetstream.Conn
	replica *replica.Replica
	store   *storage.Store
	vault   *vault.Vault
	book    *signals.Book
	ledger  *ledger.Ledger
	uses    *rest.LastUsed
	// worker is nil if the process does not deliver.
	worker    *dispatcher.Worker
	breakers  events.Breakers
	tester    *tester.Tester
	estimates *api.Estimates
	health    *health
	// embedded is nil if NATS is external.
	embedded *embedded.Server
	guard    *guard
	// tracer is nil if tracing is off.
	tracer trace.Tracer

	httpAddr, adminAddr string

	backingUp sync.Mutex // held during a backup

	running  *errgroup.Group
	failed   context.Context // ends when a part fails
	stops    []stop
	operator string
}

// stop stops one part.
type stop struct {
	name string
	run  func() error
}

// natsFolder is the embedded server's folder in the data folder.
const natsFolder = "nats"

// startWait is the timeout of the start: recovering files, connecting, catching up.
const startWait = 5 * time.Minute

// Start starts the parts of the role and returns when all are ready. If a part fails to
// start, Start stops the earlier parts.
func Start(ctx context.Context, o Options) (*App, error) {
	a := &App{Options: o, Registry: prometheus.NewRegistry()}
	a.Registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	a.running, a.failed = errgroup.WithContext(context.Background())
	ctx, cancel := context.WithTimeout(ctx, startWait)
	defer cancel()
	parts := []func(context.Context) error{a.trustAuthorities, a.lockData, a.startTracing, a.connect, a.takeSchema, a.followState, a.openVault}
	if o.Role.answers() {
		parts = append(parts, a.followLedger, a.noteUses)
	}
	if o.Role.answers() || o.Profiles {
		parts = append(parts, a.loadOperatorKey)
	}
	parts = append(parts, a.startGuard, a.watchHealth, a.startScheduler)
	if o.Role.delivers() {
		parts = append(parts, a.startWorker, a.tellBreakers)
	}
	if o.Role.answers() {
		parts = append(parts, a.hearBreakers, a.startTester, a.startReplayer, a.startNotifier, a.takeTurns, a.listenPublic)
	}
	parts = append(parts, a.listenAdmin, a.stopEstimates)
	for _, start := range parts {
		if err := start(ctx); err != nil {
			return nil, errors.Join(err, a.Stop())
		}
	}
	a.health.started()
	return a, nil
}

// onStop registers the stop function of a part that has started.
func (a *App) onStop(name string, run func() error) { a.stops = append(a.stops, stop{name, run}) }

// run runs a part until its context ends. If the part ends earlier, with or without an
// error, the whole process fails.
func (a *App) run(name string, part func(ctx context.Context) error) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	a.running.Go(func() error {
		defer close(done)
		err := part(ctx)
		if ctx.Err() == nil {
			return fmt.Errorf("%s ended: %w", name, cmpErr(err, errEnded))
		}
		if err != nil && !errors.Is(err, context.Canceled) {
			a.Log.Warn("a part ended with an error while stopping", "part", name, "error", err)
		}
		return nil
	})
	a.onStop(name, func() error { cancel(); <-done; return nil })
}

var errEnded = errors.New("it ended by itself")

func cmpErr(err, other error) error {
	if err != nil {
		return err
	}
	return other
}

// Wait returns nil when ctx ends. When a part fails, it returns the cause.
func (a *App) Wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case <-a.failed.Done():
		return context.Cause(a.failed)
	}
}

// Stop stops the parts in reverse order. First it reports not ready and refuses new
// requests. Then it drains the worker. It closes the files last.
func (a *App) Stop() error {
	if a.health != nil {
		a.health.stopping()
	}
	var errs []error
	for _, s := range slices.Backward(a.stops) {
		if err := s.run(); err != nil {
			errs = append(errs, fmt.Errorf("stop %s: %w", s.name, err))
		}
	}
	a.stops = nil
	return errors.Join(errs...)
}

// URL returns the address of the API.
func (a *App) URL() string { return a.TLS.scheme() + a.httpAddr }

// AdminURL returns the address of the admin API, the metrics and the health checks.
func (a *App) AdminURL() string { return a.AdminTLS.scheme() + a.adminAddr }

// OperatorKeyText returns the key of the admin API.
func (a *App) OperatorKeyText() string { return a.operator }

// StateLog returns the process's log of record.
func (a *App) StateLog() storage.Log { return a.conn.StateLog() }

func (a *App) connect(ctx context.Context) error {
	url, opts := a.NATS, a.NATSOptions
	if a.Role == RoleServe {
		if err := storesIn(a.Data).checkWhole(); err != nil {
			return err
		}
		server, err := embedded.Start(embedded.Options{
			Dir: filepath.Join(a.Data, natsFolder), MaxStore: a.MaxStore, StartTimeout: startWait, Log: a.Log,
		})
		if err != nil {
			return err
		}
		a.onStop("the embedded nats-server", func() error { return server.Stop(30 * time.Second) })
		a.embedded = server
		url, opts = "", []nats.Option{server.Option()}
	}
	conn, err := jetstream.Connect(ctx, url, a.Streams, a.Log, opts...)
	if err != nil {
		return err
	}
	a.conn = conn
	a.onStop("the connection to NATS", conn.Close)
	return nil
}

// takeSchema returns an error if a newer Gridhook has written the log of record.
func (a *App) takeSchema(ctx context.Context) error { return a.insist(ctx, a.conn.TakeSchema) }

// followState opens the replica and returns when the replica has caught up.
func (a *App) followState(ctx context.Context) error {
	r, err := replica.Open(filepath.Join(a.Data, "state.db"), a.Log)
	if err != nil {
		return err
	}
	a.replica = r
	a.onStop("the replica", r.Close)
	log := a.conn.StateLog()
	a.store = storage.NewStore(roomyLog{log, a.full}, r, time.Now)
	if most := a.Limits.MaxEndpoints; most > 0 {
		a.store.SetLimit(storage.Limit{Kind: storage.KindWebhookEndpoint, Max: most, Setting: "max-endpoints"})
	}
	for _, t := range storage.OpenADRTypes() {
		if most := a.OpenADR.MaxObjects; most > 0 {
			a.store.SetLimit(storage.Limit{Kind: t.Kind(), Max: most, Setting: "openadr-max-objects"})
		}
	}
	a.run("following the log of record", a.lasting(func(ctx context.Context) error { return r.Follow(ctx, log) }))
	return a.awaiting(ctx, func(ctx context.Context) error { return a.insist(ctx, a.store.CatchUp) })
}

// awaiting waits for an event from a running part. It stops waiting when the part fails.
func (a *App) awaiting(ctx context.Context, wait func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(a.failed, cancel)()
	err := wait(ctx)
	if a.failed.Err() != nil {
		return context.Cause(a.failed)
	}
	return err
}

func (a *App) openVault(ctx context.Context) error {
	masters, err := a.masterKeys()
	if err != nil {
		return err
	}
	a.book = signals.NewBook(a.Curves)
	return a.insist(ctx, func(ctx context.Context) error {
		a.vault, err = vault.Open(ctx, a.store, masters...)
		return err
	})
}

// followLedger opens the ledger and returns when the ledger has every accepted trigger. A
// query must not report an accepted trigger as missing.
func (a *App) followLedger(ctx context.Context) error {
	l, err := ledger.Open(filepath.Join(a.Data, "ledger.db"), ledger.Options{Keep: a.Streams.ReceiptsAge, Quota: a.Limits.Quota, Log: a.Log, Now: time.Now})
	if err != nil {
		return err
	}
	a.ledger = l
	a.onStop("the ledger", l.Close)
	a.run("following the receipts", a.lasting(func(ctx context.Context) error { return l.Follow(ctx, a.conn) }))
	a.run("the resumer", resume.New(l, a.conn, a.Log, a.Registry, time.Now).Run)
	return a.awaiting(ctx, func(ctx context.Context) error {
		var last uint64
		err := a.insist(ctx, func(ctx context.Context) (err error) { last, err = a.conn.KeptTrigger(ctx); return err })
		if err != nil {
			return err
		}
		return l.Shows(ctx, last)
	})
}

// noteUses records when each key was last used.
func (a *App) noteUses(context.Context) error {
	a.uses = rest.NewLastUsed(a.store, a.Log)
	a.run("noting the use of keys", a.uses.Run)
	return nil
}

func (a *App) startWorker(context.Context) error {
	a.worker = dispatcher.New(dispatcher.Deps{
		Bus: steadyBus{a.conn, func() bool { return a.guard.stuck.Load() != nil }}, Store: a.store, Book: a.book, Vault: a.vault,
		Log: a.Log, Registerer: a.Registry, Now: time.Now, Tracer: a.tracer,
	}, a.Worker)
	a.run("the worker", a.worker.Run)
	return nil
}

// startTester starts the sender of test events.
func (a *App) startTester(context.Context) error {
	a.tester = tester.New(a.store, a.vault, send.New(send.Options{Guard: a.Worker.Guard(), Egress: a.Worker.Egress, IdlePerDestination: 1, Tracer: a.tracer, TracedRequests: 1}))
	a.onStop("the tester", func() error { a.tester.Close(); return nil })
	return nil
}

// stopEstimates stops estimates before the listeners, because the listeners wait for
// their requests.
func (a *App) stopEstimates(context.Context) error {
	if a.estimates != nil {
		a.onStop("the estimates", func() error { a.estimates.Stop(); return nil })
	}
	return nil
}

// takeTurns creates the scheduler of estimates. Estimates yield to the process's
// webhooks.
func (a *App) takeTurns(context.Context) error {
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
	if a.Worker.Egress.Roots, err = x509.SystemCertPool(); err != nil {
		return fmt.Errorf("destination-ca: the system's certificate authorities: %w", err)
	}
	if !a.Worker.Egress.Roots.AppendCertsFromPEM(text) {
		return fmt.Errorf("destination-ca: %s has no certificate in PEM", a.DestinationCA)
	}
	return nil
}
