package jetstream

import "sync"

// crew counts the slots of a queue: while nothing comes one waits for it, as each that
// waits asks the server again and again; while there is room, one always does.
type crew struct {
	slots int // at most

	mu               sync.Mutex
	running, waiting int
}

// begins counts the first slot.
func (c *crew) begins() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running, c.waiting = c.running+1, c.waiting+1
}

// took says that a slot that waited has got something, and reports whether another is to
// wait in its place, which is then counted.
func (c *crew) took() (more bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting--
	if more = c.waiting == 0 && c.running < c.slots; more {
		c.running, c.waiting = c.running+1, c.waiting+1
	}
	return more
}

// waits says that a slot waits again.
func (c *crew) waits() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting++
}

// mayLeave reports whether a slot to which nothing came is one too many. It is not
// counted any more then.
func (c *crew) mayLeave() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	leaves := c.waiting > 1
	if leaves {
		c.running, c.waiting = c.running-1, c.waiting-1
	}
	return leaves
}
