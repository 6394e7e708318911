package http1

import (
	"maps"
	"sync"
	"time"
	"weak"
)

// pool keeps connections that are not in use, by destination.
type pool struct {
	most    int
	timeout time.Duration

	mu sync.Mutex
	// destinations are those that a target is for, or that have connections. The
	// latter are in use, so that they stay; the others end with their targets.
	destinations map[string]weak.Pointer[idle]
	used         map[*idle]struct{}
	sweeper      *time.Timer
	closed       bool
}

func newPool(most int, timeout time.Duration) *pool {
	p := &pool{most: most, timeout: timeout, destinations: map[string]weak.Pointer[idle]{}, used: map[*idle]struct{}{}}
	p.mu.Lock() // the sweep may begin before the next line ends
	defer p.mu.Unlock()
	p.sweeper = time.AfterFunc(timeout, p.sweep)
	return p
}

// of is the place of a destination's connections.
func (p *pool) of(destination string) *idle {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := p.destinations[destination].Value()
	if i == nil {
		i = &idle{pool: p, most: p.most, closed: p.closed}
		p.destinations[destination] = weak.Make(i)
	}
	return i
}

// keep has a destination stay that has connections now.
func (p *pool) keep(i *idle) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.used[i] = struct{}{}
	if p.closed {
		i.close()
	}
}

// sweep closes what was not used for long, and forgets destinations without a target.
func (p *pool) sweep() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	for i := range p.used {
		if i.expire(time.Now().Add(-p.timeout)) {
			delete(p.used, i)
		}
	}
	maps.DeleteFunc(p.destinations, func(_ string, i weak.Pointer[idle]) bool { return i.Value() == nil })
	p.sweeper.Reset(p.timeout / 2)
}

func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	p.sweeper.Stop()
	for _, w := range p.destinations {
		if i := w.Value(); i != nil {
			i.close()
		}
	}
}

// idle are the unused connections to one destination, the last used on top.
type idle struct {
	pool *pool
	most int

	mu     sync.Mutex
	stack  []*connection
	used   bool // the pool keeps it
	closed bool
}

// take returns a connection, nil when there is none.
func (i *idle) take() *connection {
	i.mu.Lock()
	defer i.mu.Unlock()
	n := len(i.stack)
	if n == 0 {
		return nil
	}
	c := i.stack[n-1]
	i.stack[n-1] = nil
	i.stack = i.stack[:n-1]
	return c
}

// put keeps a connection, or closes it when there are enough.
func (i *idle) put(c *connection) {
	c.since = time.Now()
	i.mu.Lock()
	kept := !i.closed && len(i.stack) < i.most
	if kept {
		i.stack = append(i.stack, c)
	}
	first := kept && !i.used
	i.used = i.used || kept
	i.mu.Unlock()
	switch {
	case first:
		i.pool.keep(i)
	case !kept:
		c.close()
	}
}

// expire closes the connections that were put aside before a time, those at the
// bottom, and reports whether none is left.
func (i *idle) expire(before time.Time) (empty bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	n := 0
	for n < len(i.stack) && i.stack[n].since.Before(before) {
		i.stack[n].close()
		n++
	}
	i.stack = append(i.stack[:0:0], i.stack[n:]...)
	i.used = len(i.stack) > 0
	return !i.used
}

func (i *idle) close() {
	i.expire(time.Now().Add(time.Hour))
	i.mu.Lock()
	defer i.mu.Unlock()
	i.closed = true
}
