package jetstream

import "sync"

// crew counts the slots of a queue. A waiting slot polls the server continuously, so only
// one slot waits on an empty queue. While a slot is available, one always waits.
type crew struct {
	slots int // maximum

	mu               sync.Mutex
	running, waiting int
}

// begins counts the first slot.
func (c *crew) begins() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running, c.waiting = c.running+1, c.waiting+1
}

// took records that a waiting slot received a message. It reports whether the caller must
// start another slot, and counts that slot.
func (c *crew) took() (more bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting--
	if more = c.waiting == 0 && c.running < c.slots; more {
		c.running, c.waiting = c.running+1, c.waiting+1
	}
	return more
}

// waits records that a slot waits again.
func (c *crew) waits() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting++
}

// mayLeave reports whether an idle slot is superfluous, and stops counting that slot.
func (c *crew) mayLeave() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	leaves := c.waiting > 1
	if leaves {
		c.running, c.waiting = c.running-1, c.waiting-1
	}
	return leaves
}
