package signals

import (
	"errors"
	"sync"
	"sync/atomic"
)

// cache holds values up to a limit on the sum of their sizes. A full cache drops half of
// its values, in the random order of the map. The keys hold revisions and windows, so old
// entries are never read again. A revision names one write during the life of the process
// (see replica.ErrLogReplaced).
type cache[K comparable, V any] struct {
	mu          sync.RWMutex
	limit, held int
	size        func(V) int
	entries     map[K]*entry[V]
}

// entry is a value that the first caller computes while other callers wait. Its size is 1
// until it is computed.
type entry[V any] struct {
	once  sync.Once
	value atomic.Pointer[V]
	size  int
	err   error
}

// newCache returns a cache of limit values.
func newCache[K comparable, V any](limit int) *cache[K, V] {
	return newSizedCache[K](limit, func(V) int { return 1 })
}

// newSizedCache returns a cache whose values have sizes of 1 or more, in the unit of
// limit.
func newSizedCache[K comparable, V any](limit int, size func(V) int) *cache[K, V] {
	return &cache[K, V]{limit: limit, size: size, entries: make(map[K]*entry[V])}
}

// peek returns the value of a key if it is cached.
func (c *cache[K, V]) peek(key K) (value V, ok bool) {
	c.mu.RLock()
	e := c.entries[key]
	c.mu.RUnlock()
	if e == nil {
		return value, false
	}
	if made := e.value.Load(); made != nil {
		return *made, true
	}
	return value, false
}

// errUnmade is the error after a panic in the computation of a value.
var errUnmade = errors.New("signals: a value could not be made")

// get returns the cached value of a key, or computes and caches it with make. It does not
// cache errors.
func (c *cache[K, V]) get(key K, make func() (V, error)) (V, error) {
	e := c.entry(key)
	e.once.Do(func() {
		e.err = errUnmade
		var value V
		if value, e.err = make(); e.err == nil {
			e.value.Store(&value)
			c.grow(key, e, c.size(value))
		}
	})
	if made := e.value.Load(); made != nil {
		return *made, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.entries[key] == e {
		c.drop(key, e)
	}
	var none V
	return none, e.err
}

// grow counts the size of a computed value beyond 1. A value that does not fit beside
// others is cached alone.
func (c *cache[K, V]) grow(key K, e *entry[V], size int) {
	if size == 1 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.entries[key] != e {
		return // dropped meanwhile
	}
	c.makeRoom(size-e.size, e)
	c.held, e.size = c.held+size-e.size, size
}

// makeRoom drops values, except the entry but, if size does not fit in the limit. It
// stops when size fits in half of the limit.
func (c *cache[K, V]) makeRoom(size int, but *entry[V]) {
	if c.held+size <= c.limit {
		return
	}
	for k, e := range c.entries {
		if c.held+size <= c.limit/2 {
			return
		}
		if e != but {
			c.drop(k, e)
		}
	}
}

func (c *cache[K, V]) drop(key K, e *entry[V]) {
	delete(c.entries, key)
	c.held -= e.size
}

// entry returns the entry of a key, a new entry if there is none.
func (c *cache[K, V]) entry(key K) *entry[V] {
	c.mu.RLock()
	e := c.entries[key]
	c.mu.RUnlock()
	if e != nil {
		return e
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if e = c.entries[key]; e != nil {
		return e
	}
	c.makeRoom(1, nil)
	e = &entry[V]{size: 1}
	c.entries[key], c.held = e, c.held+1
	return e
}
