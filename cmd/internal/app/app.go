package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
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
	"github.com/gridhook/gridhook/cmd/internal/tracing"
	"github.com/gridhook/gridhook/dispatcher"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/events/embedded"
	"github.com/gridhook/gridhook/events/jetstream"
	"github.com/gridhook/gridhook/events/ledger"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/replica"
	"github.com/gridhook/gridhook/storage/signals"
	"github.com/gridhook/gridhook/storage/vault"
)

// Role is which rooms a process runs.
type Role string

// The roles.
const (
	// RoleServe runs everything with nats-server embedded.
	RoleServe Role = "serve"
	// RoleAPI answers partners and operators, on an external NATS.
	RoleAPI Role = "api"
	// RoleWorker delivers, on an external NATS.
	RoleWorker Role = "worker"
)

func (r Role) answers() bool  { return r != RoleWorker }
func (r Role) delivers() bool { return r != RoleAPI }

// Options are all that a process needs to know.
type Options struct {
	Role Role
	// Data is the folder of this process's files.
	Data string
	// HTTP and Admin are the addresses to listen on; a port of 0 takes a free
	// one. A worker has no HTTP.
	HTTP, Admin string
	// OperatorKey opens the admin API; empty means the one in Data, made at the
	// first start.
	OperatorKey string
	// MasterKey has the keys that the data key is sealed with, or else MasterKeyFile;
	// both may be empty.
	MasterKey, MasterKeyFile string
	// TLS and AdminTLS are the certificates of the listeners; empty is no TLS.
	TLS, AdminTLS KeyPair
	// NATS is the external server's URL; NATSOptions are credentials and TLS.
	NATS        string
	NATSOptions []nats.Option
	// MaxStore limits the embedded server's files, in bytes; 0 for its default.
	MaxStore int64
	Streams  jetstream.Options
	Worker   dispatcher.Options
	// Curves is how many price curves are kept in memory.
	Curves int
	Limits Limits
	// Profiles are served on the admin listener, to the operator's key.
	Profiles bool
	// Traces say what is traced, nothing where there is no endpoint to send it to.
	Traces  tracing.Options
	Version string
	Log     *slog.Logger
}

// Limits are the limits of the API: of what is asked, and of the connections
// that it comes by.
type Limits struct {
	Requests    api.Options
	Connections api.Connections
	// Estimates of savings are worked on at once, on all listeners together; 0 for
	// half as many as there are processors.
	Estimates int
}

// App is a running process's parts.
type App struct {
	Options
	Registry *prometheus.Registry

	conn    *jetstream.Conn
	replica *replica.Replica
	store   *storage.Store
	vault   *vault.Vault
	book    *signals.Book
	ledger  *ledger.Ledger
	uses    *api.KeyUses
	// worker is nil where the process does not deliver.
	worker    *dispatcher.Worker
	breakers  events.Breakers
	estimates *api.Estimates
	health    *health
	// embedded is nil where NATS is external.
	embedded *embedded.Server
	guard    *guard
	// tracer is nil where nothing is traced.
	tracer trace.Tracer

	httpAddr, adminAddr string

	backingUp sync.Mutex // held while a backup is made

	running  *errgroup.Group
	failed   context.Context // ends when a part fails
	stops    []stop
	operator string
}

// stop is one part's end.
type stop struct {
	name string
	run  func() error
}

// natsFolder is where the embedded server keeps its files, in the data folder.
const natsFolder = "nats"

// startWait bounds starting: recovering files, connecting, catching up.
const startWait = 5 * time.Minute

