package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"go.opentelemetry.io/otel/trace"
	"golang.org/x/sync/errgroup"

	"github.com/gridhook/gridhook/api"
	"github.com/gridhook/gridhook/api/openadr"
	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/config"
	"github.com/gridhook/gridhook/dispatcher"
	"github.com/gridhook/gridhook/dispatcher/tester"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/events/embedded"
	"github.com/gridhook/gridhook/events/jetstream"
	"github.com/gridhook/gridhook/events/ledger"
	"github.com/gridhook/gridhook/events/periodic"
	"github.com/gridhook/gridhook/events/sources"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/replica"
	"github.com/gridhook/gridhook/storage/signals"
	"github.com/gridhook/gridhook/storage/vault"
)

// Options are the settings of a process, its version and its log.
type Options struct {
	config.Config
	Version string
	Log     *slog.Logger
}

// Local returns the default options of a serve in a data folder, on free ports of the
// loopback.
func Local(data string, log *slog.Logger) Options {
	o := Options{Config: config.Default(config.Serve), Log: log}
	o.Data, o.HTTP, o.Admin = data, "127.0.0.1:0", "127.0.0.1:0"
	return o
}

// servesAPI reports whether the process serves the API.
func (o *Options) servesAPI() bool { return o.Role != config.Worker }

// delivers reports whether the process delivers webhooks.
func (o *Options) delivers() bool { return o.Role != config.API }

// App holds the parts of a running process.
type App struct {
	Options
	Registry *prometheus.Registry

	conn    *jetstream.Conn
	replica *replica.Replica
	store   *storage.Store
	vault   *vault.Vault
	pricer  *signals.Pricer
	ledger  *ledger.Ledger
	uses    *rest.LastUsed
	// delivery configures the worker and every other sender of webhooks.
	delivery dispatcher.Options
	// worker is nil if the process does not deliver.
	worker    *dispatcher.Worker
	breakers  events.Breakers
	histories events.Histories
	tester    *tester.Tester
	sources   *sources.Runner
	estimates *api.Estimates
	health    health
	// stale is the metric of stale organizations, nil unless the process serves the API.
	stale prometheus.Gauge
	// embedded is nil if NATS is external.
	embedded *embedded.Server
	// admission authenticates MQTT clients, nil before the API listens.
	admission atomic.Pointer[openadr.Admission]
	guard     *guard
	// tracer is nil if tracing is off.
	tracer trace.Tracer

	httpAddr, adminAddr string

	backingUp sync.Mutex // held during a backup

	running *errgroup.Group
	failed  context.Context // ends when a part fails
	stops   []stop
	// cancels cancels the parts that take tasks.
	cancels []context.CancelFunc
	// delivering is the number of stops that come before the stops of the worker and the API.
	// The admin listener stops there: it shows the health and the metrics until the worker has
	// drained.
	delivering int
	operator   string
}

// stop stops one part.
type stop struct {
	name string
	run  func() error
}

// startTimeout is the timeout of the start: recovering files, connecting, catching up. It
// does not include the compaction of the store.
const startTimeout = 5 * time.Minute

// Start starts the parts of the role and returns when all are ready. If a part fails to
// start, Start stops the earlier parts.
func Start(ctx context.Context, o Options) (*App, error) {
	a := &App{Options: o, Registry: prometheus.NewRegistry(), delivery: deliveryOptions(&o.Config)}
	a.guard = &guard{app: a}
	a.Registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	a.running, a.failed = errgroup.WithContext(context.Background())
	if err := a.startParts(ctx, a.trustAuthorities, a.lockData, a.startTelemetry, a.prepareStore); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	parts := []func(context.Context) error{a.connect, a.followState, a.openVault}
	if o.servesAPI() {
		parts = append(parts, a.followLedger)
	}
	if o.servesAPI() || o.Profiles {
		parts = append(parts, a.loadOperatorKey)
	}
	if err := a.startParts(ctx, append(parts, a.registerMetrics, a.startGuard, a.startSources)...); err != nil {
		return nil, err
	}
	a.delivering, parts = len(a.stops), nil
	if o.delivers() {
		parts = append(parts, a.receiveHistories, a.startWorker, a.reportBreakers, a.startMQTT)
	}
	if o.servesAPI() {
		parts = append(parts, a.receiveBreakers, a.reportHistories, a.prepareAPI, a.startTasks, a.countStale, a.listenPublic)
	}
	if err := a.startParts(ctx, append(parts, a.listenAdmin)...); err != nil {
		return nil, err
	}
	if a.estimates != nil { // they stop before the listeners, which wait for their requests
		a.onStop("the estimates", func() error { a.estimates.Stop(); return nil })
	}
	a.health.phase.Store("running")
	return a, nil
}

// startParts starts parts in order. If one fails, it stops all that have started.
func (a *App) startParts(ctx context.Context, parts ...func(context.Context) error) error {
	for _, start := range parts {
		if err := start(ctx); err != nil {
			return errors.Join(err, a.Stop())
		}
	}
	return nil
}

// onStop registers the stop function of a part that has started.
func (a *App) onStop(name string, run func() error) { a.stops = append(a.stops, stop{name, run}) }

// started registers the stop function of a part, unless its start has failed with err.
func (a *App) started(name string, stop func() error, err error) error {
	if err == nil {
		a.onStop(name, stop)
	}
	return err
}

// run runs a part until its context ends. If the part ends earlier, with or without an
// error, the whole process fails.
func (a *App) run(name string, part func(ctx context.Context) error) context.CancelFunc {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	a.running.Go(func() error {
		defer close(done)
		err := part(ctx)
		if ctx.Err() == nil {
			return fmt.Errorf("%s ended: %w", name, cmp.Or(err, errEnded))
		}
		if err != nil && !errors.Is(err, context.Canceled) {
			a.Log.Warn("part stopped with an error", "part", name, "error", err)
		}
		return nil
	})
	a.onStop(name, func() error { cancel(); <-done; return nil })
	return cancel
}

// runTasks is run for a part that takes tasks. Stop cancels all these parts at once, because
// each waits for its last request for tasks.
func (a *App) runTasks(name string, part func(ctx context.Context) error) {
	a.cancels = append(a.cancels, a.run(name, part))
}

var errEnded = errors.New("unexpected end")

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
// requests of partners. Then it drains the worker and stops the admin listener. It closes
// the files last.
func (a *App) Stop() error {
	a.health.phase.Store("stopping")
	for _, cancel := range a.cancels {
		cancel()
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
func (a *App) URL() string { return scheme(a.TLS) + a.httpAddr }

// AdminURL returns the address of the admin API, the metrics and the health checks.
func (a *App) AdminURL() string { return scheme(a.AdminTLS) + a.adminAddr }

// OperatorKeyText returns the key of the admin API.
func (a *App) OperatorKeyText() string { return a.operator }

// StateLog returns the process's log of record.
func (a *App) StateLog() storage.Log { return a.conn.StateLog() }

// repeat runs a part that repeats a task. what describes the task in the log.
func (a *App) repeat(name, what string, every time.Duration, task func(context.Context) error) {
	a.run(name, func(ctx context.Context) error { return periodic.Run(ctx, every, a.Log, what, task) })
}

// waitFor waits for an event from a running part. It stops waiting when the part fails.
func (a *App) waitFor(ctx context.Context, wait func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(a.failed, cancel)()
	err := wait(ctx)
	if a.failed.Err() != nil {
		return context.Cause(a.failed)
	}
	return err
}
