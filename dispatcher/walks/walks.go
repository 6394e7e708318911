package walks

import (
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/gridhook/gridhook/events"
)

// Tracker holds the recent triggers of each organization and the positions of their walks.
// A supersede check reads only memory. It is an events.WalkFollower.
type Tracker struct {
	mu sync.RWMutex
	// byOrg holds each organization's triggers that can supersede others, oldest first.
	byOrg map[string][]events.Trigger
	// positions holds positions by trigger. A position may arrive before its trigger.
	positions map[string]position
	known     int       // number of triggers in byOrg
	swept     time.Time // time of the last sweep
}

// position is a walk's position: the latest slice, an earlier slice that becomes ripe next,
// and the latest ripe slice. A slice is ripe if the walk reached it at least Lead ago, and
// counts as ripe after at most twice that. Each is -1 for none, and allSlices once the
// walk reached its last slice.
type position struct {
	latest, pending, ripe     int
	latestSince, pendingSince time.Time
}

// reached returns the slice that the walk reached at least Lead ago, -1 for none.
func (p position) reached(now time.Time) int {
	switch {
	case now.Sub(p.latestSince) >= Lead:
		return p.latest
	case now.Sub(p.pendingSince) >= Lead:
		return p.pending
	}
	return p.ripe
}

// next returns the position after the walk reached a slice.
func (p position) next(slice int, now time.Time) position {
	n := position{latest: slice, latestSince: now, ripe: p.reached(now), pending: p.pending, pendingSince: p.pendingSince}
	if n.ripe >= p.pending { // a pending slice stays until it is ripe
		n.pending, n.pendingSince = p.latest, p.latestSince
	}
	return n
}

// Lead is the minimum lead of a newer walk before it supersedes a first attempt. So
// of two triggers accepted together, the older trigger is still delivered.
const Lead = 50 * time.Millisecond

// allSlices is the position of a walk that reached its last slice.
const allSlices = math.MaxInt

// Limits of walks.
const (
	// maxWalks limits the triggers of one organization. The oldest are dropped first.
	maxWalks = 256
	// sparePositions limits the positions of unknown triggers.
	sparePositions = 4096
	// sweepEvery is the interval between two sweeps.
	sweepEvery = time.Hour
)

// NewTracker returns an empty tracker.
func NewTracker() *Tracker {
	return &Tracker{byOrg: map[string][]events.Trigger{}, positions: map[string]position{}}
}

// Accepted adds a trigger. Triggers arrive in the order of their sequences.
func (ws *Tracker) Accepted(t events.Trigger) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if t.Change != nil {
		return
	}
	ws.sweep(time.Now())
	list := ws.byOrg[t.OrganizationID]
	if n := len(list); n > 0 && list[n-1].Sequence >= t.Sequence {
		return // already known
	}
	list = ws.prune(t.OrganizationID)
	if len(list) >= maxWalks {
		delete(ws.positions, list[0].ID)
		list = slices.Delete(list, 0, 1)
		ws.known--
	}
	ws.byOrg[t.OrganizationID] = append(list, t)
	ws.known++
}

// Reached records the position of a walk. Positions may arrive in any order.
func (ws *Tracker) Reached(p events.WalkPosition) { ws.Advance(p) }

// Advance records the position of a walk. It reports whether the walk was not known to
// have reached the position.
func (ws *Tracker) Advance(p events.WalkPosition) bool {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	was, known := ws.positions[p.TriggerID]
	if !known {
		was = position{latest: -1, pending: -1, ripe: -1}
	}
	slice := p.Slice
	if p.Last {
		slice = allSlices
	}
	if slice <= was.latest {
		return false
	}
	ws.positions[p.TriggerID] = was.next(slice, time.Now())
	if len(ws.positions) > ws.known+sparePositions {
		ws.dropUnknown()
	}
	return true
}

// CaughtUp makes the positions read so far count at once. A worker calls it when it has read
// every position that existed at its start. The walks reached them before.
func (ws *Tracker) CaughtUp() {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for id, p := range ws.positions {
		p.latestSince = time.Time{}
		ws.positions[id] = p
	}
}

