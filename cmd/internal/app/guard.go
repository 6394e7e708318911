package app

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gridhook/gridhook/events/embedded"
	"github.com/gridhook/gridhook/events/jetstream"
	"github.com/gridhook/gridhook/storage"
)

// The guard's patience.
const (
	guardEvery = time.Second
	// guardWait bounds one look.
	guardWait = 5 * time.Second
	// firstPause is how long the embedded server is left alone after a restart;
	// the pause doubles with each restart that did not help, up to lastPause.
	firstPause = 5 * time.Second
	lastPause  = time.Minute
)

// guard looks after what no request would notice in time: a disk that is nearly
// full, an embedded server that stores nothing more after a full disk, and
// streams that lost something. It takes in no more than there is room for, and
// restarts the embedded server, which alone brings it back, once there is room.
type guard struct {
	app       *App
	inspector *jetstream.Inspector
	// server is nil where NATS is external.
	server *embedded.Server

	// full says why nothing more is taken in, nil when it is; stuck why the
	// embedded server does not store; damage what the streams have lost.
	full, stuck, damage atomic.Pointer[string]

	restartAfter time.Time
	pause        time.Duration

	restarts, remade prometheus.Counter
}

func (a *App) startGuard(ctx context.Context) error {
	counter := func(name, help string) prometheus.Counter {
		c := prometheus.NewCounter(prometheus.CounterOpts{Namespace: "gridhook", Name: name, Help: help})
		a.Registry.MustRegister(c)
		return c
	}
	a.guard = &guard{
		app: a, server: a.embedded, inspector: a.conn.NewInspector(), pause: firstPause,
		restarts: counter("nats_restarts_total", "Restarts of the embedded NATS because it did not store any more."),
		remade:   counter("queues_remade_total", "Queues whose consumer passed messages over and was made anew."),
	}
	gauge := func(name, help string, why *atomic.Pointer[string]) {
		a.Registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: "gridhook", Name: name, Help: help},
			func() float64 {
				if why.Load() == nil {
					return 0
				}
				return 1
			}))
	}
	gauge("store_full", "1 while the disk or the store has no room and nothing new is taken in.", &a.guard.full)
	gauge("record_damaged", "1 when a stream of the record has lost something.", &a.guard.damage)
	a.guard.look(ctx)
	a.run("the guard", func(ctx context.Context) error {
		tick := time.NewTicker(guardEvery)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				a.guard.look(ctx)
			case <-ctx.Done():
				return nil
			}
		}
	})
	return nil
}

func (g *guard) look(ctx context.Context) {
	g.note(&g.full, g.lacksRoom(), "nothing new is taken in")
	g.revive(time.Now())
	g.inspect(ctx)
}

// note keeps a reason, and logs it when it is new or gone.
func (g *guard) note(where *atomic.Pointer[string], why, means string) {
	was := where.Load()
	switch {
	case why == "" && was != nil:
		g.app.Log.Info("it is well again", "what", *was)
		where.Store(nil)
	case why != "" && (was == nil || *was != why):
		if was == nil {
			g.app.Log.Error(means, "reason", why)
		}
		where.Store(&why)
	}
}

// lacksRoom says why nothing new can be taken in, "" when it can.
func (g *guard) lacksRoom() string {
	if free, size, err := Room(g.app.Data); err == nil && free < Reserve(size) {
		return "the disk of the data folder is full"
	}
	if g.server == nil {
		return ""
	}
	if u, err := g.server.Usage(); err == nil && u.Limit > 0 && u.Used+Reserve(u.Limit) > u.Limit {
		return "the store is full: raise max-store"
	}
	return ""
}

// Reserve is what is kept free, in bytes, for the outcomes of what was taken in
// before: a twentieth, at most 256 MiB.
func Reserve(size uint64) uint64 { return min(size/20, 256<<20) }

// revive restarts the embedded server when it does not store and there is room.
func (g *guard) revive(now time.Time) {
	if g.server == nil {
		return
	}
	why, before := g.server.Healthy(), g.stuck.Load()
	g.note(&g.stuck, sentence(why), "the embedded NATS does not store any more")
	if why == nil {
		if now.After(g.restartAfter) {
			g.pause = firstPause
		}
		return
	}
	// One look is not enough: a restart takes the server away from everybody.
	if before == nil || g.full.Load() != nil || now.Before(g.restartAfter) {
		return
	}
	g.app.Log.Warn("restarting the embedded NATS")
	g.restarts.Inc()
	if err := g.server.Restart(30 * time.Second); err != nil {
		g.app.Log.Error("the embedded NATS does not start again; trying later", "error", err)
	}
	g.restartAfter = time.Now().Add(g.pause)
	g.pause = min(2*g.pause, lastPause)
}

func (g *guard) inspect(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, guardWait)
	defer cancel()
	found, err := g.inspector.Look(ctx, g.app.replica.Revision())
	for _, queue := range found.Remade {
		g.remade.Inc()
		g.app.Log.Warn("a queue passed messages over: its consumer is made anew, and what was in hand comes again", "queue", queue)
	}
	if err != nil {
		return // whether NATS answers is the health watch's business
	}
	g.note(&g.damage, strings.Join(found.Damage, "; "), "the record is damaged")
}

func sentence(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// problem says why the process is not ready, "" when it is.
func (g *guard) problem() string {
	for _, why := range []*string{g.full.Load(), g.stuck.Load(), g.damage.Load()} {
		if why != nil {
			return *why
		}
	}
	return ""
}

// lacking reports whether an error is that of a full disk.
func lacking(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// lasting is a part that goes on when the disk was full, or NATS was away as it began:
// what it follows is followed again from where it was.
func (a *App) lasting(follow func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		for {
			err := follow(ctx)
			switch {
			case lacking(err):
				a.Log.Error("a view cannot be written; trying again", "error", err)
			case errors.Is(err, storage.ErrUnavailable):
				a.Log.Warn("what a view follows does not answer; trying again", "error", err)
			default:
				return err
			}
			select {
			case <-time.After(guardEvery):
			case <-ctx.Done():
				return nil
			}
		}
	}
}

// insist asks NATS until it has answered: as long as a cluster holds elections, or
// others ask much of it, an answer may not come in time.
func (a *App) insist(ctx context.Context, ask func(context.Context) error) error {
	for {
		err := ask(ctx)
		if !errors.Is(err, storage.ErrUnavailable) || ctx.Err() != nil {
			return err
		}
		a.Log.Warn("what NATS is asked while starting it cannot do now; asking again", "error", err)
		select {
		case <-time.After(guardEvery):
		case <-ctx.Done():
			return err
		}
	}
}
