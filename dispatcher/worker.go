package dispatcher

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"
	"golang.org/x/sync/errgroup"

	"github.com/gridhook/gridhook/dispatcher/channel"
	"github.com/gridhook/gridhook/dispatcher/gate"
	"github.com/gridhook/gridhook/dispatcher/send"
	"github.com/gridhook/gridhook/dispatcher/target"
	"github.com/gridhook/gridhook/dispatcher/tracing"
	"github.com/gridhook/gridhook/dispatcher/walks"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/events/periodic"
	"github.com/gridhook/gridhook/events/turns"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/signals"
	"github.com/gridhook/gridhook/storage/vault"
)

// Bus is the part of the message system that a worker uses. Every Put returns when its
// message is durable. Only slices need not survive a power cut, because they can be
// derived from triggers and receipts.
type Bus interface {
	// Known and PutKnown read and write an endpoint's known signals of a slice of homes.
	// PutKnown replaces the state at the revision read by Known and returns the new
	// revision. Errors: storage.ErrConflict.
	Known(ctx context.Context, org, endpointID string, slice int) (events.Known, error)
	PutKnown(ctx context.Context, org, endpointID string, slice int, known events.Known) (revision uint64, err error)
	PutSlice(ctx context.Context, s events.Slice) error
	PutRetries(ctx context.Context, retries []events.Retry) (size int, err error)
	PutReceipt(ctx context.Context, r events.Receipt) error
	// HasReceipt reports whether a receipt with that key is stored.
	HasReceipt(ctx context.Context, org, triggerID, key string) (bool, error)
	// Reached reports whether a trigger's walk has reached a slice.
	Reached(ctx context.Context, t events.Trigger, number int) (bool, error)
	// PutPosition publishes the position of a walk to all workers that follow walks now
	// or later. It does not wait for an acknowledgement.
	PutPosition(p events.WalkPosition) error
	// FollowWalks passes the triggers accepted since a time and the positions of their
	// walks to f, and then each new one until ctx ends. It calls current once f has
	// everything that existed at the start.
	FollowWalks(ctx context.Context, since time.Time, f events.WalkFollower, current func()) error
	// PutDeadLetter stores a message that cannot be processed, for an operator.
	PutDeadLetter(ctx context.Context, d events.DeadLetter) error
	// The Consume methods handle messages in a number of slots until taking ends. They
	// return when all handlers have returned. A message whose handler returns an error is
	// redelivered.
	ConsumeTriggers(ctx, taking context.Context, slots int, handle events.Handler[events.Trigger]) error
	ConsumeSlices(ctx, taking context.Context, slots int, handle events.Handler[events.Slice]) error
	ConsumeRetries(ctx, taking context.Context, slots int, handle events.Handler[events.Retry]) error
	ConsumeNotices(ctx, taking context.Context, slots int, handle events.Handler[events.Notice]) error
	ConsumeTasks(ctx, taking context.Context, kind events.TaskKind, slots int, handle events.Handler[events.Task]) error
	// PutTask schedules a task and replaces a pending task of the same name. PutNewTask
	// keeps a pending task of the same name.
	PutTask(ctx context.Context, t events.Task) error
	PutNewTask(ctx context.Context, t events.Task) error
}

// Deps are the dependencies of a worker.
type Deps struct {
	Bus        Bus
	Store      *storage.Store
	Pricer     *signals.Pricer
	Vault      *vault.Vault
	Log        *slog.Logger
	Registerer prometheus.Registerer
	Now        func() time.Time
	// Jitter returns a number in [0,1). nil selects a random number.
	Jitter func() float64
	// Tracer makes the spans. nil disables spans.
	Tracer trace.Tracer
	// Histories holds the organizations whose history has outgrown its quota. nil means none.
	Histories *events.Histories
	// Relay passes the requests to relay endpoints.
	Relay send.Relay
	// Sender sends the webhooks. If it is nil, New makes a sender from the options. The
	// worker closes the sender.
	Sender *send.Sender
}

// Options configure a worker. Package config has their defaults.
type Options struct {
	// Slices is the maximum number of slices walked at once. One organization has half
	// of them at most. A slice counts once for each 16 endpoints.
	Slices int
	// Concurrency is the maximum number of requests in flight. Hanging requests and
	// retries count. One organization has three quarters of them at most.
	Concurrency int
	// EndpointConcurrency is the maximum number of requests in flight to one endpoint
	// from this worker, at most Concurrency. An endpoint without a good response yet has
	// an eighth.
	EndpointConcurrency int
	// DrainTimeout is the time in which a stopping worker finishes its messages. The
	// worker then requeues the remaining messages.
	DrainTimeout time.Duration
	// Guard decides where webhooks may go. Egress configures the way to all destinations.
	Guard  send.Guard
	Egress send.Egress
	// Mail configures the SMTP server of notification channels.
	Mail channel.Mail
	// TracedRequests is the number of requests per endpoint, in each slice or retry, that
	// have their own span.
	TracedRequests int
}

// maxPerSlice limits the requests of one slice, so that several slices share an endpoint.
const maxPerSlice = 16

// perSlice returns the maximum number of requests in flight of one slice.
func (o Options) perSlice() int { return min(maxPerSlice, max(1, o.Concurrency/o.Slices)) }

// maxSlowSlices limits the slow slices of one endpoint.
const maxSlowSlices = 8

