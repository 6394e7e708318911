package api

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

type withinKey struct{}

func newWithin(request context.Context) *within {
	return &within{request: request, until: time.Now().Add(time.Minute)}
}

func TestWithinEnds(t *testing.T) {
	for name, tt := range map[string]struct {
		end  func(c *within, request context.CancelFunc)
		want error
	}{
		"at its time":                        {func(*within, context.CancelFunc) { <-time.After(time.Minute) }, context.DeadlineExceeded},
		"with the request":                   {func(_ *within, request context.CancelFunc) { request() }, context.Canceled},
		"when the operation has":             {func(c *within, _ context.CancelFunc) { c.end() }, context.Canceled},
		"when the operation has, for others": {func(c *within, _ context.CancelFunc) { _ = c.Done(); c.end() }, context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				request, cancel := context.WithCancel(context.WithValue(t.Context(), withinKey{}, "mine"))
				defer cancel()
				c := newWithin(request)
				defer c.end()
				if c.Err() != nil || c.Value(withinKey{}) != "mine" {
					t.Fatalf("it begins with %v, and has %v", c.Err(), c.Value(withinKey{}))
				}
				derived, done := context.WithCancel(c)
				defer done()
				tt.end(c, cancel)
				<-c.Done()
				<-derived.Done()
				if !errors.Is(c.Err(), tt.want) || !errors.Is(derived.Err(), tt.want) || !errors.Is(context.Cause(c), tt.want) {
					t.Errorf("it ended with %v, what is derived of it with %v, want %v", c.Err(), derived.Err(), tt.want)
				}
			})
		})
	}
}

// What is over when it is first looked at is over all the same.
func TestWithinThatNobodyWaitedBy(t *testing.T) {
	c := newWithin(t.Context())
	c.end()
	if !errors.Is(c.Err(), context.Canceled) {
		t.Errorf("after its end it says %v", c.Err())
	}
}

func TestWithinKnowsTheSoonerDeadline(t *testing.T) {
	c := newWithin(t.Context())
	defer c.end()
	if at, ok := c.Deadline(); !ok || !at.Equal(c.until) {
		t.Errorf("it ends at %v", at)
	}
	soon, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	want, _ := soon.Deadline()
	sooner := newWithin(soon)
	defer sooner.end()
	if at, ok := sooner.Deadline(); !ok || !at.Equal(want) {
		t.Errorf("it ends at %v, and the request at %v", at, want)
	}
}
