package turns

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"
	"testing/synctest"
)

// Organizations get slots in turn, in any order of arrival.
func TestTurns_ByOrganization(t *testing.T) {
	for name, tt := range map[string]struct{ arrivals, want string }{
		"one organization":             {"aaa", "aaa"},
		"a late organization is next":  {"aaaab", "abaaa"},
		"each has its turn":            {"aaabbbcc", "abcabcab"},
		"its own slices stay in order": {"abab", "abab"},
	} {
		synctest.Test(t, func(t *testing.T) {
			turns := New(1, 1)
			busy, err := acquire(t.Context(), turns, "first", 1)
			if err != nil {
				t.Fatal(err)
			}
			var order strings.Builder
			for _, org := range strings.Split(tt.arrivals, "") {
				go func() {
					done, err := acquire(context.Background(), turns, org, 1)
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

// An organization never has more than its slots, whatever its slices take, and leaves as large
// a share of the free slots as if it was alone. A slice for very many endpoints counts as half of
// what one organization may have.
func TestTurns_LeftToOthers(t *testing.T) {
	for _, tt := range []struct{ slots, most, each, greedy, others int }{
		{2, 1, 1, 1, 1}, {5, 4, 1, 4, 1}, {16, 8, 1, 8, 4}, {16, 12, 1, 12, 3}, {16, 8, 3, 2, 5}, {16, 8, 4, 2, 4}, {16, 8, 63, 2, 4}, {16, 8, 5, 2, 4}, {2, 1, 9, 1, 1}, {4, 4, 1, 4, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			turns, held := New(tt.slots, tt.most), map[string]int{}
			take := func(org string, slots int) {
				go func() {
					if done, err := acquire(ctx, turns, org, slots); err == nil {
						held[org]++
						<-ctx.Done()
						done()
					}
				}()
				synctest.Wait()
			}
			for range 2 * tt.slots {
				take("greedy", tt.each)
			}
			for range 2 * tt.slots {
				take("other", 1)
			}
			if held["greedy"] != tt.greedy || held["other"] != tt.others {
				t.Errorf("%+v: the organizations have %v slices", tt, held)
			}
			cancel()
			synctest.Wait()
			checkUnused(t, turns, tt.slots)
		})
	}
}

// Several greedy organizations leave a slot to another one. A slot that one of them frees goes
// to an organization with few.
func TestTurns_SeveralGreedy(t *testing.T) {
	turns := New(64, 48)
	held := map[string]int{}
	for _, org := range []string{"a", "b", "c"} {
		for turns.TryAcquire(org, 1) {
			held[org]++
		}
	}
	if want := map[string]int{"a": 48, "b": 12, "c": 3}; !maps.Equal(held, want) {
		t.Errorf("the organizations have %v, want %v", held, want)
	}
	if !turns.TryAcquire("d", 1) {
		t.Error("another organization has no slot")
	}
	turns.Release("a", 3)
	if turns.TryAcquire("a", 1) || !turns.TryAcquire("d", 1) {
		t.Error("freed slots are not left to the organization with few")
	}
}

// A slice that takes more slots than are free delays the others only until slots are free.
func TestTurns_MoreThanFree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := New(4, 4)
		var done []func()
		for _, org := range []string{"a", "a", "a", "large"} {
			release, err := acquire(t.Context(), turns, org, 1+len(org)/5) // large takes 2
			if err != nil {
				t.Fatal(err)
			}
			done = append(done, release)
		}
		waits := make(chan struct{})
		go func() {
			release, err := acquire(t.Context(), turns, "small", 1)
			if err != nil {
				t.Error(err)
			}
			close(waits)
			release()
		}()
		synctest.Wait()
		for i, release := range done {
			release()
			synctest.Wait()
			select {
			case <-waits:
				if i == 0 {
					t.Error("no slot was free")
				}
			default:
				if i > 0 {
					t.Error("a slot was free")
				}
			}
		}
		checkUnused(t, turns, 4)
	})
}

// A stopped slice releases its slot, even if the slot was granted at that moment.
func TestTurns_Stopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := New(2, 2)
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if !turns.TryAcquire("a", 2) {
			t.Fatal("no slot is free")
		}
		if slots, err := turns.Acquire(ended, "b", 1); slots != 0 || err == nil {
			t.Errorf("a stopped slice has %d slots, and the error %v", slots, err)
		}
		turns.Release("a", 2)
		for i := range 100 {
			ctx, cancel := context.WithCancel(context.Background())
			first, err := acquire(t.Context(), turns, "a", 1)
			if err != nil {
				t.Fatal(err)
			}
			for range 3 {
				go func() {
					if done, err := acquire(ctx, turns, fmt.Sprint(i), 1); err == nil {
						defer done()
					}
				}()
			}
			go cancel()
			go first()
			synctest.Wait()
		}
		checkUnused(t, turns, 2)
	})
}

func checkUnused(t *testing.T, r *Turns, slots int) {
	t.Helper()
	if r.free != slots || len(r.held)+len(r.waiting)+len(r.organizations) != 0 {
		t.Errorf("%d of %d slots are free, held by %v, organizations %v wait", r.free, slots, r.held, r.organizations)
	}
}

// acquire waits for slots. done releases them.
func acquire(ctx context.Context, turns *Turns, org string, slots int) (done func(), err error) {
	slots, err = turns.Acquire(ctx, org, slots)
	return func() { turns.Release(org, slots) }, err
}
