package jetstream

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

type contextT = context.Context

// consuming runs a consumer until the returned function is called. That function returns
// when the consumer has ended.
func consuming(t *testing.T, b *bus, run func(ctx, taking contextT) error) (stop func()) {
	t.Helper()
	taking, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- run(context.Background(), taking) }()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			if err := receive(t, done); err != nil {
				t.Errorf("consumer ended with %v", err)
			}
		})
	}
	t.Cleanup(func() { b.wire.release(); cancel() })
	return stop
}

// takeSlices consumes slices. handle also gets the slice's number.
func takeSlices(t *testing.T, b *bus, slots int, handle events.Handler[events.Slice]) (stop func()) {
	t.Helper()
	return consuming(t, b, func(ctx, taking contextT) error { return b.ConsumeSlices(ctx, taking, slots, handle) })
}

// ready waits until the queue of slices is consumed, so that later messages count as new.
func ready(t *testing.T, b *bus) {
	t.Helper()
	b.wire.await(t, "$JS.API.CONSUMER.MSG.NEXT."+workStream+"."+sliceQueue.name, 1)
}

// emptied waits until the queue of slices is empty. The server counts acknowledgements
// with a delay, and sends no response to them.
func emptied(t *testing.T, b *bus) {
	t.Helper()
	ctx := within(t)
	for d := depth(t, b); d.Slices != 0; d = depth(t, b) {
		if ctx.Err() != nil {
			t.Fatalf("%d slices remain", d.Slices)
		}
	}
}

// onServer returns the server's state of the queue.
func onServer(t *testing.T, b *bus) *jetstream.ConsumerInfo {
	t.Helper()
	c, err := b.js.Consumer(within(t), workStream, sliceQueue.name)
	must(t, err)
	return c.CachedInfo()
}

// disconnected runs fn while a connection is broken and the server has dropped the
// connection's requests. It asks the server over another connection.
func disconnected(t *testing.T, b *bus, other *Conn, fn func()) {
	t.Helper()
	b.wire.setDown(true)
	defer b.wire.setDown(false)
	for ctx := within(t); ; {
		c, err := other.js.Consumer(ctx, workStream, sliceQueue.name)
		must(t, err)
		if c.CachedInfo().NumWaiting == 0 {
			break
		}
	}
	fn()
}

// A slice does not wait for the slices of surplus triggers, although they hold all slots of
// their queue and more of them wait.
func TestConsumeSlices_Surplus(t *testing.T) {
	t.Parallel()
	b := newBus(t, t.TempDir())
	const slots = 2
	surplus := newTrigger("greedy")
	surplus.Surplus = true
	for number := range 5 * slots {
		must(t, b.PutSlice(within(t), newSlice(surplus, number)))
	}
	reached, err := b.Reached(within(t), surplus, 3)
	if must(t, err); !reached {
		t.Error("a queued slice of a surplus trigger is not found")
	}
	release, taken, got := make(chan struct{}), make(chan string, 5*slots), make(chan string, 1)
	stop := takeSlices(t, b, slots, func(_ contextT, s events.Slice, _ events.Taken) error {
		if s.Trigger.Surplus {
			taken <- s.Trigger.ID
			<-release
			return nil
		}
		got <- s.Trigger.OrganizationID
		return nil
	})
	for range slots {
		receive(t, taken)
	}
	must(t, b.PutSlice(within(t), newSlice(newTrigger("other"), 0)))
	if org := receive(t, got); org != "other" || len(taken) != 0 {
		t.Errorf("%s is next, and %d more surplus slices were taken", org, len(taken))
	}
	close(release)
	emptied(t, b)
	stop()
}