// slowSlices returns the maximum number of slow slices of one endpoint. It is the number
// that fills the endpoint's concurrency limit, plus one to follow. A worker must finish
// the slices that it has begun. With more slices, the last slices of a walk would all be
// at one worker.
func (o Options) slowSlices() int {
	return min(1+(o.EndpointConcurrency+o.perSlice()-1)/o.perSlice(), maxSlowSlices)
}

// Worker takes triggers, slices and retries from their queues and delivers.
type Worker struct {
	Deps
	opt     Options
	metrics *metrics
	gate    *gate.Gate
	targets *target.Registry
	walks   *walks.Tracker
	turns   *turns.Turns
	// positions is held while the position of a walk is published.
	positions sync.Mutex
	channels  *channel.Sender
	attempts  atomic.Uint64
}

// New returns a worker. Run starts it.
func New(d Deps, o Options) *Worker {
	o.EndpointConcurrency = min(o.EndpointConcurrency, o.Concurrency)
	if d.Jitter == nil {
		d.Jitter = rand.Float64
	}
	if d.Histories == nil {
		d.Histories = &events.Histories{}
	}
	if d.Sender == nil {
		d.Sender = send.New(send.Options{
			Guard: o.Guard, Egress: o.Egress, Relay: d.Relay, IdlePerDestination: o.EndpointConcurrency,
			Tracer: d.Tracer, TracedRequests: o.TracedRequests,
		})
	}
	g := gate.New(gate.Options{
		Concurrency: o.Concurrency, EndpointConcurrency: o.EndpointConcurrency, SlowSlices: o.slowSlices(), Now: d.Now, Jitter: d.Jitter,
	})
	targets := target.NewRegistry(d.Vault, g, d.Now)
	return &Worker{
		Deps: d, opt: o, gate: g, targets: targets, channels: channel.New(d.Vault, d.Sender, o.Mail),
		metrics: newMetrics(d.Registerer, func() int { return targets.Down(d.Now()) }),
		walks:   walks.NewTracker(), turns: turns.New(o.Slices, max(1, o.Slices/2)),
	}
}

// OpenBreakers lists the worker's breakers that are not closed.
func (w *Worker) OpenBreakers() []events.OpenBreaker { return w.targets.OpenBreakers() }

// Attempts returns the number of webhook requests that the worker has made.
func (w *Worker) Attempts() uint64 { return w.attempts.Load() }

// Run works until ctx ends, and then drains: it takes no new message and finishes its
// current messages. After the drain timeout it requeues the remaining messages.
func (w *Worker) Run(ctx context.Context) error {
	defer w.Sender.Close()
	hard, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	stop := context.AfterFunc(ctx, func() {
		if periodic.Sleep(hard, w.opt.DrainTimeout); hard.Err() == nil {
			w.Log.Warn("drain timeout reached, requeuing undelivered messages")
			cancel()
		}
	})
	defer stop()
	// The followers outlive the queues, because current messages need them. If a follower
	// fails, the queues end: a half-dead worker must not look alive.
	following, unfollow := context.WithCancel(hard)
	followers, failed := errgroup.WithContext(following)
	current := make(chan struct{})
	followers.Go(func() error {
		return w.Bus.FollowWalks(failed, w.Now().Add(-events.LongestRetry), w.walks, func() {
			w.walks.CaughtUp()
			close(current)
		})
	})
	followers.Go(func() error {
		return periodic.Run(failed, sweepEvery, w.Log, "drop deleted endpoints", w.sweep)
	})
	taking, halt := context.WithCancel(ctx)
	defer halt()
	defer context.AfterFunc(failed, halt)()
	defer context.AfterFunc(taking, w.gate.Close)()
	var err error
	select {
	case <-current:
		err = w.consume(hard, taking)
	case <-taking.Done():
	}
	unfollow()
	return errors.Join(err, followers.Wait())
}

// consume consumes all queues until taking ends. If one queue fails, the others end too.
func (w *Worker) consume(ctx, taking context.Context) error {
	group, taking := errgroup.WithContext(taking)
	group.Go(func() error {
		return w.Bus.ConsumeTriggers(ctx, taking, 2, tracing.Handle(w.Tracer, "begin walk", tracing.Trigger, w.handleTrigger))
	})
	group.Go(func() error {
		return w.Bus.ConsumeSlices(ctx, taking, w.opt.Slices, tracing.Handle(w.Tracer, "walk slice", tracing.Slice, w.handleSlice))
	})
	group.Go(func() error {
		return w.Bus.ConsumeRetries(ctx, taking, max(1, w.opt.Slices/2), tracing.Handle(w.Tracer, "retry", tracing.Retry, w.handleRetry))
	})
	group.Go(func() error { return w.Bus.ConsumeNotices(ctx, taking, 1, w.handleNotice) })
	group.Go(func() error {
		return w.Bus.ConsumeTasks(ctx, taking, events.TaskNotice, noticeSlots, w.handleNoticeTask)
	})
	group.Go(func() error {
		return w.Bus.ConsumeTasks(ctx, taking, events.TaskChannel, channelSlots, w.handleChannelTask)
	})
	return group.Wait()
}

// sweepEvery is the interval between sweeps of deleted endpoints.
const sweepEvery = 10 * time.Second

// sweep drops deleted endpoints. So their secrets leave the memory, and their breakers are
// no longer reported.
func (w *Worker) sweep(context.Context) error { return w.view(w.targets.Sweep) }
