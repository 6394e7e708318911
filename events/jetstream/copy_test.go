package jetstream

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/nats-io/nuid"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// A copy does not wait for messages that have expired meanwhile. It keeps their sequences.
func TestCopyLog_ExpiredEnd(t *testing.T) {
	b := newBus(t, t.TempDir())
	for _, id := range []string{"fb_1", "fb_2"} {
		if err := b.PutFeedback(within(t), storage.Feedback{ID: id}); err != nil {
			t.Fatal(err)
		}
	}
	copied := 0
	const expired = 10 // the last sequence before messages expired
	last, err := b.copyLog(within(t), Content{Stream: feedbackStream}, expired, func(Raw) error {
		copied++
		return nil
	})
	if err != nil || copied != 2 || last != expired {
		t.Errorf("%d messages up to %d, %v, want 2 up to %d", copied, last, err, expired)
	}
}

// A copy continues after the last copied message if the server has lost its consumer, for
// example while the receiver applied a message slowly.
func TestCopyLog_Interrupted(t *testing.T) {
	b, messages := newScanned(t)
	s, err := b.handle(within(t), walksStream)
	if err != nil {
		t.Fatal(err)
	}
	next := uint64(1)
	last, err := b.copyLog(within(t), Content{Stream: walksStream}, uint64(messages), func(m Raw) error {
		if m.Sequence != next {
			t.Errorf("message %d came instead of message %d", m.Sequence, next)
		}
		if next = m.Sequence + 1; m.Sequence != scanBatch {
			return nil
		}
		for name := range s.ConsumerNames(within(t)).Name() {
			if err := s.DeleteConsumer(within(t), name); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || last != uint64(messages) {
		t.Errorf("the copy ends at %d with %v, want %d", last, err, messages)
	}
}

// A copy ends although a message arrives with each that it reads.
func TestCopyLog_SteadyWrites(t *testing.T) {
	b := newBus(t, t.TempDir())
	written := 0
	write := func(slice int) {
		written++
		_, err := b.publish(within(t), knownSubject("org", "ep", slice), struct{}{})
		must(t, err)
	}
	for _, slice := range []int{1, 2, 1} { // the first is replaced
		write(slice)
	}
	copied := 0
	last, err := b.copyLog(within(t), Content{Stream: knownStream, Latest: true}, uint64(written), func(Raw) error {
		copied++
		write(100 + written)
		return nil
	})
	if err != nil || copied != 4 || last != 5 {
		t.Errorf("%d messages up to %d, %v, want 4 up to 5", copied, last, err)
	}
}

// The copy of a queue ends although a message arrives with each that it reads. It has the
// messages that get a new sequence during the copy, because they are due.
func TestCopy_BusyQueue(t *testing.T) {
	b := newBus(t, t.TempDir())
	written := 0
	write := func() {
		written++
		_, err := b.publish(within(t), retryDuePrefix+walksLane+"."+nuid.Next(), struct{}{})
		must(t, err)
	}
	write()
	write()
	copied := 0
	_, err := b.Copy(within(t), Content{Stream: retriesStream, Queue: true}, func(Raw) error {
		if copied++; copied == 100 {
			return errors.New("the copy does not end")
		}
		write()
		return nil
	})
	if err != nil || copied != 4 {
		t.Errorf("%d messages, %v, want the 2 at the start and the 2 that arrived meanwhile", copied, err)
	}
}

// A watch whose handle is too slow holds a limited number of messages, and its end returns an
// error.
func TestWatchQueues_SlowHandle(t *testing.T) {
	limit := watchedBytes
	watchedBytes = 1 << 10
	defer func() { watchedBytes = limit }()
	b := newBus(t, t.TempDir())
	blocked := make(chan struct{})
	stop, err := b.WatchQueues(func(string, Raw) { <-blocked })
	if err != nil {
		t.Fatal(err)
	}
	for n := range 20 {
		if err := b.PutTask(within(t), events.Task{TaskName: events.TaskName{Kind: events.TaskRetry, OrganizationID: "org", ID: fmt.Sprint("msg_", n)}, Body: []byte(`{}`)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.nc.Flush(); err != nil {
		t.Fatal(err)
	}
	close(blocked)
	if err := stop(); err == nil || !strings.Contains(err.Error(), "read too slowly") {
		t.Errorf("the end of the watch returns %v", err)
	}
}