// prune drops the triggers of an organization that a newer trigger supersedes, and returns
// the others. The newer walk reached its last slice at least Lead ago. So the newer trigger
// also supersedes every signal of an open window that a dropped trigger supersedes.
func (ws *Tracker) prune(org string) []events.Trigger {
	now := time.Now()
	var completed []events.Trigger
	for _, t := range ws.byOrg[org] {
		if ws.positions[t.ID].reached(now) == allSlices {
			completed = append(completed, t)
		}
	}
	ws.drop(org, func(t *events.Trigger) bool {
		return slices.ContainsFunc(completed, func(newer events.Trigger) bool { return newer.Supersedes(t, newer.CreatedAt.Time) })
	})
	return ws.byOrg[org]
}

// sweep drops the triggers of all organizations that are older than any retry and whose
// window has ended. Without it, triggers for some rate plans would stay in memory, and the
// triggers of deleted organizations.
func (ws *Tracker) sweep(now time.Time) {
	if now.Sub(ws.swept) < sweepEvery {
		return
	}
	ws.swept = now
	for org := range ws.byOrg {
		ws.drop(org, func(t *events.Trigger) bool {
			return now.Sub(t.CreatedAt.Time) > events.LongestRetry && t.End.Before(now)
		})
	}
}

// drop drops triggers of an organization, and their positions.
func (ws *Tracker) drop(org string, gone func(*events.Trigger) bool) {
	ws.byOrg[org] = slices.DeleteFunc(ws.byOrg[org], func(t events.Trigger) bool {
		drop := gone(&t)
		if drop {
			delete(ws.positions, t.ID)
			ws.known--
		}
		return drop
	})
	if len(ws.byOrg[org]) == 0 {
		delete(ws.byOrg, org)
	}
}

// dropUnknown drops the positions of unknown triggers.
func (ws *Tracker) dropUnknown() {
	known := make(map[string]bool, ws.known)
	for _, list := range ws.byOrg {
		for i := range list {
			known[list[i].ID] = true
		}
	}
	maps.DeleteFunc(ws.positions, func(id string, _ position) bool { return !known[id] })
}

// passed reports whether a walk that reached a slice has reached the start of an older
// trigger's slice. The slices of the two may differ in size.
func passed(reached int, newer *events.Trigger, o Place) bool {
	return reached >= o.Slice*o.Trigger.SliceHomes()/newer.SliceHomes()
}

// Place is the place of a slice, or of a retry of its homes, in the order of signals.
type Place struct {
	Trigger *events.Trigger
	Slice   int
	// Late reports whether it is a retry or a late slice. A slice is late if it waited for
	// a failing endpoint or for room in the organization's history, was handed out before, or
	// its walk began late.
	Late bool
}

// SupersededBy returns a newer trigger that supersedes a home's signal. ok is false if there
// is none. plans are the rate plan of the signal, and the home's plan now if it has changed:
// a trigger for some plans supersedes the signal only if it selects both.
func (ws *Tracker) SupersededBy(o Place, now time.Time, plans ...string) (newer events.Trigger, ok bool) {
	ws.mu.RLock()
	defer ws.mu.RUnlock()
	list := ws.byOrg[o.Trigger.OrganizationID]
	for i := len(list) - 1; i >= 0; i-- {
		newer := &list[i]
		if newer.Sequence <= o.Trigger.Sequence {
			break
		}
		if !newer.Covers(o.Trigger, now) || slices.ContainsFunc(plans, func(plan string) bool { return !newer.Selects(plan) }) {
			continue
		}
		if o.Late {
			return *newer, true
		}
		if p, ok := ws.positions[newer.ID]; ok && passed(p.reached(time.Now()), newer, o) {
			return *newer, true
		}
	}
	return events.Trigger{}, false
}

// Superseded reports whether a newer trigger supersedes every signal of a slice.
func (ws *Tracker) Superseded(o Place, now time.Time) bool {
	plans := o.Trigger.RatePlanIDs
	if len(plans) == 0 {
		plans = []string{""} // only a trigger for all plans selects it
	}
	_, ok := ws.SupersededBy(o, now, plans...)
	return ok
}