// The consumer of an earlier build, which selects all slices, is updated.
func TestConsumeSlices_EarlierConsumer(t *testing.T) {
	t.Parallel()
	b := newBus(t, t.TempDir())
	earlier := sliceQueue
	earlier.filter = workPrefix + ">"
	_, err := b.js.CreateConsumer(within(t), workStream, earlier.config())
	must(t, err)
	surplus := newTrigger("org")
	surplus.Surplus = true
	must(t, b.PutSlice(within(t), newSlice(surplus, 0)))
	must(t, b.PutSlice(within(t), newSlice(newTrigger("org"), 0)))
	got := make(chan bool, 2)
	stop := takeSlices(t, b, 1, func(_ contextT, s events.Slice, _ events.Taken) error {
		got <- s.Trigger.Surplus
		return nil
	})
	if a, other := receive(t, got), receive(t, got); a == other {
		t.Errorf("both slices are surplus: %t", a)
	}
	stop()
}

func TestConsume_HandlerError(t *testing.T) {
	t.Parallel()
	b := newBus(t, t.TempDir())
	type taken struct {
		number      int
		redelivered bool
	}
	got := make(chan taken, 9)
	var tries atomic.Int64
	stop := takeSlices(t, b, 1, func(_ contextT, s events.Slice, how events.Taken) error {
		got <- taken{s.Number, how.Redelivered}
		switch tries.Add(1) {
		case 1:
			return errors.New("not now")
		case 2:
			panic("a bug")
		}
		return nil
	})
	ready(t, b)
	must(t, b.PutSlice(within(t), newSlice(newTrigger("org"), 5)))
	for i, want := range []taken{{5, false}, {5, true}, {5, true}} {
		if g := receive(t, got); g != want {
			t.Errorf("delivery %d is %+v, want %+v", i+1, g, want)
		}
	}
	stop()
	emptied(t, b)
}

func TestPoisonMessages_BecomeDeadLetters(t *testing.T) {
	t.Parallel()
	b := newBus(t, t.TempDir())
	_, err := b.js.Publish(within(t), sliceSubject(&events.Trigger{ID: "trg_poison"}, 0), []byte("garbage"))
	must(t, err)
	endless := newTrigger("org")
	endless.Start = storage.Time{} // 71 million intervals for each home
	must(t, b.PutSlice(within(t), newSlice(endless, 0)))
	must(t, b.PutSlice(within(t), newSlice(newTrigger("org"), 1)))
	got := make(chan int, 9)
	stop := takeSlices(t, b, 1, func(_ contextT, s events.Slice, _ events.Taken) error { got <- s.Number; return nil })
	if n := receive(t, got); n != 1 {
		t.Errorf("slice %d was handled", n)
	}
	stop()
	emptied(t, b)
	if d := depth(t, b); d.DeadLetters != 2 {
		t.Errorf("%d dead letters, want one per poison message", d.DeadLetters)
	}
}

// A log may hold messages that no queue consumes. A follower continues after them.
func TestTail_UnconsumedTriggers(t *testing.T) {
	t.Parallel()
	b := newBus(t, t.TempDir())
	endless := newTrigger("org")
	endless.Start = storage.Time{}
	for _, tr := range []events.Trigger{endless, newTrigger("org")} {
		_, err := b.Accept(within(t), tr)
		must(t, err)
	}
	ctx, cancel := context.WithCancel(within(t))
	defer cancel()
	followed := 0
	err := b.TailTriggers(ctx, 0, func(batch []events.Sequenced[events.Trigger]) error {
		if followed += len(batch); followed == 2 {
			cancel()
		}
		return nil
	})
	if err != nil || followed != 2 {
		t.Errorf("followed %d triggers, %v", followed, err)
	}
}

// A message from before the start of a process may have been handled before, even if the
// server reports a first delivery.
func TestConsume_RedeliveredAfterStart(t *testing.T) {
	t.Parallel()
	b := newBus(t, t.TempDir())
	tr := newTrigger("org")
	must(t, b.PutSlice(within(t), newSlice(tr, 0)))
	flags := make(chan bool, 9)
	stop := takeSlices(t, b, 1, func(_ contextT, _ events.Slice, how events.Taken) error { flags <- how.Redelivered; return nil })
	if !receive(t, flags) {
		t.Error("slice from before the start counts as new")
	}
	must(t, b.PutSlice(within(t), newSlice(tr, 1)))
	if receive(t, flags) {
		t.Error("new slice counts as redelivered")
	}
	// After a reconnect the same holds for earlier messages, because the server may have
	// changed.
	other, err := Connect(within(t), "", streamOptions, discard, b.server.Option())
	must(t, err)
	defer other.Close()
	disconnected(t, b, other, func() { must(t, other.PutSlice(within(t), newSlice(tr, 2))) })
	if !receive(t, flags) {
		t.Error("slice from before the reconnect counts as new")
	}
	stop()
}

