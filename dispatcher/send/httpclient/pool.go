package httpclient

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"weak"
)

// destinationKey identifies targets that may share connections.
type destinationKey struct {
	organization, scheme, address, identity string
	protocol                                Protocol
}

// pool holds the connections to all destinations.
type pool struct {
	maxIdle int
	timeout time.Duration

	mu sync.Mutex
	// destinations are the destinations with targets or connections. retained keeps the
	// destinations with connections alive. The garbage collector removes the others with
	// their targets.
	destinations map[destinationKey]weak.Pointer[destination]
	retained     map[*destination]struct{}
	owners       map[string]weak.Pointer[counts] // by organization
	sweeper      *time.Timer
	closed       bool

	counts // of all destinations
}

// counts are the numbers of idle HTTP/1.1 connections, and of HTTP/2 connections.
type counts struct{ idle, shared atomic.Int64 }

// maxIdleAll is the maximum number of idle HTTP/1.1 connections to all destinations, and
// of HTTP/2 connections without a request. One organization has at most half of them.
// Partners choose the number of destinations, and a process has a limited number of open
// files.
const maxIdleAll = 4096

// counter counts the connections of an organization and of all organizations.
type counter struct{ own, all *atomic.Int64 }

func (c counter) add(n int) {
	c.own.Add(int64(n))
	c.all.Add(int64(n))
}

// exceeds reports whether more connections exceed the limits.
func (c counter) exceeds(more int64) bool {
	return c.own.Load()+more > maxIdleAll/2 || c.all.Load()+more > maxIdleAll
}

func newPool(maxIdle int, timeout time.Duration) *pool {
	p := &pool{
		maxIdle: maxIdle, timeout: timeout, destinations: map[destinationKey]weak.Pointer[destination]{}, retained: map[*destination]struct{}{},
		owners: map[string]weak.Pointer[counts]{},
	}
	p.mu.Lock() // the sweep may start before the next line ends
	defer p.mu.Unlock()
	p.sweeper = time.AfterFunc(timeout, p.sweep)
	return p
}

// destination returns the connections of a destination.
func (p *pool) destination(key destinationKey) *destination {
	p.mu.Lock()
	defer p.mu.Unlock()
	d := p.destinations[key].Value()
	if d == nil {
		own := p.owners[key.organization].Value()
		if own == nil {
			own = &counts{}
			p.owners[key.organization] = weak.Make(own)
		}
		d = &destination{pool: p, count: counter{&own.idle, &p.idle}}
		d.shared.opened, d.shared.count = d.retain, counter{&own.shared, &p.shared}
		d.speaks.Store(int32(key.protocol))
		p.destinations[key] = weak.Make(d)
	}
	return d
}

// retain keeps a destination with connections alive.
func (p *pool) retain(d *destination) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.retained[d] = struct{}{}
	if p.closed {
		d.close()
	}
}

// sweep closes connections that were idle for too long, and drops destinations without
// targets and connections. It closes them without the mutex, because a TLS connection says
// goodbye first, and a receiver may keep it waiting.
func (p *pool) sweep() {
	for _, c := range p.expire(time.Now().Add(-p.timeout)) {
		c.close()
	}
}

// expire removes the connections that were last used before a time.
func (p *pool) expire(before time.Time) (old []*http1Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil
	}
	for d := range p.retained {
		expired, empty := d.expire(before)
		old = append(old, expired...)
		if empty {
			delete(p.retained, d)
		}
	}
	maps.DeleteFunc(p.destinations, func(_ destinationKey, d weak.Pointer[destination]) bool { return d.Value() == nil })
	maps.DeleteFunc(p.owners, func(_ string, own weak.Pointer[counts]) bool { return own.Value() == nil })
	p.sweeper.Reset(p.timeout / 2)
	return old
}

func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	p.sweeper.Stop()
	for _, w := range p.destinations {
		if d := w.Value(); d != nil {
			d.close()
		}
	}
}

// destination holds the connections to one destination, and its protocol. Auto means that
// the protocol is unknown. Requests then use HTTP/1.1.
type destination struct {
	pool   *pool
	speaks atomic.Int32 // a Protocol
	shared sharedConns  // over HTTP/2
	count  counter      // of idle

	mu       sync.Mutex
	idle     []*http1Conn // over HTTP/1.1, last used at the end
	dials    int          // HTTP/1.1 connections in progress
	waiting  []chan *http1Conn
	retained bool // the pool retains it
	closed   bool
}

