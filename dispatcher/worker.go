package dispatcher

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"
	"golang.org/x/sync/errgroup"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/signals"
	"github.com/gridhook/gridhook/storage/vault"
)

// Bus is what a worker needs of the message system. Every Put returns when what
// it stores is durable, except that slices need not survive a power cut: they can
// be derived from triggers and receipts.
type Bus interface {
	PutSlice(ctx context.Context, s events.Slice) error
	PutRetries(ctx context.Context, retries []events.Retry) error
	PutReceipt(ctx context.Context, r events.Receipt) error
	// HasReceipt reports whether a receipt of that key is stored.
	HasReceipt(ctx context.Context, org, triggerID, key string) (bool, error)
	// Reached reports whether a trigger's walk has come to a slice.
	Reached(ctx context.Context, t events.Trigger, number int) (bool, error)
	// Known and PutKnown are what an endpoint has of the signals of a slice of
	// homes. PutKnown replaces the state that was read; errors:
	// storage.ErrConflict.
	Known(ctx context.Context, org, endpointID string, slice int) (events.Known, error)
	PutKnown(ctx context.Context, org, endpointID string, slice int, known events.Known) error
	// Newest is an organization's newest trigger, with its sequence; zero when
	// it has none.
	Newest(ctx context.Context, org string) (events.Trigger, error)
	// Next is an organization's first trigger after a sequence, zero when it has
	// none.
	Next(ctx context.Context, org string, after uint64) (events.Trigger, error)
	// ConsumeTriggers, ConsumeSlices and ConsumeRetries take messages in a
	// number of slots until taking ends, and return when all are handled. An
	// error of handle hands the message back.
	ConsumeTriggers(ctx, taking context.Context, slots int, handle func(context.Context, events.Trigger, events.Taken) error) error
	ConsumeSlices(ctx, taking context.Context, slots int, handle func(context.Context, events.Slice, events.Taken) error) error
	ConsumeRetries(ctx, taking context.Context, slots int, handle func(context.Context, events.Retry, events.Taken) error) error
	ConsumeNotices(ctx, taking context.Context, slots int, handle func(context.Context, events.Notice, events.Taken) error) error
	ConsumeTasks(ctx, taking context.Context, kind events.TaskKind, slots int, handle func(context.Context, events.Task, events.Taken) error) error
	// PutTask has a task wait, in place of one of the same name; PutNewTask leaves
	// that one as it is.
	PutTask(ctx context.Context, t events.Task) error
	PutNewTask(ctx context.Context, t events.Task) error
}

// Deps are what a worker works with.
type Deps struct {
	Bus        Bus
	Store      *storage.Store
	Book       *signals.Book
	Vault      *vault.Vault
	Log        *slog.Logger
	Registerer prometheus.Registerer
	Now        func() time.Time
	// Jitter returns a number in [0,1); nil means a random one.
	Jitter func() float64
	// Tracer makes the spans; nil means that there are none.
	Tracer trace.Tracer
}

// Options bound a worker.
type Options struct {
	// Slices is how many slices are walked at once, default 16.
	Slices int
	// Concurrency is how many requests may be in flight for slices, default
	// 256; the retries that are due may have half as many beside them.
	Concurrency int
	// EndpointConcurrency is how many requests one endpoint may have in flight
	// from this worker, default 64.
	EndpointConcurrency int
	// DrainTimeout is how long a stopping worker may take to finish what it
	// holds, default 30 s. What is left then is handed back.
	DrainTimeout time.Duration
	// AllowPrivate lets webhooks go to http, any port, and loopback or private
	// addresses.
	AllowPrivate bool
	// TracedRequests is how many requests of a slice or retry and to an endpoint
	// have a span of their own.
	TracedRequests int
}

func (o Options) withDefaults() Options {
	set := func(field *int, value int) {
		if *field <= 0 {
			*field = value
		}
	}
	set(&o.Slices, 16)
	set(&o.Concurrency, 256)
	set(&o.EndpointConcurrency, 64)
	if o.DrainTimeout <= 0 {
		o.DrainTimeout = 30 * time.Second
	}
	return o
}

// perSlice is how many requests one slice may have in flight.
func (o Options) perSlice() int { return max(1, o.Concurrency/o.Slices) }

