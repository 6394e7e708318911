package gate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func never() bool { return false }

// Organizations get slots in turn, in any order of arrival.
func TestTurns_ByOrganization(t *testing.T) {
	for name, tt := range map[string]struct{ arrivals, want string }{
		"one organization":             {"aaa", "aaa"},
		"a late organization is next":  {"aaaab", "abaaa"},
		"each has its turn":            {"aaabbbcc", "abcabcab"},
		"its own slices stay in order": {"abab", "abab"},
	} {
		synctest.Test(t, func(t *testing.T) {
			turns := NewTurns(1)
			busy, err := turns.Take(t.Context(), "first", never, nil)
			if err != nil {
				t.Fatal(err)
			}
			var order strings.Builder
			for _, org := range strings.Split(tt.arrivals, "") {
				go func() {
					done, err := turns.Take(context.Background(), org, never, nil)
					if err != nil {
						t.Error(err)
					}
					order.WriteString(org)
					done()
				}()
				synctest.Wait()
			}
			busy()
			synctest.Wait()
			if order.String() != tt.want {
				t.Errorf("%s: order is %s, want %s", name, &order, tt.want)
			}
		})
	}
}

// A slice frees its slot of the queue only if other organizations may have slices there,
// and only while few slices wait.
func TestTurns_LookAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		turns, freed := NewTurns(1), 0
		take := func(contended bool) {
			go func() { _, _ = turns.Take(ctx, "org", func() bool { return contended }, func() { freed++ }) }()
			synctest.Wait()
		}
		take(false)
		if take(false); freed != 0 {
			t.Errorf("freed %d slots without other organizations", freed)
		}
		for range maxAhead {
			take(true)
		}
		if want := maxAhead - 2; freed != want {
			t.Errorf("freed %d slots, want %d", freed, want)
		}
		cancel()
		synctest.Wait()
		if turns.ahead != 0 || len(turns.waiting)+len(turns.organizations) != 0 {
			t.Errorf("after the end %d slices wait, of %v", turns.ahead, turns.organizations)
		}
	})
}

// A stopped slice releases its slot, even if the slot was granted at that moment.
func TestTurns_Stopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := NewTurns(2)
		for i := range 100 {
			ctx, cancel := context.WithCancel(context.Background())
			first, err := turns.Take(t.Context(), "a", never, nil)
			if err != nil {
				t.Fatal(err)
			}
			for range 3 {
				go func() {
					if done, err := turns.Take(ctx, fmt.Sprint(i), never, nil); err == nil {
						defer done()
					}
				}()
			}
			go cancel()
			go first()
			synctest.Wait()
		}
		if turns.free != 2 || turns.ahead != 0 {
			t.Errorf("%d slots are free of 2, and %d slices wait", turns.free, turns.ahead)
		}
	})
}

// A waiting slice asks again whether other organizations have slices.
func TestTurns_ContendedLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := NewTurns(1)
		var contended atomic.Bool
		var freed atomic.Int32
		done, err := turns.Take(t.Context(), "a", never, nil)
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error)
		go func() {
			_, err := turns.Take(t.Context(), "a", contended.Load, func() { freed.Add(1) })
			ended <- err
		}()
		synctest.Wait()
		contended.Store(true)
		<-time.After(3 * askEvery)
		synctest.Wait()
		if n := freed.Load(); n != 1 {
			t.Errorf("queue slot was freed %d times", n)
		}
		turns.Close()
		if err := <-ended; !errors.Is(err, ErrClosed) {
			t.Errorf("waiting slice ended with %v at the stop", err)
		}
		if done(); turns.free != 1 || turns.ahead != 0 {
			t.Errorf("%d slots are free, %d slices wait", turns.free, turns.ahead)
		}
	})
}
