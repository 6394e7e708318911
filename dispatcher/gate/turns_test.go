package gate

import (
	"context"
	"fmt"
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
			turns := NewTurns(1, 1)
			busy, err := turns.Take(t.Context(), "first")
			if err != nil {
				t.Fatal(err)
			}
			var order strings.Builder
			for _, org := range strings.Split(tt.arrivals, "") {
				go func() {
					done, err := turns.Take(context.Background(), org)
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

// An organization never has all slots.
func TestTurns_LeftToOthers(t *testing.T) {
	for _, tt := range []struct{ slots, greedy, others int }{{2, 1, 1}, {5, 4, 1}, {20, 16, 4}} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			turns, held := NewTurns(tt.slots, tt.greedy), map[string]int{}
			take := func(org string) {
				go func() {
					if done, err := turns.Take(ctx, org); err == nil {
						held[org]++
						<-ctx.Done()
						done()
					}
				}()
				synctest.Wait()
			}
			for range 2 * tt.slots {
				take("greedy")
			}
			for range 2 * tt.slots {
				take("other")
			}
			if held["greedy"] != tt.greedy || held["other"] != tt.others {
				t.Errorf("of %d slots the organizations have %v, want %d and %d", tt.slots, held, tt.greedy, tt.others)
			}
			cancel()
			synctest.Wait()
			checkUnused(t, turns, tt.slots)
		})
	}
}

// A stopped slice releases its slot, even if the slot was granted at that moment.
func TestTurns_Stopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := NewTurns(2, 2)
		for i := range 100 {
			ctx, cancel := context.WithCancel(context.Background())
			first, err := turns.Take(t.Context(), "a")
			if err != nil {
				t.Fatal(err)
			}
			for range 3 {
				go func() {
					if done, err := turns.Take(ctx, fmt.Sprint(i)); err == nil {
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
