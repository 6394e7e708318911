package jetstream

import "testing"

// What arrives is gathered once, in order, with the place of the last message, at most
// a batch at a time, however fast either side is.
func TestGather_KeepsTheOrder(t *testing.T) {
	t.Parallel()
	inbox := make(chan numbered[int], tailBuffer)
	const n = 2*tailBatch + 7
	go func() {
		for i := range n {
			inbox <- numbered[int]{sequence: uint64(1000 + i), value: i}
		}
	}()
	for next := 0; next < n; {
		batch, last := gather(<-inbox, inbox)
		if len(batch) > tailBatch {
			t.Fatalf("%d messages in a batch", len(batch))
		}
		for _, v := range batch {
			if v != next {
				t.Fatalf("message %d arrives where %d is next", v, next)
			}
			next++
		}
		if last != uint64(1000+next-1) {
			t.Fatalf("the last place is %d, want %d", last, 1000+next-1)
		}
	}
}
