package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/gridhook/gridhook/events/jetstream"
	"github.com/gridhook/gridhook/events/periodic"
	"github.com/gridhook/gridhook/storage"
)

// These are the guard's intervals.
const (
	guardEvery = time.Second
	// guardTimeout is the timeout of one inspection.
	guardTimeout = 2 * time.Second
	// firstBackoff is the backoff after a restart of the embedded server. The backoff
	// doubles after each restart that did not help, up to maxBackoff.
	firstBackoff = 5 * time.Second
	maxBackoff   = time.Minute
)

// guard detects faults that requests would detect too late: a nearly full disk, an
// embedded server that stores nothing more after a full disk, and damaged streams. While
// the disk is nearly full, Gridhook accepts nothing new. When space is free again, the
// guard restarts the embedded server, because only a restart makes it store again. Each
// inspection also updates the process's health.
type guard struct {
	app       *App
	inspector *jetstream.Inspector

	// full is the reason why Gridhook accepts nothing new. stuck is the reason why the
	// embedded server does not store. damage describes the damaged streams.
	full, stuck, damage fault

	// log compares the log of record with the replica.
	log comparison

	unhealthy           repeated // why the embedded server is unhealthy
	backoff             restartBackoff
	restarts, recreated prometheus.Counter
}

// fault is the reason of a fault, "" while there is none.
type fault struct{ reason atomic.Value }

func (f *fault) why() string {
	why, _ := f.reason.Load().(string)
	return why
}

// repeated is a fault that counts once two inspections in a row find it. The server also calls
// a stream damaged that it is just creating, and a restart interrupts every client.
type repeated struct{ last string }

// found returns the fault of an inspection if the one before found it too, and "" otherwise.
func (r *repeated) found(fault string) string {
	if fault != r.last {
		r.last = fault
		return ""
	}
	return fault
}

// restartBackoff decides when the embedded server may be restarted again. The zero value
// allows it at once.
type restartBackoff struct {
	last  time.Time     // of the restarts
	delay time.Duration // after last
}

func (b *restartBackoff) over(now time.Time) bool { return !now.Before(b.last.Add(b.delay)) }

// restarted doubles the delay, because the last restart did not help.
func (b *restartBackoff) restarted(now time.Time) {
	b.last, b.delay = now, min(max(firstBackoff, 2*b.delay), maxBackoff)
}

// healthy resets the delay if the server has stored for that long.
func (b *restartBackoff) healthy(now time.Time) {
	if b.over(now) {
		b.delay = 0
	}
}

// diskFull shortens the delay. The last restart did help, if the disk is full again.
func (b *restartBackoff) diskFull() { b.delay = min(b.delay, firstBackoff) }

func (a *App) startGuard(ctx context.Context) error {
	g := a.guard
	g.inspector = a.conn.NewInspector()
	counter := func(name, help string) prometheus.Counter {
		return promauto.With(a.Registry).NewCounter(prometheus.CounterOpts{Namespace: "gridhook", Name: name, Help: help})
	}
	g.restarts = counter("nats_restarts_total", "Restarts of the embedded NATS because it stopped storing.")
	g.recreated = counter("consumers_recreated_total", "Queues whose consumer skipped messages and was recreated.")
	_ = g.check(ctx) // the guard repeats it
	a.run("the guard", func(ctx context.Context) error {
		periodic.Sleep(ctx, guardEvery) // inspections are an interval apart
		return periodic.Run(ctx, guardEvery, a.Log, "inspect NATS", g.check)
	})
	return nil
}

func (g *guard) check(ctx context.Context) error {
	g.note(&g.full, g.fullReason(), "store full, refusing new requests")
	g.revive(time.Now())
	return g.inspect(ctx)
}

// note stores the reason of a fault and logs when the fault appears or disappears.
func (g *guard) note(f *fault, why, means string) {
	switch was, _ := f.reason.Swap(why).(string); {
	case why == "" && was != "":
		g.app.Log.Info("fault resolved", "fault", was)
	case why != "" && was == "":
		g.app.Log.Error(means, "reason", why)
	}
}

