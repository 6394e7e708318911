package http1

import (
	"sync"
	"time"
)

// pool keeps connections that are not in use, by destination.
type pool struct {
	most    int
	timeout time.Duration

	mu           sync.Mutex
	destinations map[string]*idle
	sweeper      *time.Timer
	closed       bool
}

func newPool(most int, timeout time.Duration) *pool {
	p := &pool{most: most, timeout: timeout, destinations: map[string]*idle{}}
	p.mu.Lock() // the sweep may begin before the next line ends
	defer p.mu.Unlock()
	p.sweeper = time.AfterFunc(timeout, p.sweep)
	return p
}

// of is the place of a destination's connections.
func (p *pool) of(destination string) *idle {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := p.destinations[destination]
	if i == nil {
		i = &idle{most: p.most, closed: p.closed}
		p.destinations[destination] = i
	}
	return i
}

// sweep closes what was not used for long.
func (p *pool) sweep() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	for _, i := range p.destinations {
		i.expire(time.Now().Add(-p.timeout))
	}
	p.sweeper.Reset(p.timeout / 2)
}

func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	p.sweeper.Stop()
	for _, i := range p.destinations {
		i.close()
	}
}

// idle are the unused connections to one destination, the last used on top.
type idle struct {
	most int

	mu     sync.Mutex
	stack  []*connection
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
	i.mu.Unlock()
	if !kept {
		c.close()
	}
}

// expire closes the connections that were put aside before a time: those at the
// bottom.
func (i *idle) expire(before time.Time) {
	i.mu.Lock()
	defer i.mu.Unlock()
	n := 0
	for n < len(i.stack) && i.stack[n].since.Before(before) {
		i.stack[n].close()
		n++
	}
	i.stack = append(i.stack[:0:0], i.stack[n:]...)
}

func (i *idle) close() {
	i.expire(time.Now().Add(time.Hour))
	i.mu.Lock()
	defer i.mu.Unlock()
	i.closed = true
}
