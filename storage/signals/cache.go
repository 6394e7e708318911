package signals

import (
	"errors"
	"sync"
	"sync/atomic"
)

// cache keeps up to limit values. When it is full it forgets half of them, which
// ones is left to the map's order: the keys hold revisions and windows, so old
// entries are never asked for again.
type cache[K comparable, V any] struct {
	mu      sync.RWMutex
	limit   int
	entries map[K]*entry[V]
}

// entry is a value that whoever asks first makes, while others wait for it.
type entry[V any] struct {
	once  sync.Once
	value atomic.Pointer[V]
	err   error
}

func newCache[K comparable, V any](limit int) *cache[K, V] {
	return &cache[K, V]{limit: limit, entries: make(map[K]*entry[V])}
}

// peek returns the value of a key if it is kept.
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

// errUnmade is left where making a value panicked.
var errUnmade = errors.New("signals: a value could not be made")

// get returns the value of a key, made by make where it is not kept. An error
// is returned and not kept.
func (c *cache[K, V]) get(key K, make func() (V, error)) (V, error) {
	e := c.entry(key)
	e.once.Do(func() {
		e.err = errUnmade
		var value V
		if value, e.err = make(); e.err == nil {
			e.value.Store(&value)
		}
	})
	if made := e.value.Load(); made != nil {
		return *made, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.entries[key] == e {
		delete(c.entries, key)
	}
	var none V
	return none, e.err
}

// entry is the entry of a key, a new one where there is none.
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
	if len(c.entries) >= c.limit {
		for k := range c.entries {
			if delete(c.entries, k); len(c.entries) <= c.limit/2 {
				break
			}
		}
	}
	e = &entry[V]{}
	c.entries[key] = e
	return e
}
