package httpclient

import (
	"context"
	"sync"
)

// A context keeps a list of what ends with it, under a mutex that all its requests share. To
// enter each request there takes about a microsecond. A goroutine that makes one request
// after the other needs a single entry.

// InTurn returns a context for requests that are made one after the other, and ends with
// ctx. The caller calls done after the last request.
func InTurn(ctx context.Context) (inTurn context.Context, done func() bool) {
	t := &turn{ends: ctx.Done()}
	t.unbind = t.leave
	return context.WithValue(ctx, turnKey{}, t), context.AfterFunc(ctx, t.cut)
}

type turnKey struct{}

// turn ends the connection of the current request.
type turn struct {
	ends   <-chan struct{}
	unbind func() bool // leave, allocated once

	mu      sync.Mutex
	current *http1Conn // nil between requests
	ended   bool
}

// turnOf returns the turn of a context. It returns nil if there is none, or the context may
// end earlier.
func turnOf(ctx context.Context) *turn {
	if t, ok := ctx.Value(turnKey{}).(*turn); ok && t.ends == ctx.Done() {
		return t
	}
	return nil
}

// enter begins a request. It returns false during another request.
func (t *turn) enter(c *http1Conn) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.current != nil {
		return false
	}
	if t.current = c; t.ended {
		c.cut()
	}
	return true
}

// leave ends a request, and reports whether the context is still active.
func (t *turn) leave() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.current = nil
	return !t.ended
}

// cut ends the current request and all later ones.
func (t *turn) cut() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended = true; t.current != nil {
		t.current.cut()
	}
}