// Start starts the parts of the role and returns when all are ready. When one
// does not start, those before it are stopped again.
func Start(ctx context.Context, o Options) (*App, error) {
	a := &App{Options: o, Registry: prometheus.NewRegistry()}
	a.Registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	a.running, a.failed = errgroup.WithContext(context.Background())
	ctx, cancel := context.WithTimeout(ctx, startWait)
	defer cancel()
	parts := []func(context.Context) error{a.lockData, a.startTracing, a.connect, a.takeSchema, a.followState, a.openVault}
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
		parts = append(parts, a.hearBreakers, a.startReplayer, a.startNotifier, a.takeTurns, a.listenPublic)
	}
	parts = append(parts, a.listenAdmin)
	for _, start := range parts {
		if err := start(ctx); err != nil {
			return nil, errors.Join(err, a.Stop())
		}
	}
	a.health.started()
	return a, nil
}

// onStop registers the end of a part that has started.
func (a *App) onStop(name string, run func() error) { a.stops = append(a.stops, stop{name, run}) }

// run keeps a part going beside the others. It must end when its context does;
// when it ends before, with or without an error, the whole process fails.
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

// Wait returns when ctx ends (nil) or a part fails (why).
func (a *App) Wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case <-a.failed.Done():
		return context.Cause(a.failed)
	}
}

// Stop stops every part in reverse: it answers not ready first, takes no more
// requests, lets the worker drain, and closes the files last.
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

// URL and AdminURL are where the process listens.
func (a *App) URL() string { return a.TLS.scheme() + a.httpAddr }

// AdminURL is where the admin API, the metrics and the health checks are.
func (a *App) AdminURL() string { return a.AdminTLS.scheme() + a.adminAddr }

// OperatorKeyText is the key that opens the admin API.
func (a *App) OperatorKeyText() string { return a.operator }

// StateLog is the log of record that the process writes to.
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

// takeSchema refuses a log of record that a newer Gridhook has written.
func (a *App) takeSchema(ctx context.Context) error { return a.insist(ctx, a.conn.TakeSchema) }

// followState opens the replica and returns when it has caught up.
func (a *App) followState(ctx context.Context) error {
	r, err := replica.Open(filepath.Join(a.Data, "state.db"), a.Log)
	if err != nil {
		return err
	}
	a.replica = r
	a.onStop("the replica", r.Close)
	log := a.conn.StateLog()
	a.store = storage.NewStore(roomyLog{log, a.full}, r, time.Now)
	a.run("following the log of record", a.lasting(func(ctx context.Context) error { return r.Follow(ctx, log) }))
	return a.awaiting(ctx, func(ctx context.Context) error { return a.insist(ctx, a.store.CatchUp) })
}

// awaiting waits for something that a running part brings about, and no longer
// when that part fails.
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

// followLedger opens the ledger and returns when it shows every trigger that was
// accepted: whoever asks for one must not hear that there is none.
func (a *App) followLedger(ctx context.Context) error {
	l, err := ledger.Open(filepath.Join(a.Data, "ledger.db"), ledger.Options{Keep: a.Streams.ReceiptsAge, Log: a.Log, Now: time.Now})
	if err != nil {
		return err
	}
	a.ledger = l
	a.onStop("the ledger", l.Close)
	a.run("following the receipts", a.lasting(func(ctx context.Context) error { return l.Follow(ctx, a.conn) }))
	a.run("the resumer", dispatcher.NewResumer(l, a.conn, a.Log, a.Registry, time.Now).Run)
	return a.awaiting(ctx, func(ctx context.Context) error {
		var last uint64
		err := a.insist(ctx, func(ctx context.Context) (err error) { last, err = a.conn.KeptTrigger(ctx); return err })
		if err != nil {
			return err
		}
		return l.Shows(ctx, last)
	})
}

// noteUses notes when keys are used.
func (a *App) noteUses(context.Context) error {
	a.uses = api.NewKeyUses(a.store, a.Log)
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

// takeTurns makes the turns of estimates, which give way to the process's webhooks.
func (a *App) takeTurns(context.Context) error {
	var sent func() uint64
	if a.worker != nil {
		sent = a.worker.Attempts
	}
	a.estimates = api.NewEstimates(a.Limits.Estimates, sent)
	return nil
}

func (a *App) destinations() dispatcher.Guard {
	return dispatcher.Guard{AllowPrivate: a.Worker.AllowPrivate}
}