// slowEach is how many slow slices one endpoint may have: so many as fill the places of
// its requests, and one more to follow. What a worker has begun it must end, and more
// would leave the last of a walk to one worker.
func (o Options) slowEach() int {
	return min(1+(o.EndpointConcurrency+o.perSlice()-1)/o.perSlice(), maxSlowEach)
}

// Worker takes triggers, slices and retries off their queues and delivers.
type Worker struct {
	Deps
	opt       Options
	metrics   *metrics
	endpoints *endpoints
	sender    *sender
	relief    *relief
	newest    newest
	attempts  atomic.Uint64
	tracing   tracing
}

// New makes a worker. Run starts it.
func New(d Deps, o Options) *Worker {
	o = o.withDefaults()
	if d.Jitter == nil {
		d.Jitter = rand.Float64
	}
	endpoints := newEndpoints(d.Vault, o.EndpointConcurrency, o.slowEach())
	return &Worker{
		Deps: d, opt: o,
		metrics:   newMetrics(d.Registerer, func() int { return endpoints.down(d.Now()) }),
		endpoints: endpoints,
		sender:    newSender(Guard{AllowPrivate: o.AllowPrivate}, o.EndpointConcurrency),
		relief:    newRelief(),
		newest:    newest{seen: map[string]*newestSeen{}},
		tracing:   tracing{tracer: d.Tracer, requests: o.TracedRequests},
	}
}

// OpenBreakers are the endpoints that the worker does not try home by home.
func (w *Worker) OpenBreakers() []events.OpenBreaker { return w.endpoints.open() }

// Attempts is how many webhook requests the worker has made.
func (w *Worker) Attempts() uint64 { return w.attempts.Load() }

// catchUpWait is how long a slice waits for the replica before it is handed
// back for another worker, or a later moment.
const catchUpWait = 5 * time.Second

// Run works until ctx ends and then drains: it takes nothing new, finishes the
// slices it holds, and hands back what is not done when the drain timeout ends.
func (w *Worker) Run(ctx context.Context) error {
	hard, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	stop := context.AfterFunc(ctx, func() {
		t := time.NewTimer(w.opt.DrainTimeout)
		defer t.Stop()
		select {
		case <-t.C:
			w.Log.Warn("the drain timeout has ended: handing back what is not delivered")
			cancel()
		case <-hard.Done():
		}
	})
	defer stop()
	// A queue that cannot be consumed ends the others too: a half-dead worker
	// must not look alive.
	group, taking := errgroup.WithContext(ctx)
	group.Go(func() error {
		return w.Bus.ConsumeTriggers(hard, taking, 2, traced(w.tracing, "begin walk", tellTrigger, w.handleTrigger))
	})
	group.Go(func() error {
		return w.Bus.ConsumeSlices(hard, taking, w.opt.Slices, traced(w.tracing, "walk slice", tellSlice, w.handleSlice))
	})
	group.Go(func() error {
		return w.Bus.ConsumeRetries(hard, taking, max(1, w.opt.Slices/2), traced(w.tracing, "send again", tellRetry, w.handleRetry))
	})
	group.Go(func() error { return w.Bus.ConsumeNotices(hard, taking, 1, w.handleNotice) })
	group.Go(func() error {
		return w.Bus.ConsumeTasks(hard, taking, events.TaskNotice, tellingSlots, w.handleTelling)
	})
	err := group.Wait()
	w.sender.close()
	return err
}

// handleTrigger begins a trigger's walk.
func (w *Worker) handleTrigger(ctx context.Context, t events.Trigger, taken events.Taken) error {
	if taken.Redelivered || w.Now().Sub(t.CreatedAt.Time) > stalledAfter/2 {
		if begun, err := w.Bus.Reached(ctx, t, 0); begun || err != nil {
			return err
		}
	}
	// A walk that begins late may come after a newer one.
	if err := w.Bus.PutSlice(ctx, events.Slice{Trigger: t, Sequence: t.Sequence, Late: taken.Redelivered}); err != nil {
		return err
	}
	w.metrics.triggers.Inc()
	w.Log.Info("a trigger's walk begins", "trigger", t.ID, "org", t.OrganizationID, "homes", t.Homes, "request", t.RequestID)
	return nil
}