// maxDials is the maximum number of HTTP/1.1 connections that are opened to a destination
// at the same time. A request that waits longer than dialPatience may exceed it. A TLS
// handshake costs as much as some twenty requests. So a burst of requests waits for idle
// connections instead of opening one for each request.
const (
	maxDials     = 4
	dialPatience = 200 * time.Millisecond
)

// acquire returns an idle connection. If it returns nil, the caller must open a
// connection and then call dialed. Errors: the errors of ctx.
func (d *destination) acquire(ctx context.Context) (*http1Conn, error) {
	d.mu.Lock()
	if n := len(d.idle); n > 0 {
		c := d.idle[n-1]
		d.idle[n-1] = nil
		d.idle = d.idle[:n-1]
		d.mu.Unlock()
		d.count.add(-1)
		return c, nil
	}
	if d.dials < maxDials {
		d.dials++
		d.mu.Unlock()
		return nil, nil
	}
	turn := make(chan *http1Conn, 1)
	d.waiting = append(d.waiting, turn)
	d.mu.Unlock()
	patience := time.NewTimer(dialPatience)
	defer patience.Stop()
	select {
	case c := <-turn:
		return c, nil
	case <-patience.C:
		if d.leave(turn) {
			return nil, nil
		}
		return <-turn, nil
	case <-ctx.Done():
		if !d.leave(turn) {
			d.put(<-turn)
		} else {
			d.dialed()
		}
		return nil, context.Cause(ctx)
	}
}

// leave removes a request from the queue, to open a connection. It returns false if the
// request has already received its connection.
func (d *destination) leave(turn chan *http1Conn) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := slices.Index(d.waiting, turn)
	if n < 0 {
		return false
	}
	d.waiting = slices.Delete(d.waiting, n, n+1)
	d.dials++
	return true
}

// dialed ends the opening of a connection, successful or not. The next request in the
// queue may then open a connection.
func (d *destination) dialed() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.dials > maxDials || !d.hand(nil) {
		d.dials--
	}
}

// hand gives a connection, or nil, to the first request in the queue. It returns false if
// the queue is empty. The caller holds the mutex.
func (d *destination) hand(c *http1Conn) bool {
	if len(d.waiting) == 0 {
		return false
	}
	d.waiting[0] <- c
	d.waiting = slices.Delete(d.waiting, 0, 1)
	return true
}

// put gives a connection to the first request in the queue, or keeps it as idle. It
// closes the connection if enough are idle. A nil connection is the permission to open a
// connection. put passes it on.
func (d *destination) put(c *http1Conn) {
	if c == nil {
		d.dialed()
		return
	}
	d.mu.Lock()
	handed := d.hand(c)
	kept := !handed && !d.closed && len(d.idle) < d.pool.maxIdle && !d.count.exceeds(1)
	if kept {
		d.idle = append(d.idle, c)
		d.count.add(1)
	}
	d.mu.Unlock()
	switch {
	case kept:
		d.retain()
	case !handed:
		c.close()
	}
}

// retain makes the pool keep the destination until it has no connections.
func (d *destination) retain() {
	d.mu.Lock()
	first := !d.retained
	d.retained = true
	d.mu.Unlock()
	if first {
		d.pool.retain(d)
	}
}

// expire removes the connections that were last used before a time. It reports
// whether no connections are left.
func (d *destination) expire(before time.Time) (old []*http1Conn, empty bool) {
	http2Empty := d.shared.prune()
	d.mu.Lock()
	defer d.mu.Unlock()
	n := 0
	for n < len(d.idle) && d.idle[n].lastUsed.Before(before) {
		n++
	}
	old, d.idle = d.idle[:n], append(d.idle[:0:0], d.idle[n:]...)
	d.count.add(-n)
	d.retained = len(d.idle) > 0 || !http2Empty
	return old, !d.retained
}

// close closes the idle connections. Other connections close after their requests.
func (d *destination) close() {
	d.shared.close()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	for _, c := range d.idle {
		c.close()
	}
	d.count.add(-len(d.idle))
	d.idle = nil
}