// A process takes no message right after a reconnection, so that every process stores its
// outcomes first. The server delivers again what they held.
func TestConsume_PauseAfterReconnect(t *testing.T) {
	t.Parallel()
	b := newBus(t, t.TempDir())
	tr := newTrigger("org")
	taken := make(chan time.Time, 1)
	stop := takeSlices(t, b, 1, func(contextT, events.Slice, events.Taken) error { taken <- time.Now(); return nil })
	must(t, b.PutSlice(within(t), newSlice(tr, 0)))
	receive(t, taken)
	other, err := Connect(within(t), "", streamOptions, discard, b.server.Option())
	must(t, err)
	defer other.Close()
	var back time.Time
	disconnected(t, b, other, func() {
		must(t, other.PutSlice(within(t), newSlice(tr, 1)))
		back = time.Now()
	})
	if after := receive(t, taken).Sub(back); after < reconnectPause {
		t.Errorf("a slice is taken %s after the reconnection, before other processes have stored their outcomes", after)
	}
	stop()
}

// A stop under load finishes the current messages. The server has no message to
// redeliver.
func TestConsume_GracefulEnd(t *testing.T) {
	t.Parallel()
	b := newBus(t, t.TempDir())
	const all = 300
	tr := newTrigger("org")
	for i := range all {
		must(t, b.PutSlice(within(t), newSlice(tr, i)))
	}
	var mu sync.Mutex
	handled := map[int]int{}
	for round := 1; ; round++ {
		enough := make(chan struct{}, all)
		stop := takeSlices(t, b, 8, func(ctx contextT, s events.Slice, _ events.Taken) error {
			if ctx.Err() != nil {
				t.Error("handler's context ended with taking")
			}
			mu.Lock()
			defer mu.Unlock()
			handled[s.Number]++
			enough <- struct{}{}
			return nil
		})
		for range 40 {
			mu.Lock()
			done := len(handled) == all
			mu.Unlock()
			if done {
				break
			}
			receive(t, enough)
		}
		stop()
		info := onServer(t, b)
		for ctx := within(t); info.NumAckPending != 0 && ctx.Err() == nil; { // the last acknowledgements are on their way
			info = onServer(t, b)
		}
		if info.NumAckPending != 0 || info.NumRedelivered != 0 {
			t.Fatalf("after stop %d, %d messages are pending and %d redelivered", round, info.NumAckPending, info.NumRedelivered)
		}
		if len(handled) == all {
			break
		}
	}
	for n, times := range handled {
		if times != 1 {
			t.Errorf("slice %d was handled %d times, want once", n, times)
		}
	}
}

// A running handler finishes after taking has ended.
func TestConsume_HandlerOutlivesTaking(t *testing.T) {
	t.Parallel()
	b := newBus(t, t.TempDir())
	taking, endTaking := context.WithCancel(context.Background())
	began, goOn := make(chan struct{}), make(chan struct{})
	done := make(chan error, 1)
	go func() {
		done <- b.ConsumeSlices(context.Background(), taking, 2, func(ctx contextT, _ events.Slice, _ events.Taken) error {
			close(began)
			<-goOn
			return ctx.Err()
		})
	}()
	must(t, b.PutSlice(within(t), newSlice(newTrigger("org"), 0)))
	receive(t, began)
	endTaking()
	select {
	case err := <-done:
		t.Fatalf("consumer ended (%v) before its handler", err)
	case <-time.After(2 * pullWait): // enough time for the idle slot
	}
	close(goOn)
	must(t, receive(t, done))
	if d, info := depth(t, b), onServer(t, b); d.Slices != 0 || info.NumRedelivered != 0 {
		t.Errorf("%d slices remain, %d redelivered", d.Slices, info.NumRedelivered)
	}
}

