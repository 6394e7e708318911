package signals

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
)

func TestCache_Evicts(t *testing.T) {
	c := newCache[int, int](10)
	made := 0
	get := func(k int) int {
		v, err := c.get(k, func() (int, error) { made++; return 2 * k, nil })
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for range 3 {
		if get(1) != 2 || made != 1 {
			t.Fatalf("%d values were computed for one key", made)
		}
	}
	for k := range 1000 {
		if get(k) != 2*k || len(c.entries) > 10 {
			t.Fatalf("key %d, %d values cached", k, len(c.entries))
		}
	}
	if get(999); made != 1000 {
		t.Errorf("%d values were computed, want 1000: the newest stays cached", made)
	}
	broken := errors.New("broken")
	for range 2 {
		if _, err := c.get(-1, func() (int, error) { made++; return 0, broken }); !errors.Is(err, broken) {
			t.Errorf("got %v", err)
		}
	}
	if made != 1002 {
		t.Errorf("%d values were computed, want 1002: an error is not cached", made)
	}
	get(7)
	if v, ok := c.peek(7); !ok || v != 14 {
		t.Errorf("the newest is %v, %v", v, ok)
	}
	if _, ok := c.peek(-1); ok {
		t.Error("a failed value is cached")
	}
}

// TestCache_Sizes checks that a value counts by its size, even a value that is larger
// than the limit.
func TestCache_Sizes(t *testing.T) {
	size := func(k int) int {
		if k < 0 {
			return -k
		}
		return 1 + k%31
	}
	c := newSizedCache[int, int](100, size)
	held := func() (sum int) {
		for k := range c.entries {
			sum += size(k)
		}
		return sum
	}
	for k := range 1000 {
		if v, err := c.get(k, func() (int, error) { return k, nil }); v != k || err != nil {
			t.Fatalf("key %d is %d (%v)", k, v, err)
		}
		if sum := held(); sum > 100 || sum != c.held {
			t.Fatalf("after key %d values of %d are cached, and %d counted", k, sum, c.held)
		}
	}
	if _, err := c.get(-250, func() (int, error) { return 0, nil }); err != nil || len(c.entries) != 1 || c.held != 250 {
		t.Errorf("a value of 250 is cached with %d others, and %d are counted (%v)", len(c.entries)-1, c.held, err)
	}
	if _, err := c.get(-1, func() (int, error) { return 1, nil }); err != nil || c.held != 1 || held() != 1 {
		t.Errorf("after it %d are counted (%v)", c.held, err)
	}
}

// TestCache_ComputesOnce checks that concurrent callers wait for the first, which
// computes the value.
func TestCache_ComputesOnce(t *testing.T) {
	c := newCache[int, int](10)
	var made atomic.Int64
	var all sync.WaitGroup
	begin := make(chan struct{})
	for range 8 {
		all.Go(func() {
			v, err := c.get(7, func() (int, error) { made.Add(1); <-begin; return 49, nil })
			if v != 49 || err != nil {
				t.Errorf("got %v, %v", v, err)
			}
		})
	}
	close(begin)
	if all.Wait(); made.Load() != 1 {
		t.Errorf("the value was computed %d times", made.Load())
	}
}

// TestCache_Panic checks that a value whose computation panics is not cached.
func TestCache_Panic(t *testing.T) {
	c := newCache[int, *int](10)
	func() {
		defer func() { _ = recover() }()
		_, _ = c.get(1, func() (*int, error) { panic("made badly") })
	}()
	if v, err := c.get(1, func() (*int, error) { return new(int), nil }); v == nil || err != nil {
		t.Errorf("the next caller gets %v, %v, want a new computation", v, err)
	}
}
