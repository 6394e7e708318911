package walks

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/pricing"
)

var noon = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

// newTrigger returns a trigger of the organization org for some hours from noon.
func newTrigger(sequence uint64, from, hours int, plans ...string) events.Trigger {
	start := noon.Add(time.Duration(from) * time.Hour)
	t := events.NewTrigger("org", pricing.Window{Start: start, End: start.Add(time.Duration(hours) * time.Hour)}, noon)
	t.ID, t.Sequence, t.RatePlanIDs = fmt.Sprint("trg_", sequence), sequence, plans
	return t
}

// wide returns the trigger with wide slices: slice 5 of another trigger is in slice 1.
func wide(t events.Trigger) events.Trigger {
	t.Wide = true
	return t
}

func at(t events.Trigger, slice int, last bool) events.WalkPosition {
	return events.WalkPosition{OrganizationID: t.OrganizationID, TriggerID: t.ID, Slice: slice, Last: last}
}

// Any newer trigger that covers its window supersedes a retry. A newer walk that reached
// its slice a while ago supersedes a first attempt.
func TestTracker_SupersededBy(t *testing.T) {
	older := newTrigger(1, 0, 4)
	for name, tt := range map[string]struct {
		newer   events.Trigger
		reached int // -1 for none
		fresh   bool
		plan    string
		late    bool
		want    bool
	}{
		"retry, newer trigger":               {newTrigger(2, 0, 4), -1, false, "", true, true},
		"retry, shorter window":              {newTrigger(2, 0, 3), 9, false, "", true, false},
		"retry, later start":                 {newTrigger(2, 1, 9), 9, false, "", true, false},
		"retry, same plan":                   {newTrigger(2, 0, 4, "a"), -1, false, "a", true, true},
		"retry, different plan":              {newTrigger(2, 0, 4, "a"), -1, false, "b", true, false},
		"retry, same trigger":                {newTrigger(1, 0, 4), 9, false, "", true, false},
		"first attempt, newer walk at slice": {newTrigger(2, 0, 4), 5, false, "", false, true},
		"first attempt, newer walk beyond":   {newTrigger(2, 0, 4), 6, false, "", false, true},
		"first attempt, newer walk behind":   {newTrigger(2, 0, 4), 4, false, "", false, false},
		"first attempt, newer walk waits":    {newTrigger(2, 0, 4), -1, false, "", false, false},
		"first attempt, newer walk is close": {newTrigger(2, 0, 4), 5, true, "", false, false},
		"first attempt, wide walk at slice":  {wide(newTrigger(2, 0, 4)), 1, false, "", false, true},
		"first attempt, wide walk behind":    {wide(newTrigger(2, 0, 4)), 0, false, "", false, false},
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
			if got, ok := ws.SupersededBy(Place{&older, 5, tt.late}, noon, tt.plan); ok != tt.want || tt.want && got.ID != tt.newer.ID {
				t.Errorf("%s: superseded by %q", name, got.ID)
			}
		})
	}
}

// A newer trigger supersedes every signal of a slice if it selects all plans of the slice's
// trigger.
func TestTracker_Superseded(t *testing.T) {
	for name, tt := range map[string]struct {
		older, newer []string // rate plans
		want         bool
	}{
		"all plans":             {nil, nil, true},
		"one of all plans":      {nil, []string{"a"}, false},
		"the same plan":         {[]string{"a"}, []string{"a", "b"}, true},
		"one of two plans":      {[]string{"a", "b"}, []string{"a"}, false},
		"all instead of a plan": {[]string{"a"}, nil, true},
	} {
		older, ws := newTrigger(1, 0, 4, tt.older...), NewTracker()
		ws.Accepted(newTrigger(2, 0, 4, tt.newer...))
		if got := ws.Superseded(Place{&older, 5, true}, noon); got != tt.want {
			t.Errorf("%s: superseded is %v", name, got)
		}
	}
}

// A walk supersedes a wide slice of an older trigger once it reached the slice's first home.
func TestTracker_SupersedesWide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		older, newer := wide(newTrigger(1, 0, 4)), newTrigger(2, 0, 4)
		ws := NewTracker()
		ws.Accepted(older)
		ws.Accepted(newer)
		for reached, want := range []string{"", "", "", "", newer.ID} {
			ws.Reached(at(newer, reached, false))
			<-time.After(Lead)
			if got, _ := ws.SupersededBy(Place{&older, 1, false}, noon, ""); got.ID != want {
				t.Errorf("wide slice 1 beside a walk at slice %d is superseded by %q, want %q", reached, got.ID, want)
			}
		}
	})
}

