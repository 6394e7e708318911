package signals

import "sync"

// cache holds values up to a limit on the sum of their sizes. A full cache drops half of
// its values, in the random order of the map. The keys hold revisions and windows, so old
// entries are never read again. A revision names one write during the life of the process
// (see replica.ErrLogReplaced).
type cache[K comparable, V any] struct {
	mu          sync.RWMutex
	limit, held int
	size        func(K) int
	// entries has a function for each key. Its first call computes the value, while other
	// callers wait.
	entries map[K]func() (V, error)
}

// newCache returns a cache of limit values.
func newCache[K comparable, V any](limit int) *cache[K, V] {
	return newSizedCache[K, V](limit, func(K) int { return 1 })
}

// newSizedCache returns a cache whose values have sizes, in the unit of limit.
func newSizedCache[K comparable, V any](limit int, size func(K) int) *cache[K, V] {
	return &cache[K, V]{limit: limit, size: size, entries: map[K]func() (V, error){}}
}

// peek returns the value of a key if it is cached. Unlike get it allocates nothing.
func (c *cache[K, V]) peek(key K) (value V, ok bool) {
	c.mu.RLock()
	cached := c.entries[key]
	c.mu.RUnlock()
	if cached == nil {
		return value, false
	}
	value, err := cached()
	return value, err == nil
}

// get returns the cached value of a key, or computes and caches it with make. It does not
// cache errors and panics.
func (c *cache[K, V]) get(key K, make func() (V, error)) (value V, err error) {
	computed := false
	defer func() {
		if !computed || err != nil {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.drop(key)
		}
	}()
	value, err = c.entry(key, make)()
	computed = true
	return value, err
}

// entry returns the function of a key, a new one if there is none.
func (c *cache[K, V]) entry(key K, make func() (V, error)) func() (V, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if cached := c.entries[key]; cached != nil {
		return cached
	}
	if size := c.size(key); c.held+size > c.limit {
		for old := range c.entries {
			if c.held+size <= c.limit/2 {
				break
			}
			c.drop(old)
		}
	}
	cached := sync.OnceValues(make)
	c.entries[key], c.held = cached, c.held+c.size(key)
	return cached
}

// drop removes a key, if present. Callers hold mu.
func (c *cache[K, V]) drop(key K) {
	if c.entries[key] != nil {
		delete(c.entries, key)
		c.held -= c.size(key)
	}
}
