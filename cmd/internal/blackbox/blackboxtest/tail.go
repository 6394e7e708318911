package blackboxtest

import "sync"

// Tail stores the end of its input.
type Tail struct {
	mu sync.Mutex
	b  []byte
}

const tailKept = 64 << 10

// Write appends to the tail. It never fails.
func (t *Tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, p...)
	if len(t.b) > 2*tailKept {
		t.b = append(t.b[:0], t.b[len(t.b)-tailKept:]...)
	}
	return len(p), nil
}

// Last returns the last n bytes.
func (t *Tail) Last(n int) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.b[max(0, len(t.b)-n):])
}
