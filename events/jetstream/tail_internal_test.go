package jetstream

import "testing"

// Messages are gathered once and in order, in batches of limited size, at any speed of
// the producer and the consumer.
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
			t.Fatalf("batch has %d messages", len(batch))
		}
		for _, v := range batch {
			if v != 1000+next {
				t.Fatalf("got message %d, want %d", v, next)
			}
			next++
		}
	}
}
