package walks

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/pricing"
)

var noon = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

// aTrigger is a trigger of the organization org for some hours from noon on.
func aTrigger(sequence uint64, from, hours int, plans ...string) events.Trigger {
	start := noon.Add(time.Duration(from) * time.Hour)
	t := events.NewTrigger("org", pricing.Window{Start: start, End: start.Add(time.Duration(hours) * time.Hour)}, noon)
	t.ID, t.Sequence, t.RatePlanIDs = fmt.Sprint("trg_", sequence), sequence, plans
	return t
}

func at(t events.Trigger, slice int, last bool) events.WalkPosition {
	return events.WalkPosition{OrganizationID: t.OrganizationID, TriggerID: t.ID, Slice: slice, Last: last}
}

// A retry gives way to any newer trigger that covers its window, and a first attempt to
// one whose walk reached its slice a while ago.
func TestWalks_SupersededBy(t *testing.T) {
	older := aTrigger(1, 0, 4)
	for name, tt := range map[string]struct {
		newer   events.Trigger
		reached int // -1 for none
		fresh   bool
		plan    string
		late    bool
		want    bool
	}{
		"a retry, by any that is accepted":        {aTrigger(2, 0, 4), -1, false, "", true, true},
		"a retry, not by one of a shorter window": {aTrigger(2, 0, 3), 9, false, "", true, false},
		"a retry, not by one that begins later":   {aTrigger(2, 1, 9), 9, false, "", true, false},
		"a retry, by one for its plan":            {aTrigger(2, 0, 4, "a"), -1, false, "a", true, true},
		"a retry, not by one for another plan":    {aTrigger(2, 0, 4, "a"), -1, false, "b", true, false},
		"a retry, not by itself":                  {aTrigger(1, 0, 4), 9, false, "", true, false},
		"in its turn, by one that was there":      {aTrigger(2, 0, 4), 5, false, "", false, true},
		"in its turn, by one that is beyond":      {aTrigger(2, 0, 4), 6, false, "", false, true},
		"in its turn, not by one behind":          {aTrigger(2, 0, 4), 4, false, "", false, false},
		"in its turn, not by one that waits":      {aTrigger(2, 0, 4), -1, false, "", false, false},
		"in its turn, not by one close behind":    {aTrigger(2, 0, 4), 5, true, "", false, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			ws := NewTracker()
			ws.Accepted(older)
			ws.Accepted(tt.newer)
			if tt.reached >= 0 {
				ws.Reached(at(tt.newer, tt.reached, false))
			}
			if !tt.fresh {
				<-time.After(Lead)
			}
			if got := ws.SupersededBy(Place{&older, 5, tt.late}, tt.plan, noon); (got != "") != tt.want || tt.want && got != tt.newer.ID {
				t.Errorf("%s: superseded by %q", name, got)
			}
		})
	}
}

// What is dropped from memory changes no answer about a window that has not ended: those
// that are superseded themselves by a walk that has ended are not needed.
func TestWalks_PruneChangesNoAnswer(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		synctestOf(t, func() {
			ws := NewTracker()
			var all []events.Trigger
			last := map[string]int{}
			n := rapid.IntRange(1, 30).Draw(rt, "triggers")
			for i := range n {
				tr := aTrigger(uint64(i+1), rapid.IntRange(-2, 2).Draw(rt, "from"), rapid.IntRange(3, 8).Draw(rt, "hours"),
					rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b"}), 0, 2, rapid.ID[string]).Draw(rt, "plans")...)
				all = append(all, tr)
				ws.Accepted(tr)
				if rapid.Bool().Draw(rt, "walks") {
					walker := all[rapid.IntRange(0, i).Draw(rt, "walker")]
					slice := rapid.IntRange(0, 3).Draw(rt, "slice")
					ws.Reached(at(walker, slice, slice == 3))
					last[walker.ID] = max(last[walker.ID], slice+1)
				}
			}
			<-time.After(Lead)
			o := Place{&all[rapid.IntRange(0, n-1).Draw(rt, "older")], rapid.IntRange(0, 3).Draw(rt, "at"), rapid.Bool().Draw(rt, "late")}
			plan := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(rt, "plan")
			want := false
			for i := range all {
				newer := &all[i]
				want = want || newer.Covers(o.Trigger, noon) && newer.Selects(plan) && (o.Late || last[newer.ID] > o.Slice)
			}
			if got := ws.SupersededBy(o, plan, noon) != ""; got != want {
				rt.Fatalf("superseded: %v, want %v; %d of %d triggers are kept", got, want, len(ws.byOrg["org"]), n)
			}
		})
	})
}

// synctestOf runs in a bubble of synctest.
func synctestOf(t *testing.T, run func()) {
	synctest.Test(t, func(*testing.T) { run() })
}

// However many triggers are accepted, and whatever positions are heard of, the memory is
// bounded.
func TestWalks_AreBounded(t *testing.T) {
	ws := NewTracker()
	for i := range 3 * maxWalks {
		tr := aTrigger(uint64(i+1), i%24, 1)
		ws.Accepted(tr)
		ws.Reached(at(tr, 0, true))
	}
	for i := range 3 * sparePositions {
		ws.Reached(events.WalkPosition{OrganizationID: "other", TriggerID: fmt.Sprint("unknown_", i)})
	}
	if n, p := len(ws.byOrg["org"]), len(ws.positions); n > maxWalks || p > maxWalks+sparePositions+1 || ws.known != n {
		t.Errorf("%d triggers (%d counted) and %d positions are kept", n, ws.known, p)
	}
}