// fullReason returns the reason why nothing new can be accepted, or "" if there is none.
func (g *guard) fullReason() string {
	if free, size, err := Space(g.app.Data); err == nil && free < Reserve(size) {
		return "the disk of the data folder is full"
	}
	if g.app.embedded == nil {
		return ""
	}
	if u, err := g.app.embedded.Usage(); err == nil && u.Limit > 0 && u.Used+Reserve(u.Limit) > u.Limit {
		return "the store is full: raise max-store"
	}
	return ""
}

// Reserve returns the bytes to keep free for the outcomes of accepted work: a twentieth
// of size, at most 256 MiB.
func Reserve(size uint64) uint64 { return min(size/20, 256<<20) }

// revive restarts the embedded server if it does not store and the disk has space.
func (g *guard) revive(now time.Time) {
	if g.app.embedded == nil {
		return
	}
	why := g.unhealthy.found(sentence(g.app.embedded.Healthy()))
	g.note(&g.stuck, why, "embedded NATS stopped storing")
	switch {
	case g.full.why() != "":
		g.backoff.diskFull()
		return
	case why == "":
		g.backoff.healthy(now)
		return
	case !g.backoff.over(now):
		return
	}
	g.app.Log.Warn("restarting the embedded NATS")
	g.restarts.Inc()
	if err := g.app.embedded.Restart(30 * time.Second); err != nil {
		g.app.Log.Error("embedded NATS not restarted, retrying", "error", err)
	}
	g.backoff.restarted(time.Now())
}

// inspect looks for damaged streams and updates the process's health. It does nothing without
// a connection to NATS, because the log already says so.
func (g *guard) inspect(ctx context.Context) error {
	if !g.app.conn.Connected() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, guardTimeout)
	defer cancel()
	reconnects := g.app.conn.Reconnects()
	revision, records, err := g.app.replica.Records(time.Now())
	if err != nil {
		return err
	}
	found, err := g.inspector.Look(ctx, revision, records)
	g.log.compare(found.Depth.State, revision, reconnects) // even if another stream has no leader
	for _, queue := range found.Recreated {
		g.recreated.Inc()
		g.app.Log.Warn("consumer skipped messages, consumer recreated", "queue", queue)
	}
	if err != nil {
		return err
	}
	g.app.health.update(found.Depth, g.app.replica.Revision(), time.Now())
	g.note(&g.damage, strings.Join(found.Damage, "; "), "log of record damaged")
	return nil
}

// refusal returns a storage.ErrUnavailable while nothing new may be stored: the disk or the
// store has no space, or the log of record may be shorter than the replica.
func (g *guard) refusal() error {
	if why := cmp.Or(g.full.why(), g.log.refusal(g.app.conn.Reconnects())); why != "" {
		return fmt.Errorf("%w: %s", storage.ErrUnavailable, why)
	}
	return nil
}

func sentence(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// problem returns the reason why the process is not ready, or "" if it is ready.
func (g *guard) problem() string {
	if why := cmp.Or(g.full.why(), g.stuck.why(), g.damage.why()); why != "" || !g.log.lost.Load() {
		return why
	}
	return lostRecords
}

// retryFollow repeats follow if the disk is full or NATS is unavailable. follow continues
// from its last position.
func (a *App) retryFollow(follow func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		for ctx.Err() == nil {
			err := follow(ctx)
			switch {
			case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
				a.Log.Error("replica not written, retrying", "error", err)
			case errors.Is(err, storage.ErrUnavailable):
				a.Log.Warn("NATS unavailable to a replica, retrying", "error", err)
			default:
				return err
			}
			periodic.Sleep(ctx, guardEvery)
		}
		return nil
	}
}

// retryUnavailable repeats a request to NATS until it gets a response. A cluster during an election
// or under load may not respond in time.
func (a *App) retryUnavailable(ctx context.Context, ask func(context.Context) error) error {
	for {
		err := ask(ctx)
		if !errors.Is(err, storage.ErrUnavailable) || ctx.Err() != nil {
			return err
		}
		a.Log.Warn("NATS unavailable during the start, retrying", "error", err)
		if periodic.Sleep(ctx, guardEvery); ctx.Err() != nil {
			return err
		}
	}
}
