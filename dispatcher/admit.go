package dispatcher

import (
	"context"
	"math"
	"time"

	"github.com/gridhook/gridhook/dispatcher/gate"
	"github.com/gridhook/gridhook/dispatcher/target"
	"github.com/gridhook/gridhook/dispatcher/walks"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// recipients are the endpoints of a slice.
type recipients struct {
	targets []*target.Target
	broken  []target.Broken
	availability
}

// availability says which endpoints were available at the admission of a slice. It is not
// looked at again before the deliveries: slices that are admitted together would otherwise
// find their endpoint full, and postpone all deliveries.
type availability struct {
	// until holds the unavailable endpoints, each with the end of that time.
	until map[*gate.Endpoint]time.Time
	// parkUntil is set if no endpoint is available. late reports whether the slice is late
	// then: an endpoint is down because of failures, or the organization has no room.
	parkUntil time.Time
	late      bool
}

// admit returns the endpoints of a trigger once one of them is available. A slice for a
// slow endpoint waits in memory, so that the endpoint stays busy. If all endpoints are
// down or silent, or the organization has no room for outcomes, admit sets parkUntil, and the
// caller parks the walk. A late slice that a newer trigger supersedes needs no endpoint: while
// it waited for one, its trigger would count as waiting.
func (w *Worker) admit(ctx context.Context, place walks.Place, taken events.Taken) (recipients, error) {
	t := place.Trigger
	if until := w.noRoomUntil(t, events.WalksWait, deadline(t, storage.RetryPolicy{}, 1)); !until.IsZero() {
		w.Log.Warn("history of the organization is too large, its walk waits", "org", t.OrganizationID, "trigger", t.ID, "until", until)
		return recipients{availability: availability{parkUntil: until, late: true}}, nil
	}
	for {
		var to recipients
		if t.Change != nil {
			return to, ctx.Err() // each subscription has its own endpoint
		}
		err := w.view(func(v storage.View) (err error) {
			to.targets, to.broken, err = w.targets.List(v, t.OrganizationID, storage.EventPriceSignalUpdated)
			return err
		})
		if err != nil {
			return to, err
		}
		ready := func() bool {
			to.availability = w.availability(t, to.targets, w.Now())
			if !to.parkUntil.IsZero() && place.Late && w.walks.Superseded(place, w.Now()) {
				to.parkUntil = time.Time{}
			}
			return to.parkUntil.IsZero()
		}
		if ready() {
			return to, nil
		}
		if !w.gate.AwaitCapacity(ctx, waitOfSlice(to.targets, ready, taken)) {
			return to, ctx.Err()
		}
	}
}

// servers returns one target of each server of callbacks.
func servers(jobs []job) (targets []*target.Target) {
	for _, which := range byGate(jobs) {
		targets = append(targets, jobs[which[0]].target)
	}
	return targets
}

// awaitServers waits until a server of a slice's callbacks is available. If all servers are
// down or silent, it parks the slice, so callbacks that wait cost one message for each slice.
// ended reports whether the slice is parked, or another worker has processed it.
func (w *Worker) awaitServers(ctx context.Context, s *events.Slice, to *recipients, targets []*target.Target, taken events.Taken) (ended bool, err error) {
	ready := func() bool {
		to.availability = w.availability(&s.Trigger, targets, w.Now())
		return to.parkUntil.IsZero()
	}
	for w.gate.AwaitCapacity(ctx, waitOfSlice(targets, ready, taken)) && !ready() {
	}
	if err := ctx.Err(); err != nil {
		return true, err
	}
	if done, err := w.done(ctx, s, w.Now().Sub(taken.At) >= longWait); done || err != nil {
		return true, err
	}
	if !to.parkUntil.IsZero() {
		w.metrics.walksParked.Inc()
		return true, w.park(ctx, s, to.parkUntil)
	}
	return false, nil
}

// readCallbacks reads a slice's subscriptions again after a wait. Some and their clients may be
// gone.
func (w *Worker) readCallbacks(s *events.Slice, to recipients, place walks.Place) (homes sliceOfHomes, jobs []job, outcomes []events.Delivery, err error) {
	if homes, err = w.readHomes(s); err != nil {
		return homes, nil, nil, err
	}
	jobs, outcomes, err = w.price(s, &homes, to, place)
	return homes, jobs, outcomes, err
}

func waitOfSlice(targets []*target.Target, ready func() bool, taken events.Taken) gate.Wait {
	wait := gate.Wait{Ready: ready, Free: taken.Free, Patience: gate.ParkAfter, Size: taken.Size}
	for _, t := range targets {
		wait.Endpoints = append(wait.Endpoints, t.Gate)
	}
	return wait
}

// availability finds the availability of a slice's endpoints. A slice past its deadline does
// not wait.
//
// A slice that waits for a failing endpoint is late afterwards, so a newer trigger
// supersedes it at once. A slice that waits for a slow endpoint, or for the end of a
// Retry-After, is not late. Otherwise triggers could arrive faster than such an endpoint
// takes their walks. The last homes would then never receive any signal.
func (w *Worker) availability(t *events.Trigger, targets []*target.Target, now time.Time) (a availability) {
	a.until = w.unavailable(targets, now)
	if len(a.until) < len(targets) || len(targets) == 0 {
		return a
	}
	var first, last time.Time
	for _, e := range targets {
		until := a.until[e.Gate]
		a.late = a.late || e.Gate.Failing(now)
		if first.IsZero() || until.Before(first) {
			first = until
		}
		if e.Gate.Failing(now) {
			last = storage.Later(last, t.Deadline(e.RetryPolicy))
		} else {
			last = storage.Later(last, deadline(t, e.RetryPolicy, 1))
		}
	}
	if !now.Before(last) {
		return a
	}
	a.parkUntil = storage.Earlier(first, last)
	return a
}

// unavailable returns the endpoints of a slice that are unavailable. An endpoint is
// unavailable, too, beside one that has reached its limit, unless it is clearly faster:
// otherwise a fast endpoint that is full for a moment would get its deliveries by retries,
// seconds later.
func (w *Worker) unavailable(targets []*target.Target, now time.Time) map[*gate.Endpoint]time.Time {
	var until map[*gate.Endpoint]time.Time
	set := func(e *gate.Endpoint, at time.Time) {
		if until == nil {
			until = map[*gate.Endpoint]time.Time{}
		}
		until[e] = at
	}
	fastestFull := time.Duration(math.MaxInt64)
	for _, e := range targets {
		if at := w.unavailableUntil(e, now); !at.IsZero() {
			set(e.Gate, at)
			if e.Gate.OpenUntil(now).IsZero() {
				fastestFull = min(fastestFull, e.Gate.Pace())
			}
		}
	}
	for _, e := range targets {
		if until[e.Gate].IsZero() && 2*e.Gate.Pace() >= fastestFull {
			set(e.Gate, w.staggered(now.Add(gate.ParkAfter)))
		}
	}
	return until
}

// unavailableUntil returns the time until which an endpoint is unavailable: it is down,
// or has reached its limit of slow slices. It returns zero if the endpoint is available.
func (w *Worker) unavailableUntil(e *target.Target, now time.Time) time.Time {
	until := e.Gate.OpenUntil(now)
	if e.Gate.Full() {
		until = storage.Later(until, now.Add(gate.ParkAfter))
	}
	return w.staggered(until)
}

// roomEvery is how often a slice looks for room in its organization's history, and a retry at
// first.
const roomEvery = time.Minute

// noRoomUntil returns the time until which a slice or a retry waits because its
// organization's history takes that multiple of its quota. It returns zero if it need not
// wait, or its deadline has passed.
func (w *Worker) noRoomUntil(t *events.Trigger, multiple int, end time.Time) time.Time {
	now := w.Now()
	if w.Histories.Multiple(t.OrganizationID, now) < multiple || !now.Before(end) {
		return time.Time{}
	}
	return storage.Earlier(w.staggered(now.Add(roomEvery)), end)
}

// staggered adds a random delay, so that parked work does not return all at once.
func (w *Worker) staggered(until time.Time) time.Time {
	if until.IsZero() {
		return until
	}
	return until.Add(time.Duration(w.Jitter() * float64(gate.ParkAfter)))
}

// park postpones a slice and the rest of its lane as one message on disk. So an endpoint
// that is down costs a handful of messages, whatever the number of homes.
func (w *Worker) park(ctx context.Context, s *events.Slice, until time.Time) error {
	_, err := w.putRetries(ctx, events.Retry{
		Trigger: s.Trigger, Sequence: s.Sequence, DueAt: storage.Time{Time: until.Add(s.ClockLag).UTC()}, Walk: s,
	})
	return err
}
