package jetstream

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/replica"
	"github.com/gridhook/gridhook/storage/storagetest"
)

// newReplica opens a replica of the log and follows it until the test ends.
func newReplica(t *testing.T, log storage.Log, path string) *replica.Replica {
	t.Helper()
	r, err := replica.Open(path, discard)
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- r.Follow(ctx, log) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("replica ended with %v", err)
		}
		must(t, r.Close())
	})
	return r
}

func TestStateLog_Conformance(t *testing.T) {
	b := newBus(t, t.TempDir())
	log := b.StateLog()
	storagetest.Conformance(t, log, newReplica(t, log, filepath.Join(t.TempDir(), "state.db")))
}

// A record that was written by a clock ahead has the time at which the server stored it. So
// replicas keep tombstones that have not expired.
func TestStateLog_ClockAhead(t *testing.T) {
	t.Parallel()
	b := newBus(t, t.TempDir())
	log := b.StateLog()
	mark := storage.ErasureRef("gone")
	_, err := log.Append(within(t), storage.Write{Ref: mark, Deleted: true, Forget: true, At: time.Now()})
	must(t, err)
	last, err := log.Append(within(t), storage.Write{Ref: storage.OrganizationRef("acme"), Value: []byte(`{}`), At: time.Now().AddDate(1, 0, 0)})
	must(t, err)
	r := newReplica(t, log, filepath.Join(t.TempDir(), "state.db"))
	must(t, r.WaitFor(within(t), last))
	must(t, r.View(func(v storage.View) error {
		if _, err := v.Get(mark); err != nil {
			t.Errorf("the mark of a deleted organization: %v", err)
		}
		written, err := v.Get(storage.OrganizationRef("acme"))
		if err != nil || time.Until(written.At) > time.Minute {
			t.Errorf("the record is of %s, %v", written.At, err)
		}
		return nil
	}))
}

// A tombstone expires when the server removes it, whatever the clock of its writer shows.
func TestStateLog_ExpiryOfWrongClock(t *testing.T) {
	t.Parallel()
	b := newBus(t, t.TempDir())
	ref := storage.KindHome.Ref("org", "gone")
	for i, years := range []int{1, -1} {
		w := storage.Write{Ref: ref, Expect: uint64(i), Deleted: true, Forget: true, At: time.Now().AddDate(years, 0, 0)}
		_, err := b.StateLog().Append(within(t), w)
		must(t, err)
		r, err := b.StateLog().Read(within(t), ref)
		if left := time.Until(r.Expires); err != nil || left > deletionsAge || left < deletionsAge-time.Minute {
			t.Errorf("with a clock %d years ahead the tombstone expires in %s, %v", years, left, err)
		}
	}
}

// The log removes tombstones after their retention, whether they are written alone or in a
// batch. The mark of a deleted organization outlives all that may still come from it.
func TestStateLog_RetentionOfTombstones(t *testing.T) {
	t.Parallel()
	b := newBus(t, t.TempDir())
	erasure := max(deletionsAge, triggersAge, receiptsAge) + events.LongestRetry
	for name, c := range map[string]struct {
		ref    storage.Ref
		forget bool
		want   string
	}{
		"home":         {storage.KindHome.Ref("org", "home"), true, deletionsAge.String()},
		"kept":         {storage.KindHome.Ref("org", "kept"), false, ""},
		"organization": {storage.ErasureRef("org"), true, erasure.String()},
	} {
		w := storage.Write{Ref: c.ref, Deleted: true, Forget: c.forget, At: time.Now()}
		other := storage.Write{Ref: storage.KindHome.Ref("other", name), Value: []byte(`{}`), At: time.Now()}
		for _, before := range [][]storage.Write{nil, {other}} {
			batch := append(before, w)
			revision, err := b.StateLog().AppendBatch(within(t), batch)
			must(t, err)
			m, err := b.lastMessage(within(t), stateStream, stateSubject(c.ref))
			must(t, err)
			if got := m.Header.Get(jetstream.MsgTTLHeader); got != c.want || m.Sequence != revision {
				t.Errorf("%s, in a batch of %d: the retention is %q at revision %d, want %q at %d", name, len(batch), got, m.Sequence, c.want, revision)
			}
			w.Expect = revision
		}
	}
}

// A write without a response is sent again. If it then conflicts with itself, it is no
// conflict.
func TestStateLog_WriteWithoutResponse(t *testing.T) {
	t.Parallel()
	b := newBus(t, t.TempDir())
	b.publishWait = time.Second
	ref := storage.KindHome.Ref("org", "h")
	type result struct {
		revision uint64
		err      error
	}
	unanswered := func(w storage.Write) (r result) {
		t.Helper()
		b.wire.holdUntil("HPUB "+stateSubject(w.Ref), 2) // sent, without a response, and sent again
		r.revision, r.err = b.StateLog().Append(within(t), w)
		return r
	}
	first := unanswered(storage.Write{Ref: ref, At: noon, Value: []byte(`1`)})
	if first.err != nil || first.revision != 1 {
		t.Errorf("create: %+v", first)
	}
	second := unanswered(storage.Write{Ref: ref, Expect: first.revision, At: noon, Value: []byte(`2`)})
	if second.err != nil || second.revision != 2 {
		t.Errorf("update: %+v", second)
	}
	rival := unanswered(storage.Write{Ref: ref, Expect: first.revision, At: noon, Value: []byte(`3`)})
	if !errors.Is(rival.err, storage.ErrConflict) {
		t.Errorf("real conflict: %+v", rival)
	}
}

