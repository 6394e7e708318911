package api

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gridhook/gridhook/api/rest"
)

// An estimate that worked while webhooks were sent rests four times as long, at most 50 ms.
// Without webhooks for a while it does not rest.
func TestEstimates_YieldToWebhooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sent uint64
		done, pause, err := NewEstimates(1, func() uint64 { return sent }).turn(t.Context(), "acme")
		if err != nil {
			t.Fatal(err)
		}
		defer done()
		for _, tt := range []struct {
			webhooks     uint64
			worked, want time.Duration
		}{
			{0, 2 * time.Millisecond, 0},
			{1, 2 * time.Millisecond, 8 * time.Millisecond},
			{0, 2 * time.Millisecond, 8 * time.Millisecond}, // the next webhooks wait
			{0, sendingFor, 0},
			{0, 2 * time.Millisecond, 0},
			{64, time.Minute, 50 * time.Millisecond},
		} {
			<-time.After(tt.worked)
			sent += tt.webhooks
			began := time.Now()
			if err := pause(); err != nil || time.Since(began) != tt.want {
				t.Errorf("after %s and %d webhooks it rests %s, want %s: %v", tt.worked, tt.webhooks, time.Since(began), tt.want, err)
			}
		}
	})
}

// An estimate lets other goroutines run between two pieces of work, also if no webhooks
// were sent.
func TestEstimates_YieldToRequests(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	done, pause, err := NewEstimates(1, nil).turn(t.Context(), "acme")
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	var served atomic.Bool
	go func() { served.Store(true) }()
	for range 3 { // the scheduler may choose the estimate once more
		if err := pause(); err != nil {
			t.Fatal(err)
		}
	}
	if !served.Load() {
		t.Error("a request waits for the end of the estimate")
	}
}

// An estimate without a client gets no slot, and gives up its slot at its next rest.
func TestEstimates_Abandoned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sent := uint64(0)
		e := NewEstimates(1, func() uint64 { sent++; return sent })
		ctx, cancel := context.WithCancel(t.Context())
		done, pause, err := e.turn(ctx, "acme")
		if err != nil {
			t.Fatal(err)
		}
		late, cancelLate := context.WithTimeout(t.Context(), time.Second)
		defer cancelLate()
		if _, _, err := e.turn(late, "acme"); !errors.Is(err, rest.ErrUnavailable) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a second one got a turn: %v", err)
		}
		<-time.After(time.Millisecond)
		time.AfterFunc(time.Millisecond, cancel)
		began := time.Now()
		err = pause()
		if !errors.Is(err, rest.ErrUnavailable) || !errors.Is(err, context.Canceled) || time.Since(began) != time.Millisecond {
			t.Errorf("it continued after %s: %v", time.Since(began), err)
		}
		if p := rest.PublicProblem(err, explainError); p != rest.ErrUnavailable {
			t.Errorf("that is %v", p)
		}
		if pause() == nil {
			t.Error("it continues after all")
		}
		done()
		if done, _, err = e.turn(t.Context(), "acme"); err != nil {
			t.Fatal(err)
		}
		done()
	})
}

// TestEstimates_Stop checks that a stopping process does not wait for estimates.
func TestEstimates_Stop(t *testing.T) {
	e := NewEstimates(1, nil)
	done, pause, err := e.turn(t.Context(), "acme")
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	waiting := make(chan error)
	go func() { _, _, err := e.turn(t.Context(), "acme"); waiting <- err }()
	e.Stop()
	if err := <-waiting; !errors.Is(err, rest.ErrUnavailable) {
		t.Errorf("the waiting estimate: %v", err)
	}
	if err := pause(); !errors.Is(err, rest.ErrUnavailable) {
		t.Errorf("the running estimate: %v", err)
	}
}

// TestEstimates_Fairness checks that an organization with many waiting estimates delays
// another's by one of them, and that no more of them wait than the limit.
func TestEstimates_Fairness(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := NewEstimates(1, nil)
		began := time.Now()
		work := func(org string, ended chan<- time.Duration) {
			done, _, err := e.turn(t.Context(), org)
			if err != nil {
				t.Error(err)
				return
			}
			defer done()
			<-time.After(time.Second)
			ended <- time.Since(began)
		}
		busy, other := make(chan time.Duration, maxWaiting+1), make(chan time.Duration, 2)
		for range maxWaiting + 1 { // one is running
			go work("busy", busy)
		}
		synctest.Wait()
		if _, _, err := e.turn(t.Context(), "busy"); !errors.Is(err, errWaiting) {
			t.Errorf("another one: %v", err)
		}
		go work("other", other)
		go work("other", other)
		if first, second := <-other, <-other; first != 2*time.Second && first != 3*time.Second || second != first+2*time.Second {
			t.Errorf("the other organization's estimates ended after %s and %s, each may wait for one of busy's", first, second)
		}
		for range maxWaiting + 1 {
			<-busy
		}
		synctest.Wait() // until the last one has left its queue
		if last := time.Since(began); last != (maxWaiting+3)*time.Second || e.Waiting("busy") != 0 {
			t.Errorf("all ended after %s, and %d wait", last, e.Waiting("busy"))
		}
	})
}

// TestEstimates_LeaveQueue checks that a client that leaves the queue takes no turn.
func TestEstimates_LeaveQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := NewEstimates(1, nil)
		done, _, err := e.turn(t.Context(), "acme")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		for _, org := range []string{"acme", "acme", "other"} {
			go func() {
				if _, _, err := e.turn(ctx, org); !errors.Is(err, rest.ErrUnavailable) {
					t.Errorf("%s: %v", org, err)
				}
			}()
		}
		synctest.Wait()
		cancel()
		synctest.Wait()
		if acme, other := e.Waiting("acme"), e.Waiting("other"); acme != 1 || other != 0 {
			t.Errorf("acme has %d estimates, and other has %d", acme, other)
		}
		done()
		if n := e.Waiting("acme"); n != 0 {
			t.Errorf("acme still has %d estimates", n)
		}
		if done, _, err = e.turn(ctx, "acme"); err != nil { // ctx has ended, so that it cannot wait
			t.Fatalf("the slot is not free: %v", err)
		}
		done()
	})
}
