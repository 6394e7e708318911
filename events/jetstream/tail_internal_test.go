package jetstream

import "testing"

// What arrives is gathered once, in order, at most
// a batch at a time, however fast either side is.
func TestGather_KeepsTheOrder(t *testing.T) {
	t.Parallel()
	inbox := make(chan int, tailBuffer)
	const n = 2*tailBatch + 7
	go func() {
		for i := range n {
			inbox <- 1000 + i
		}
	}()
	for next := 0; next < n; {
		batch := gather(<-inbox, inbox)
		if len(batch) > tailBatch {
			t.Fatalf("%d messages in a batch", len(batch))
		}
		for _, v := range batch {
			if v != 1000+next {
				t.Fatalf("message %d arrives where %d is next", v, next)
			}
			next++
		}
	}
}
