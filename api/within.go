package api

import (
	"context"
	"sync"
	"time"
)

// within is a context that ends at a time. What that takes, a timer and a place with
// the request's own context, is made for whoever waits by it: most operations look
// something up and never do.
type within struct {
	request context.Context //nolint:containedctx // it is one
	until   time.Time

	mu     sync.Mutex
	timed  context.Context //nolint:containedctx // nil before somebody asked for it
	cancel context.CancelFunc
	ended  bool
}

var _ context.Context = (*within)(nil)

// context is the context that has the timer.
func (c *within) context() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timed == nil {
		c.timed, c.cancel = context.WithDeadline(c.request, c.until)
		if c.ended {
			c.cancel()
		}
	}
	return c.timed
}

// end ends the context, which is over for all that it was handed to.
func (c *within) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended = true; c.cancel != nil {
		c.cancel()
	}
}

func (c *within) Deadline() (time.Time, bool) { return c.context().Deadline() }
func (c *within) Done() <-chan struct{}       { return c.context().Done() }
func (c *within) Err() error                  { return c.context().Err() }

// Value is the request's, or once there is a timer that of its context, by which those
// derived from it know that they end with it.
func (c *within) Value(key any) any {
	c.mu.Lock()
	from := c.timed
	c.mu.Unlock()
	if from == nil {
		from = c.request
	}
	return from.Value(key)
}
