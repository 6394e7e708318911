package jetstream

import (
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