func TestConsume_ConsumerDeleted(t *testing.T) {
	t.Parallel()
	b := newBus(t, t.TempDir())
	got := make(chan int, 9)
	stop := takeSlices(t, b, 3, func(_ contextT, s events.Slice, _ events.Taken) error { got <- s.Number; return nil })
	tr := newTrigger("org")
	must(t, b.PutSlice(within(t), newSlice(tr, 0)))
	receive(t, got)
	must(t, b.js.DeleteConsumer(within(t), workStream, sliceQueue.name))
	must(t, b.PutSlice(within(t), newSlice(tr, 1)))
	for receive(t, got) != 1 { // the first slice may be redelivered
	}
	stop()
}

func TestConsume_Reconnect(t *testing.T) {
	t.Parallel()
	b := newBus(t, t.TempDir())
	got := make(chan int, 9)
	stop := takeSlices(t, b, 2, func(_ contextT, s events.Slice, _ events.Taken) error { got <- s.Number; return nil })
	other, err := Connect(within(t), "", streamOptions, discard, b.server.Option())
	must(t, err)
	defer other.Close()
	tr := newTrigger("org")
	for i := range 3 {
		must(t, other.PutSlice(within(t), newSlice(tr, i)))
		if n := receive(t, got); n != i {
			t.Errorf("got slice %d, want %d", n, i)
		}
		b.wire.await(t, "$JS.ACK", i+1)
		disconnected(t, b, other, func() {})
	}
	stop()
}

// A consumer that starts without NATS waits, and takes messages once NATS is available.
func TestConsume_StartWithoutNATS(t *testing.T) {
	t.Parallel()
	b := newBus(t, t.TempDir())
	away, back := b.nc.StatusChanged(nats.RECONNECTING), b.nc.StatusChanged(nats.CONNECTED)
	b.wire.setDown(true)
	<-away
	got, ended := make(chan int, 9), make(chan error, 1)
	taking, stop := context.WithCancel(t.Context())
	go func() {
		ended <- b.ConsumeSlices(t.Context(), taking, 1, func(_ contextT, s events.Slice, _ events.Taken) error { got <- s.Number; return nil })
	}()
	select {
	case err := <-ended:
		t.Fatalf("consumer ended: %v", err)
	case <-time.After(nakDelay / 2): // after one attempt
	}
	b.wire.setDown(false)
	<-back
	must(t, b.PutSlice(within(t), newSlice(newTrigger("org"), 0)))
	receive(t, got)
	stop()
	must(t, <-ended)
}

// A consumer repeats a request without a response in time, for example during an
// election in a cluster.
func TestConsume_StartWithoutResponse(t *testing.T) {
	t.Parallel()
	b := newBus(t, t.TempDir())
	must(t, b.PutSlice(within(t), newSlice(newTrigger("org"), 3)))
	b.publishWait = 250 * time.Millisecond
	b.wire.holdUp()
	got := make(chan int, 9)
	stop := takeSlices(t, b, 1, func(_ contextT, s events.Slice, _ events.Taken) error { got <- s.Number; return nil })
	b.wire.await(t, "$JS.API.CONSUMER.CREATE", 2)
	b.wire.release()
	if n := receive(t, got); n != 3 {
		t.Errorf("got slice %d", n)
	}
	stop()
}

func TestRefused_Errors(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err  error
		want bool
	}{
		"no response in time": {fmt.Errorf("set up: %w", explain(context.DeadlineExceeded)), false},
		"no responders":       {nats.ErrNoResponders, false},
		"reconnecting":        {nats.ErrConnectionReconnecting, false},
		"no leader":           {&jetstream.APIError{Code: 503, ErrorCode: 10008}, false},
		"a bad configuration": {fmt.Errorf("set up: %w", &jetstream.APIError{Code: 400, ErrorCode: 10012}), true},
		"a missing stream":    {jetstream.ErrStreamNotFound, true},
		"a closed connection": {nats.ErrConnectionClosed, true},
	} {
		if got := refused(c.err); got != c.want {
			t.Errorf("%s: refused = %v", name, got)
		}
	}
}
