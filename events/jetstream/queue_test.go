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

// consuming runs a consumer until the returned function is called, which returns
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
				t.Errorf("consuming ended with %v", err)
			}
		})
	}
	t.Cleanup(func() { b.wire.release(); cancel() })
	return stop
}

// takeSlices consumes slices with handle, which also gets the slice's number.
func takeSlices(t *testing.T, b *bus, slots int, handle Handler[events.Slice]) (stop func()) {
	t.Helper()
	return consuming(t, b, func(ctx, taking contextT) error { return b.ConsumeSlices(ctx, taking, slots, handle) })
}

// ready waits until the queue's consumer is there, so that what is put now has
// not stood there before.
func ready(t *testing.T, b *bus) {
	t.Helper()
	b.wire.await(t, "$JS.API.CONSUMER.MSG.NEXT", 1)
}

// emptied waits until the queue of slices is empty: the server takes acknowledgements in
// without an answer, and counts them a moment later.
func emptied(t *testing.T, b *bus) {
	t.Helper()
	ctx := within(t)
	for d := depth(t, b); d.Slices != 0; d = depth(t, b) {
		if ctx.Err() != nil {
			t.Fatalf("%d slices are left", d.Slices)
		}
	}
}

// onServer is what the server knows of the queue.
func onServer(t *testing.T, b *bus) *jetstream.ConsumerInfo {
	t.Helper()
	c, err := b.js.Consumer(within(t), workStream, sliceQueue.name)
	must(t, err)
	return c.CachedInfo()
}

// disconnected runs fn while a connection is broken and the server, which
// another connection asks, has forgotten what it had asked for.
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
			t.Errorf("try %d was %+v, want %+v", i+1, g, want)
		}
	}
	stop()
	emptied(t, b)
}

func TestPoisonMessages_BecomeDeadLetters(t *testing.T) {
	t.Parallel()
	b := newBus(t, t.TempDir())
	_, err := b.js.Publish(within(t), sliceSubject("trg_poison", 0), []byte("garbage"))
	must(t, err)
	endless := newTrigger("org")
	endless.Start = storage.Time{} // 71 million intervals for each home
	must(t, b.PutSlice(within(t), newSlice(endless, 0)))
	must(t, b.PutSlice(within(t), newSlice(newTrigger("org"), 1)))
	got := make(chan int, 9)
	stop := takeSlices(t, b, 1, func(_ contextT, s events.Slice, _ events.Taken) error { got <- s.Number; return nil })
	if n := receive(t, got); n != 1 {
		t.Errorf("slice %d came", n)
	}
	stop()
	emptied(t, b)
	if d := depth(t, b); d.DeadLetters != 2 {
		t.Errorf("%d dead letters: the poison is gone", d.DeadLetters)
	}
}

// A log may hold what no queue takes: whoever follows it goes on.
func TestFollow_BeforeConsumption(t *testing.T) {
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
		t.Errorf("%d were followed, %v", followed, err)
	}
}

// What stood in the queue when a process came may have been taken before,
// whatever the server says.
func TestConsume_RedeliveredAfterStart(t *testing.T) {
	t.Parallel()
	b := newBus(t, t.TempDir())
	tr := newTrigger("org")
	must(t, b.PutSlice(within(t), newSlice(tr, 0)))
	flags := make(chan bool, 9)
	stop := takeSlices(t, b, 1, func(_ contextT, _ events.Slice, how events.Taken) error { flags <- how.Redelivered; return nil })
	if !receive(t, flags) {
		t.Error("a slice from before came as new")
	}
	must(t, b.PutSlice(within(t), newSlice(tr, 1)))
	if receive(t, flags) {
		t.Error("a new slice came as one from before")
	}
	// After a reconnect the same holds for what was put until then: the server
	// may be another one.
	other, err := Connect(within(t), "", streamOptions, discard, b.server.Option())
	must(t, err)
	defer other.Close()
	disconnected(t, b, other, func() { must(t, other.PutSlice(within(t), newSlice(tr, 2))) })
	if !receive(t, flags) {
		t.Error("a slice from before the reconnect came as new")
	}
	stop()
}

// A stop in the middle of many messages: what was taken is finished, and the
// server has nothing that it would have to give to somebody else.
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
				t.Error("a handler's context ended with the taking")
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
		for ctx := within(t); info.NumAckPending != 0 && ctx.Err() == nil; { // the last acknowledgements are under way
			info = onServer(t, b)
		}
		if info.NumAckPending != 0 || info.NumRedelivered != 0 {
			t.Fatalf("after stop %d, %d are pending and %d redelivered", round, info.NumAckPending, info.NumRedelivered)
		}
		if len(handled) == all {
			break
		}
	}
	for n, times := range handled {
		if times != 1 {
			t.Errorf("slice %d was handled %d times", n, times)
		}
	}
}

// A handler that is in the middle of its work when taking ends finishes it.
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
		t.Fatalf("consuming ended (%v) before its handler", err)
	case <-time.After(2 * pullWait): // long enough for the idle slot
	}
	close(goOn)
	must(t, receive(t, done))
	if d, info := depth(t, b), onServer(t, b); d.Slices != 0 || info.NumRedelivered != 0 {
		t.Errorf("%d are left and %d redelivered", d.Slices, info.NumRedelivered)
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
	for receive(t, got) != 1 { // the first may come again
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
			t.Errorf("slice %d came, want %d", n, i)
		}
		b.wire.await(t, "$JS.ACK", i+1)
		disconnected(t, b, other, func() {})
	}
	stop()
}

// Who begins to take while NATS is away does not give up, and takes when it is back.
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
		t.Fatalf("it ended: %v", err)
	case <-time.After(nakDelay / 2): // it has tried once
	}
	b.wire.setDown(false)
	<-back
	must(t, b.PutSlice(within(t), newSlice(newTrigger("org"), 0)))
	receive(t, got)
	stop()
	must(t, <-ended)
}

// A server whose answer does not come in time, as while a cluster holds elections,
// is asked again.
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
		t.Errorf("slice %d came", n)
	}
	stop()
}

func TestRefused_Errors(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err  error
		want bool
	}{
		"no answer in time":       {fmt.Errorf("set up: %w", explain(context.DeadlineExceeded)), false},
		"nobody answers":          {nats.ErrNoResponders, false},
		"reconnecting":            {nats.ErrConnectionReconnecting, false},
		"no leader":               {&jetstream.APIError{Code: 503, ErrorCode: 10008}, false},
		"a bad configuration":     {fmt.Errorf("set up: %w", &jetstream.APIError{Code: 400, ErrorCode: 10012}), true},
		"a stream that is gone":   {jetstream.ErrStreamNotFound, true},
		"a connection that ended": {nats.ErrConnectionClosed, true},
	} {
		if got := refused(c.err); got != c.want {
			t.Errorf("%s: refused = %v", name, got)
		}
	}
}