// While a walk moves on all the time, each of its slices supersedes first attempts after
// Lead, and never before.
func TestTracker_LeadOfEachSlice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ws, older, newer := NewTracker(), newTrigger(1, 0, 4), newTrigger(2, 0, 4)
		ws.Accepted(older)
		ws.Accepted(newer)
		const slices = 200 // one each millisecond
		for latest := range slices {
			ws.Reached(at(newer, latest, latest == slices-1))
			for slice := range latest + 1 {
				lead := time.Duration(latest-slice) * time.Millisecond
				_, superseded := ws.SupersededBy(Place{&older, slice, false}, noon, "")
				if superseded && lead < Lead || !superseded && lead >= 2*Lead {
					t.Fatalf("slice %d is superseded: %v, reached %s ago", slice, superseded, lead)
				}
			}
			<-time.After(time.Millisecond)
		}
		<-time.After(Lead)
		if _, superseded := ws.SupersededBy(Place{&older, 10 * slices, false}, noon, ""); !superseded {
			t.Error("a walk that reached its last slice supersedes no later slice")
		}
	})
}

// Pruning changes no check of an open window, at any time. The pruned triggers are
// themselves superseded by a completed walk.
func TestTracker_Prune(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		wrong := ""
		synctestOf(t, func() { wrong = prunes(rt) })
		if wrong != "" {
			rt.Fatal(wrong)
		}
	})
}

// prunes accepts random triggers, whose walks move on, and checks every slice after each.
func prunes(rt *rapid.T) (wrong string) {
	ws := NewTracker()
	var all []events.Trigger
	ripe, fresh := map[string]int{}, map[string]int{} // slices that a walk reached, at least Lead ago and since
	for i := range rapid.IntRange(1, 30).Draw(rt, "triggers") {
		tr := newTrigger(uint64(i+1), rapid.IntRange(-2, 2).Draw(rt, "from"), rapid.IntRange(3, 8).Draw(rt, "hours"),
			rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b"}), 0, 2, rapid.ID[string]).Draw(rt, "plans")...)
		all = append(all, tr)
		ws.Accepted(tr)
		if rapid.Bool().Draw(rt, "walks") {
			walker := all[rapid.IntRange(0, i).Draw(rt, "walker")]
			slice := rapid.IntRange(0, 3).Draw(rt, "slice")
			ws.Reached(at(walker, slice, slice == 3))
			fresh[walker.ID] = max(fresh[walker.ID], slice+1)
		}
		if rapid.Bool().Draw(rt, "waits") {
			<-time.After(2 * Lead)
			for id, slice := range fresh {
				ripe[id] = max(ripe[id], slice)
			}
			clear(fresh)
		}
		plan, late := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(rt, "plan"), rapid.Bool().Draw(rt, "late")
		for at := range 4 * len(all) {
			o := Place{&all[at/4], at % 4, late}
			want := slices.ContainsFunc(all, func(newer events.Trigger) bool {
				return newer.Covers(o.Trigger, noon) && newer.Selects(plan) && (late || ripe[newer.ID] > o.Slice)
			})
			if _, got := ws.SupersededBy(o, noon, plan); got != want {
				return fmt.Sprintf("slice %d of %s is superseded: %v, want %v; %d of %d triggers remain",
					o.Slice, o.Trigger.ID, got, want, len(ws.byOrg["org"]), len(all))
			}
		}
	}
	return ""
}

// synctestOf runs a test in a synctest bubble. A panic leaves the bubble: rapid ends a test by
// panics while it looks for a shorter one that fails.
func synctestOf(t *testing.T, run func()) {
	var failed any
	synctest.Test(t, func(*testing.T) {
		defer func() { failed = recover() }()
		run()
	})
	if failed != nil {
		panic(failed)
	}
}

// A notification takes no memory, because it supersedes nothing. A follower that reads the log
// again after an interruption adds no trigger twice.
func TestTracker_Accepted(t *testing.T) {
	ws, notification := NewTracker(), newTrigger(3, 0, 4)
	notification.Change = &events.Change{}
	for _, trigger := range []events.Trigger{newTrigger(1, 0, 4), newTrigger(1, 0, 4), newTrigger(2, 0, 4), newTrigger(1, 0, 4), newTrigger(2, 0, 4), notification} {
		ws.Accepted(trigger)
	}
	if list := ws.byOrg["org"]; len(list) != 2 || list[0].Sequence != 1 || list[1].Sequence != 2 || ws.known != 2 {
		t.Errorf("%d known triggers: %+v", ws.known, list)
	}
}

// Memory is bounded with any number of triggers and positions. The positions of known triggers
// stay. Triggers that a completed walk supersedes are dropped.
func TestTracker_Bounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // at first no walk has its lead
		ws := NewTracker()
		var latest events.Trigger
		for i := range 3 * maxWalks {
			latest = newTrigger(uint64(i+1), i%24, 1)
			ws.Accepted(latest)
			if !ws.Advance(at(latest, 0, true)) { // otherwise no worker publishes it
				t.Fatal("a new position is known")
			}
		}
		for _, known := range ws.byOrg["org"] {
			if _, ok := ws.positions[known.ID]; !ok || len(ws.positions) != maxWalks {
				t.Fatalf("%d positions, and one of %s: %v", len(ws.positions), known.ID, ok)
			}
		}
		for i := range 3 * sparePositions {
			ws.Reached(events.WalkPosition{OrganizationID: "other", TriggerID: fmt.Sprint("unknown_", i)})
		}
		if n, p := len(ws.byOrg["org"]), len(ws.positions); n != maxWalks || p > maxWalks+sparePositions+1 || ws.known != n {
			t.Errorf("tracker has %d triggers (%d counted) and %d positions", n, ws.known, p)
		}
		if ws.Advance(at(latest, 0, true)) {
			t.Error("the position of a known trigger is dropped")
		}
		<-time.After(Lead)
		ws.Accepted(newTrigger(latest.Sequence+1, 0, 1))
		if n := len(ws.byOrg["org"]); n != 25 {
			t.Errorf("tracker has %d triggers, want the newest and the last of each window", n)
		}
	})
}

