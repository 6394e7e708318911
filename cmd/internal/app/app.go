package app

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"go.opentelemetry.io/otel/trace"
	"golang.org/x/sync/errgroup"

	"github.com/gridhook/gridhook/api"
	"github.com/gridhook/gridhook/api/openadr"
	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/config"
	"github.com/gridhook/gridhook/dispatcher"
	"github.com/gridhook/gridhook/dispatcher/resume"
	"github.com/gridhook/gridhook/dispatcher/send"
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

// natsFolder is the embedded server's folder in the data folder.
const natsFolder = "nats"

// stateFile is the replica's file in the data folder.
const stateFile = "state.db"

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
	conn.SetGate(jetstream.Gate{Refusal: a.guard.refusal, Stuck: func() bool { return a.guard.stuck.Load() != nil }})
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

// maxReplays bounds the replays of an organization, including those that ended in the last
// 7 days.
const maxReplays = 10_000

// limits returns the limits of each organization. The operator's guide lists them.
func (a *App) limits() []storage.Limit {
	l := &a.Limits
	limits := []storage.Limit{
		{Kind: storage.KindHome, Max: l.MaxHomes, Setting: "max-homes"},
		{Kind: storage.KindWebhookEndpoint, Max: l.MaxEndpoints, Setting: "max-endpoints"},
		{Kind: storage.KindSchedule, Max: l.MaxSchedules, Setting: "max-schedules"},
		{Kind: storage.KindKey, Max: l.MaxKeys, Setting: "max-keys", Counts: storage.CountLive(a.store.Now)},
		{Kind: storage.KindChannel, Max: l.MaxChannels, Setting: "max-channels"},
		{Kind: storage.KindSource, Max: l.MaxSources, Setting: "max-sources"},
		{Kind: storage.KindReplay, Max: maxReplays},
	}
	for _, t := range storage.OpenADRTypes() {
		limits = append(limits, storage.Limit{Kind: t.Kind(), Max: a.OpenADR.MaxObjects, Setting: "openadr-max-objects"})
	}
	return limits
}

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

// Shares of the store that one organization may take, as divisors.
const (
	// HistoryShare is the share of an organization's history. Its deliveries wait from
	// events.RetriesWait times as much on, so that the others keep half of the store.
	HistoryShare = 8
	// stateShare is the share of its records.
	stateShare = 4
	// keysShare is the share of its idempotency keys of a day. The store may hold two days of
	// them.
	keysShare = 128
)

// limitToStore lowers the limits of an organization to their shares of the embedded store,
// whose size is in bytes. Otherwise one organization could fill the store, and nobody's
// triggers would be accepted.
func (a *App) limitToStore(store config.Size) {
	lower(a.Log, "max-history", &a.Limits.MaxHistory, store/HistoryShare)
	lower(a.Log, "max-state", &a.Limits.MaxState, store/stateShare)
	lower(a.Log, "max-idempotency-keys", &a.Limits.MaxIdempotencyKeys, int(store/keysShare/rest.KeyBytes))
}

// lower lowers a limit of an organization to its share. A limit of 0 stays: there is none.
func lower[T ~int | ~int64](log *slog.Logger, setting string, limit *T, share T) {
	if share > 0 && *limit > share {
		log.Info("limit lowered to its share of the store", "setting", setting, "configured", shown(*limit), "limit", shown(share))
		*limit = share
	}
}

// shown returns a limit for people.
func shown[T ~int | ~int64](limit T) string {
	if size, ok := any(limit).(config.Size); ok {
		return size.Rounded()
	}
	return fmt.Sprint(limit)
}

// quota returns the limits of an organization's triggers and records.
func (a *App) quota() events.Quota {
	return events.Quota{Waiting: a.Limits.MaxWaiting, Bytes: int64(a.Limits.MaxHistory), Stored: int64(a.Limits.MaxState)}
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
	a.tester = tester.New(a.store, a.vault, send.New(send.Options{Guard: a.delivery.Guard(), Egress: a.delivery.Egress, Relay: a.conn, IdlePerDestination: 1, Tracer: a.tracer, TracedRequests: 1}), a.delivery.Mail)
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
