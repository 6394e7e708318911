package dispatcher

import (
	"math"
	"slices"
	"sync"
	"time"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// A price signal is a state, so only the newest signal counts. A newer trigger of the
// organization supersedes an older signal if it covers the rest of the signal's window:
//
//   - It supersedes a retry, or a late slice, as soon as it is accepted. The newer
//     signal
// will reach every home, or record why not.
//   - It supersedes a first attempt once its walk reached the same slice supersedeLead ago.
// Otherwise triggers that follow faster than a walk takes would leave the last homes
// without any signal.
//
// The log of triggers decides the order. The clocks of workers do not matter.

// walks holds the recent triggers of each organization and the positions of their walks.
// A supersede check reads only memory.
type walks struct {
	mu sync.RWMutex
	// byOrg holds each organization's triggers that can supersede others, oldest first.
	byOrg map[string][]events.Trigger
	// positions holds positions by trigger. A position may arrive before its trigger.
	positions map[string]position
	known     int // number of triggers in byOrg
	// active holds, by organization, when a trigger was last accepted or a walk last moved.
	active map[string]time.Time
}

// position is a walk's position. The walk reached the slice ripe at least supersedeLead ago,
// and the latest slice at since.
type position struct {
	events.WalkPosition
	ripe  int
	since time.Time
}

// reached returns the slice that the walk reached at least supersedeLead ago, -1 for none.
func (p *position) reached(now time.Time) int {
	switch {
	case now.Sub(p.since) < supersedeLead:
		return p.ripe
	case p.Last:
		return math.MaxInt
	}
	return p.Slice
}

// supersedeLead is the minimum lead of a newer walk before it supersedes a first attempt. So
// of two triggers accepted together, the older trigger is still delivered.
const supersedeLead = 50 * time.Millisecond

// Limits of walks.
const (
	// maxWalks limits the triggers of one organization. The oldest are dropped first.
	maxWalks = 256
	// sparePositions limits the positions of unknown triggers.
	sparePositions = 4096
)

func newWalks() *walks {
	return &walks{byOrg: map[string][]events.Trigger{}, positions: map[string]position{}, active: map[string]time.Time{}}
}

// Accepted adds a trigger. Triggers arrive in the order of their sequences.
func (ws *walks) Accepted(t events.Trigger) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.active[t.OrganizationID] = time.Now()
	if t.Change != nil {
		return
	}
	list := ws.byOrg[t.OrganizationID]
	if n := len(list); n > 0 && list[n-1].Sequence >= t.Sequence {
		return // already known
	}
	if len(list) >= maxWalks {
		delete(ws.positions, list[0].ID)
		list = slices.Delete(list, 0, 1)
		ws.known--
	}
	ws.byOrg[t.OrganizationID] = append(list, t)
	ws.known++
	if p, ok := ws.positions[t.ID]; ok && p.Last {
		ws.prune(&t)
	}
}

// Reached records the position of a walk. Positions may arrive in any order.
func (ws *walks) Reached(p events.WalkPosition) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.active[p.OrganizationID] = time.Now()
	was, known := ws.positions[p.TriggerID]
	if known && was.Slice >= p.Slice && (was.Last || !p.Last) {
		return
	}
	now := position{WalkPosition: p, ripe: -1, since: time.Now()}
	if known {
		now.Last, now.Slice = p.Last || was.Last, max(p.Slice, was.Slice)
		if now.ripe = was.reached(now.since); now.ripe == was.ripe {
			now.since = was.since // the previous position is not ripe yet
		}
	}
	ws.positions[p.TriggerID] = now
	if len(ws.positions) > ws.known+sparePositions {
		ws.dropUnknown()
	}
	if !now.Last || was.Last {
		return
	}
	list := ws.byOrg[p.OrganizationID]
	if i := slices.IndexFunc(list, func(t events.Trigger) bool { return t.ID == p.TriggerID }); i >= 0 {
		ws.prune(&list[i])
	}
}

// activeFor is how long an organization counts as active after its last walk moved. Its
// last slices may still be queued.
const activeFor = 10 * time.Second

// othersActive reports whether the queue may hold slices of other organizations.
func (ws *walks) othersActive(org string) bool {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for other, moved := range ws.active {
		switch {
		case time.Since(moved) > activeFor:
			delete(ws.active, other)
		case other != org:
			return true
		}
	}
	return false
}

// prune drops the triggers that by supersedes. The walk of by has reached every slice. So
// by also supersedes every signal of an open window that a dropped trigger supersedes.
func (ws *walks) prune(by *events.Trigger) {
	org, newest := by.OrganizationID, *by
	list := slices.DeleteFunc(ws.byOrg[org], func(t events.Trigger) bool {
		drop := newest.Supersedes(&t, newest.CreatedAt.Time)
		if drop {
			delete(ws.positions, t.ID)
			ws.known--
		}
		return drop
	})
	ws.byOrg[org] = list
}

// dropUnknown drops the positions of unknown triggers.
func (ws *walks) dropUnknown() {
	known := make(map[string]bool, ws.known)
	for _, list := range ws.byOrg {
		for i := range list {
			known[list[i].ID] = true
		}
	}
	for id := range ws.positions {
		if !known[id] {
			delete(ws.positions, id)
		}
	}
}

// order is the position of a slice, or of a retry of its homes, in the order of signals.
type order struct {
	trigger *events.Trigger
	slice   int
	// late reports whether it is a retry or a late slice. A slice is late if it was
	// parked or handed out before, or its walk began late.
	late bool
}

// supersededBy returns the identifier of a newer trigger that supersedes a home's signal
// on a rate plan, "" if there is none.
func (ws *walks) supersededBy(o order, ratePlanID string, now time.Time) string {
	ws.mu.RLock()
	defer ws.mu.RUnlock()
	list, heard := ws.byOrg[o.trigger.OrganizationID], time.Now()
	for i := len(list) - 1; i >= 0; i-- {
		newer := &list[i]
		if newer.Sequence <= o.trigger.Sequence {
			break
		}
		if !newer.Means(ratePlanID) || !newer.Covers(o.trigger, now) {
			continue
		}
		if o.late {
			return newer.ID
		}
		if p, ok := ws.positions[newer.ID]; ok && p.reached(heard) >= o.slice {
			return newer.ID
		}
	}
	return ""
}

// superseded returns the outcome of a superseded job. ok is false if no newer trigger
// supersedes the job.
func (w *Worker) superseded(j *job) (d events.Delivery, ok bool) {
	if !j.Signals() {
		return d, false
	}
	by := w.walks.supersededBy(j.order, j.Signal.RatePlanID, w.Now())
	if by == "" {
		return d, false
	}
	return events.Delivery{
		MessageID: j.ID, HomeID: j.Signal.HomeID, EndpointID: j.target.ID,
		Outcome: events.OutcomeSuperseded, Attempt: j.attempt - 1, At: storage.Time{Time: w.Store.Now()},
		Reason: "superseded by the newer trigger " + by,
	}, true
}

// supersede returns the jobs that no newer trigger supersedes, and the outcomes of the
// superseded jobs.
func (w *Worker) supersede(jobs []job) (left []job, outcomes []events.Delivery) {
	left = jobs[:0]
	for i := range jobs {
		if d, ok := w.superseded(&jobs[i]); ok {
			outcomes = append(outcomes, d)
		} else {
			left = append(left, jobs[i])
		}
	}
	return left, outcomes
}
