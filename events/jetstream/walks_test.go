package jetstream

import (
	"context"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/pricing"
)

// follower records triggers and positions.
type follower struct {
	mu        sync.Mutex
	sequences []uint64
	slices    map[string]events.WalkPosition
	told      chan struct{}
}

func (f *follower) Accepted(t events.Trigger) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sequences = append(f.sequences, t.Sequence)
	f.told <- struct{}{}
}

func (f *follower) Reached(p events.WalkPosition) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.slices[p.TriggerID] = p
	f.told <- struct{}{}
}

// A follower gets the earlier triggers and the positions of their walks, then the call
// of current, and then later triggers and positions.
func TestFollowWalks_PastAndFuture(t *testing.T) {
	t.Parallel()
	b := newBus(t, t.TempDir())
	accept := func() events.Trigger {
		tr := events.NewTrigger("org", pricing.Window{Start: noon, End: noon}, noon)
		var err error
		tr.Sequence, err = b.Accept(within(t), tr)
		must(t, err)
		return tr
	}
	position := func(tr events.Trigger, slice int, last bool) {
		must(t, b.PutPosition(events.WalkPosition{OrganizationID: "org", TriggerID: tr.ID, Slice: slice, Last: last}))
	}
	first, second := accept(), accept()
	position(first, 0, false)
	position(first, 7, true)
	position(second, 3, false)
	for _, subject := range []string{triggerPrefix + "org.garbage", walkPrefix + "org.garbage"} {
		_, err := b.js.Publish(within(t), subject, []byte("garbage")) // the follower skips it
		must(t, err)
	}
	f := &follower{slices: map[string]events.WalkPosition{}, told: make(chan struct{}, 100)}
	ctx, cancel := context.WithCancel(t.Context())
	current, done := make(chan struct{}), make(chan error, 1)
	go func() { done <- b.FollowWalks(ctx, time.Now().Add(-time.Hour), f, func() { close(current) }) }()
	<-current
	f.mu.Lock()
	if len(f.sequences) != 2 || f.sequences[0] != first.Sequence || f.slices[first.ID].Slice != 7 || !f.slices[first.ID].Last || f.slices[second.ID].Slice != 3 {
		t.Errorf("follower has %v and %v", f.sequences, f.slices)
	}
	f.mu.Unlock()
	for range len(f.told) {
		<-f.told
	}
	third := accept()
	<-f.told
	position(third, 0, true)
	<-f.told
	f.mu.Lock()
	if f.sequences[2] != third.Sequence || !f.slices[third.ID].Last {
		t.Errorf("follower got %v and %v", f.sequences, f.slices)
	}
	f.mu.Unlock()
	cancel()
	must(t, <-done)
}

// A follower gets the positions in a stream that was made again, as for another number of
// replicas. Its sequences begin anew.
func TestFollowWalks_StreamMadeAgain(t *testing.T) {
	t.Parallel()
	b := newBus(t, t.TempDir())
	f := &follower{slices: map[string]events.WalkPosition{}, told: make(chan struct{}, 100)}
	ctx, cancel := context.WithCancel(t.Context())
	current, done := make(chan struct{}), make(chan error, 1)
	go func() { done <- b.FollowWalks(ctx, time.Now().Add(-time.Hour), f, func() { close(current) }) }()
	receive(t, current)
	const positions = 20
	for slice := range positions {
		must(t, b.PutPosition(events.WalkPosition{OrganizationID: "org", TriggerID: "trg_old", Slice: slice}))
		receive(t, f.told)
	}
	must(t, b.js.DeleteStream(within(t), walksStream))
	<-time.After(2 * nakDelay) // in which the follower finds no stream
	must(t, b.makeStream(within(t), b.config(walksStream, streamOptions)))
	must(t, b.PutPosition(events.WalkPosition{OrganizationID: "org", TriggerID: "trg_new", Last: true}))
	receive(t, f.told)
	f.mu.Lock()
	if p := f.slices["trg_new"]; !p.Last {
		t.Errorf("follower has %v", f.slices)
	}
	f.mu.Unlock()
	cancel()
	must(t, <-done)
}

// Following a stream for long starts no goroutine for each message. The test does not run
// in parallel, so that it counts only its own goroutines.
func TestFollowWalks_Goroutines(t *testing.T) {
	b := newBus(t, t.TempDir())
	tr := events.NewTrigger("org", pricing.Window{Start: noon, End: noon}, noon)
	f := &follower{slices: map[string]events.WalkPosition{}, told: make(chan struct{}, 1)}
	ctx, cancel := context.WithCancel(t.Context())
	current, done := make(chan struct{}), make(chan error, 1)
	go func() { done <- b.FollowWalks(ctx, time.Now(), f, func() { close(current) }) }()
	<-current
	const positions = 200
	var before int
	for slice := range positions {
		must(t, b.PutPosition(events.WalkPosition{OrganizationID: "org", TriggerID: tr.ID, Slice: slice}))
		receive(t, f.told)
		if slice == positions/10 {
			before = runtime.NumGoroutine()
		}
	}
	if n := runtime.NumGoroutine(); n > before+positions/10 {
		t.Errorf("%d goroutines after %d messages, %d after %d", n, positions, before, positions/10)
	}
	cancel()
	must(t, <-done)
}

// A follower that starts now does not get earlier triggers.
func TestFollowWalks_Since(t *testing.T) {
	t.Parallel()
	b := newBus(t, t.TempDir())
	_, err := b.Accept(within(t), events.NewTrigger("org", pricing.Window{Start: noon, End: noon}, noon))
	must(t, err)
	for _, tt := range []struct {
		since time.Time
		told  int
	}{{time.Now().Add(time.Hour), 0}, {time.Now().Add(-time.Hour), 1}} {
		f := &follower{slices: map[string]events.WalkPosition{}, told: make(chan struct{}, 100)}
		ctx, cancel := context.WithCancel(t.Context())
		current, done := make(chan struct{}), make(chan error, 1)
		go func() { done <- b.FollowWalks(ctx, tt.since, f, func() { close(current) }) }()
		<-current
		if n := len(f.told); n != tt.told {
			t.Errorf("follower since %s gets %d triggers", tt.since, n)
		}
		cancel()
		must(t, <-done)
	}
}

// A message that cannot be processed becomes a dead letter, which an operator can list.
func TestDeadLetters_List(t *testing.T) {
	t.Parallel()
	b := newBus(t, t.TempDir())
	dead := func() (uint64, events.DeadLetter, error) {
		newest, _, err := lastValue[events.DeadLetter](within(t), b.Conn, DeadStream, deadPrefix+">")
		return depth(t, b).DeadLetters, newest, err
	}
	if n, _, err := dead(); n != 0 || err != nil {
		t.Errorf("%d dead letters, %v", n, err)
	}
	small := events.DeadLetter{ID: "a", Kind: "slice", OrganizationID: "org", Reason: "why", Body: []byte("{}")}
	large := events.DeadLetter{ID: "b", Kind: "retry", Reason: "large", Body: make([]byte, 2*maxDeadBody)}
	must(t, b.PutDeadLetter(within(t), small))
	must(t, b.PutDeadLetter(within(t), small)) // a repeat
	n, newest, err := dead()
	if must(t, err); n != 1 || newest.Reason != "why" || string(newest.Body) != "{}" {
		t.Errorf("%d dead letters, newest %+v", n, newest)
	}
	must(t, b.PutDeadLetter(within(t), large))
	n, newest, err = dead()
	if must(t, err); n != 2 || !strings.Contains(newest.Reason, "large") || newest.Body != nil {
		t.Errorf("%d dead letters, newest %+v", n, newest)
	}
}
