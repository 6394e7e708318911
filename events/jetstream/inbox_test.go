package jetstream

import (
	"context"
	"testing"
	"testing/synctest"
)

// What is put comes out once, in order, with the place of the last, in no more at once
// than a batch may have, however fast either side is.
func TestInboxKeepsTheOrder(t *testing.T) {
	t.Parallel()
	b := newInbox[int]()
	const n = 4*tailBatch + 7
	go func() {
		for i := range n {
			b.put(t.Context(), numbered[int]{sequence: uint64(1000 + i), value: i})
		}
	}()
	next := 0
	for next < n {
		<-b.arrived
		batch, last := b.take()
		if len(batch) > tailBatch {
			t.Fatalf("%d at once", len(batch))
		}
		for _, v := range batch {
			if v != next {
				t.Fatalf("%d comes where %d is next", v, next)
			}
			next++
		}
		if len(batch) > 0 && last != uint64(1000+next-1) {
			t.Fatalf("the last of them is said to be %d, and is %d", last, 1000+next-1)
		}
		b.applied(batch)
	}
	if batch, _ := b.take(); len(batch) != 0 {
		t.Errorf("%v are left", batch)
	}
}

// Where nobody takes, putting waits, and ends with its context.
func TestInboxHoldsNoMoreThanABatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newInbox[int]()
		ctx, cancel := context.WithCancel(t.Context())
		put := 0
		go func() {
			for ctx.Err() == nil {
				b.put(ctx, numbered[int]{sequence: uint64(put + 1), value: put})
				put++
			}
		}()
		synctest.Wait()
		if put != tailBatch {
			t.Fatalf("%d were put where there is room for %d", put, tailBatch)
		}
		if batch, last := b.take(); len(batch) != tailBatch || last != tailBatch {
			t.Fatalf("%d are taken, the last at %d", len(batch), last)
		}
		synctest.Wait()
		if put != 2*tailBatch {
			t.Fatalf("%d were put after there was room again", put)
		}
		cancel()
		synctest.Wait()
	})
}
