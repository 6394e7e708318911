package api

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// An estimate rests nine times as long as it has worked where webhooks were sent
// meanwhile, but no longer than 50 ms, and not at all where none was.
func TestEstimatesYieldToWebhooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sent uint64
		done, rest, err := NewEstimates(1, func() uint64 { return sent }).turn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer done()
		for _, tt := range []struct {
			webhooks     uint64
			worked, want time.Duration
		}{
			{0, 2 * time.Millisecond, 0},
			{1, 2 * time.Millisecond, 18 * time.Millisecond},
			{0, 2 * time.Millisecond, 0},
			{64, time.Minute, 50 * time.Millisecond},
		} {
			<-time.After(tt.worked)
			sent += tt.webhooks
			began := time.Now()
			if err := rest(); err != nil || time.Since(began) != tt.want {
				t.Errorf("after %s and %d webhooks it rests for %s, want %s: %v", tt.worked, tt.webhooks, time.Since(began), tt.want, err)
			}
		}
	})
}

// Whoever waits for no answer any more gets no place, and gives up the one it has at
// its next rest.
func TestAbandonedEstimatesEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sent := uint64(0)
		e := NewEstimates(1, func() uint64 { sent++; return sent })
		ctx, cancel := context.WithCancel(t.Context())
		done, rest, err := e.turn(ctx)
		if err != nil {
			t.Fatal(err)
		}
		late, cancelLate := context.WithTimeout(t.Context(), time.Second)
		defer cancelLate()
		if _, _, err := e.turn(late); !errors.Is(err, errNoTurn) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a second one got a turn: %v", err)
		}
		<-time.After(time.Millisecond)
		time.AfterFunc(time.Millisecond, cancel)
		began := time.Now()
		err = rest()
		if !errors.Is(err, errNoTurn) || !errors.Is(err, context.Canceled) || time.Since(began) != time.Millisecond {
			t.Errorf("it went on after %s: %v", time.Since(began), err)
		}
		if p := publicProblem(err); p != errUnavailable {
			t.Errorf("that is %v", p)
		}
		if rest() == nil {
			t.Error("it goes on after all")
		}
		done()
		if done, _, err = e.turn(t.Context()); err != nil {
			t.Fatal(err)
		}
		done()
	})
}
