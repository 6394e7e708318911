package jetstream

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/gridhook/gridhook/storage"
)

// A copy ends at the last message if messages after it have expired meanwhile.
func TestCopyLog_ExpiredEnd(t *testing.T) {
	b := newBus(t, t.TempDir())
	for _, id := range []string{"fb_1", "fb_2"} {
		if err := b.PutFeedback(within(t), storage.Feedback{ID: id}); err != nil {
			t.Fatal(err)
		}
	}
	copied := 0
	const expired = 10 // the last sequence before messages expired
	last, err := b.copyLog(within(t), Content{Stream: feedbackStream}, expired, func(batch []Raw) error {
		copied += len(batch)
		return nil
	})
	if err != nil || copied != 2 || last != 2 {
		t.Errorf("%d messages up to %d, %v, want 2 up to 2", copied, last, err)
	}
}

// A copy whose receiver applies messages slowly has not stopped.
func TestCopy_SlowReceiver(t *testing.T) {
	t.Parallel()
	b := newBus(t, t.TempDir())
	if _, err := b.Accept(within(t), newTrigger("org")); err != nil {
		t.Fatal(err)
	}
	var position atomic.Uint64
	var applying atomic.Bool
	applying.Store(true)
	ctx, cancel := context.WithTimeout(t.Context(), 5*quiet/2)
	defer cancel()
	position.Store(1)
	if err := b.awaitEnd(ctx, triggersStream, &position, &applying); err != nil {
		t.Errorf("while the receiver applies a message the copy ends with %v", err)
	}
}