// A position may arrive before its trigger.
func TestTracker_PositionBeforeTrigger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ws, older, newer := NewTracker(), newTrigger(1, 0, 4), newTrigger(2, 0, 4)
		ws.Reached(at(newer, 5, false))
		ws.Accepted(newer)
		<-time.After(Lead)
		if _, superseded := ws.SupersededBy(Place{&older, 5, false}, noon); !superseded {
			t.Error("the position is lost")
		}
	})
}

// A worker that starts knows no time of the positions it reads. They count at once.
func TestTracker_CaughtUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ws, older, newer := NewTracker(), newTrigger(1, 0, 4), newTrigger(2, 0, 4)
		ws.Accepted(newer)
		ws.Reached(at(newer, 5, false))
		ws.CaughtUp()
		if _, superseded := ws.SupersededBy(Place{&older, 5, false}, noon); !superseded {
			t.Error("the position does not count")
		}
	})
}

// Triggers that no retry can meet are dropped, of every organization. Triggers with an open
// window stay, and for as long as any retry triggers with a window in the past.
func TestTracker_Sweep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ws, sequence := NewTracker(), uint64(0)
		accept := func(org string, hours int) {
			sequence++
			tr := newTrigger(sequence, 0, hours, "plan")
			tr.OrganizationID, tr.CreatedAt.Time = org, time.Now()
			tr.Start.Time, tr.End.Time = time.Now(), time.Now().Add(time.Duration(hours)*time.Hour)
			ws.Accepted(tr)
			ws.Reached(at(tr, 0, true))
		}
		accept("gone", 24)
		accept("org", 24)
		accept("org", 72)
		accept("past", -1)
		for _, tt := range []struct {
			wait                 time.Duration
			triggers, ofOrg, ofX int
		}{
			{23 * time.Hour, 5, 2, 1}, {2 * time.Hour, 3, 1, 2}, {48 * time.Hour, 1, 0, 1},
		} {
			<-time.After(tt.wait + time.Second)
			accept("x", 24)
			if ws.known != tt.triggers || len(ws.positions) != tt.triggers || len(ws.byOrg["org"]) != tt.ofOrg || len(ws.byOrg["x"]) != tt.ofX {
				t.Errorf("after another %s: %d triggers, %d positions: %v", tt.wait, ws.known, len(ws.positions), ws.byOrg)
			}
		}
		if len(ws.byOrg) != 1 {
			t.Errorf("%d organizations have triggers, want 1", len(ws.byOrg))
		}
	})
}