func TestStateLog_Restart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := newBus(t, dir)
	for i := range 10 {
		_, err := b.StateLog().Append(within(t), storage.Write{Ref: storage.KindHome.Ref("org", fmt.Sprint("h", i)), At: noon, Value: []byte(`{}`)})
		must(t, err)
	}
	before, err := b.StateLog().State(within(t))
	must(t, err)
	b.stop()
	b = newBus(t, dir)
	after, err := b.StateLog().State(within(t))
	if err != nil || after.Last != 10 {
		t.Errorf("log ends at %d, %v", after.Last, err)
	}
	if after.Identity != before.Identity {
		t.Errorf("identity was %q and is %q", before.Identity, after.Identity)
	}
}

func TestStateLog_NewerVersion(t *testing.T) {
	t.Parallel()
	b := newBus(t, t.TempDir())
	_, err := b.js.Publish(within(t), stateSubject(storage.KindHome.Ref("org", "h")), []byte(`{"v":99,"at":0}`))
	must(t, err)
	err = b.StateLog().Tail(within(t), 0, func([]storage.Record) error { t.Error("record of a newer version was applied"); return nil })
	if err == nil || !errors.Is(err, ErrNewerSchema) {
		t.Errorf("tail ended with %v", err)
	}
}

// tailReceipts reads receipts up to a sequence.
func tailReceipts(t *testing.T, c *Conn, after, until uint64, fn func(events.Sequenced[events.Receipt])) {
	t.Helper()
	enough := errors.New("enough")
	err := c.TailReceipts(within(t), after, func(batch []events.Sequenced[events.Receipt]) error {
		for _, r := range batch {
			fn(r)
			if r.Sequence >= until {
				return enough
			}
		}
		return nil
	})
	if !errors.Is(err, enough) {
		t.Fatalf("tail ended with %v", err)
	}
}

func TestTail_Resume(t *testing.T) {
	t.Parallel()
	b := newBus(t, t.TempDir())
	tr := newTrigger("org")
	for i := range 10 {
		must(t, b.PutReceipt(within(t), newReceipt(tr, fmt.Sprint("s", i))))
	}
	var got []string
	tailReceipts(t, b.Conn, 7, 10, func(r events.Sequenced[events.Receipt]) { got = append(got, fmt.Sprint(r.Sequence, r.Value.Key)) })
	if want := "8s7 9s8 10s9"; strings.Join(got, " ") != want {
		t.Errorf("receipts after 7 are %v, want %s", got, want)
	}
}

// A tail survives broken connections, in order and without gaps.
func TestTail_Reconnect(t *testing.T) {
	t.Parallel()
	b := newBus(t, t.TempDir())
	other, err := Connect(within(t), "", streamOptions, discard, b.server.Option())
	must(t, err)
	defer other.Close()
	got := make(chan uint64, 100)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- b.TailTriggers(ctx, 0, func(batch []events.Sequenced[events.Trigger]) error {
			for _, tr := range batch {
				got <- tr.Sequence
			}
			return nil
		})
	}()
	for i := uint64(1); i <= 9; i++ {
		_, err := other.Accept(within(t), newTrigger("org"))
		must(t, err)
		if i%3 == 0 {
			b.wire.cut()
		}
	}
	for want := uint64(1); want <= 9; want++ {
		select {
		case s := <-got:
			if s != want {
				t.Fatalf("got sequence %d, want %d", s, want)
			}
		case err := <-done:
			t.Fatalf("tail ended before %d with %v", want, err)
		}
	}
	cancel()
	must(t, receive(t, done))
	if len(got) != 0 {
		t.Errorf("%d more receipts", len(got))
	}
}

// A tail that starts while NATS is unavailable waits for NATS.
func TestTail_StartInOutage(t *testing.T) {
	t.Parallel()
	b := newBus(t, t.TempDir())
	_, err := b.Accept(within(t), newTrigger("org"))
	must(t, err)
	b.wire.setDown(true)
	for b.Connected() {
		runtime.Gosched()
	}
	got := make(chan uint64, 9)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- b.TailTriggers(ctx, 0, func(batch []events.Sequenced[events.Trigger]) error {
			got <- batch[0].Sequence
			return nil
		})
	}()
	select {
	case err := <-done:
		t.Fatalf("tail ended with %v", err)
	case <-time.After(100 * time.Millisecond): // after one attempt
	}
	b.wire.setDown(false)
	if s := receive(t, got); s != 1 {
		t.Errorf("got sequence %d, want 1", s)
	}
	cancel()
	must(t, receive(t, done))
}

// An undecodable record ends the tail. No later record is applied, not even one that has
// already arrived.
func TestTail_UndecodableRecord(t *testing.T) {
	t.Parallel()
	b := newBus(t, t.TempDir())
	tr := newTrigger("org")
	must(t, b.PutReceipt(within(t), newReceipt(tr, "s0")))
	_, err := b.js.Publish(within(t), receiptPrefix+"org.trg.s0", []byte("garbage"), jetstream.WithMsgID("x"))
	must(t, err)
	for i := range 100 {
		must(t, b.PutReceipt(within(t), newReceipt(tr, fmt.Sprint("t", i))))
	}
	for range 5 {
		err := b.TailReceipts(within(t), 0, func(batch []events.Sequenced[events.Receipt]) error {
			if len(batch) != 1 || batch[0].Sequence != 1 {
				t.Errorf("applied %d records from sequence %d", len(batch), batch[0].Sequence)
			}
			<-time.After(100 * time.Millisecond) // the other records arrive meanwhile
			return nil
		})
		if err == nil || !strings.Contains(err.Error(), receiptsStream+": message 2 on the subject gridhook.receipts.org.trg.s0: ") {
			t.Errorf("tail ended with %v", err)
		}
	}
}
