package dispatcher

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// A price signal is a state: what counts is the newest. Once a newer trigger of
// the organization is accepted for what is left of a signal's window, the older
// signal is not tried again: the newer one will reach every home, or say why not.
//
// A signal that comes in its turn is sent all the same until the newer walk has come
// to its slice: otherwise triggers that follow one another faster than a walk takes
// would leave the last homes without any. By triggers and slices, and not by time: the
// clocks of workers may differ.

// newestFor is how long an organization's newest trigger is remembered, so that
// many retries together ask once, and turnFor how long it is that a turn has not been
// lost.
const (
	newestFor = 50 * time.Millisecond
	turnFor   = 50 * time.Millisecond
)

// What is in its turn does not wait for a message system that hangs: a look before an
// attempt may take no longer than lookWait, and one that failed is not repeated for
// blindFor.
const (
	lookWait = 250 * time.Millisecond
	blindFor = time.Second
)

// newest remembers the newest triggers of organizations.
type newest struct {
	mu   sync.Mutex
	seen map[string]*newestSeen
}

// newestSeen is what was seen of one organization. Of many that want to know, one
// asks, and the others wait for the answer.
type newestSeen struct {
	mu      sync.Mutex
	trigger events.Trigger
	err     error
	at      time.Time // when it was asked for, or failed; zero for never

	// since are the triggers after a sequence, as far as they were looked at.
	since []events.Trigger
	after uint64
}

// maxNewest bounds the organizations that are remembered.
const maxNewest = 4096

// of is what was seen of an organization.
func (n *newest) of(org string) *newestSeen {
	n.mu.Lock()
	defer n.mu.Unlock()
	s := n.seen[org]
	if s == nil {
		if len(n.seen) >= maxNewest {
			clear(n.seen)
		}
		s = &newestSeen{}
		n.seen[org] = s
	}
	return s
}

// newestOf is an organization's newest trigger, zero when it has none.
func (w *Worker) newestOf(ctx context.Context, org string) (events.Trigger, error) {
	s := w.newest.of(org)
	s.mu.Lock()
	defer s.mu.Unlock()
	now := w.Now()
	if !s.at.IsZero() && now.Sub(s.at) <= newestFor && !now.Before(s.at) {
		return s.trigger, s.err
	}
	s.trigger, s.err = w.Bus.Newest(ctx, org)
	if s.at = now; s.err != nil {
		s.at = w.Now() // it may have taken long, and those who waited must not do so again
	}
	return s.trigger, s.err
}

// turn is the place of a slice, or of a retry of its homes, in the order of signals.
type turn struct {
	trigger *events.Trigger
	slice   int
	// late says that it is not the slice's first time: it was tried, parked, or
	// handed out before, or its walk began late.
	late bool

	mu   sync.Mutex
	good time.Time // until when what was seen last is good
	// by is the newer trigger to which the turn is lost, and some are those to which
	// it is for the homes that they mean.
	by   *events.Trigger
	some []events.Trigger
}

// known reports whether what was seen last is good.
func (t *turn) known(now time.Time) bool { return t.by != nil || now.Before(t.good) }

// look looks whether the turn is lost.
func (w *Worker) look(ctx context.Context, t *turn) error {
	now := w.Now()
	if t.known(now) {
		return nil
	}
	newest, err := w.newestOf(ctx, t.trigger.OrganizationID)
	var by *events.Trigger
	var some []events.Trigger
	switch {
	case err != nil:
		return err
	case newest.Sequence <= t.trigger.Sequence: // it is the newest itself
	case t.late && newest.Supersedes(t.trigger, now):
		by = &newest
	default:
		if by, some, err = w.overtaking(ctx, t, &newest, now); err != nil {
			return err
		}
	}
	t.good, t.by, t.some = now.Add(turnFor), by, some
	return nil
}

// maxSince bounds the triggers of an organization that are remembered.
const maxSince = 1024

// triggersSince are an organization's triggers after a sequence, up to its newest. The
// log only grows: what was read of it is not read again.
func (w *Worker) triggersSince(ctx context.Context, newest *events.Trigger, after uint64) ([]events.Trigger, error) {
	s := w.newest.of(newest.OrganizationID)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.since) == 0 || after < s.after {
		s.since, s.after = nil, after
	}
	for last := s.last(); last < newest.Sequence; last = s.last() {
		next, err := w.Bus.Next(ctx, newest.OrganizationID, last)
		if err != nil {
			return nil, err
		}
		if next.ID == "" { // it is kept no longer
			break
		}
		s.since = append(s.since, next)
	}
	all := s.since
	if n := len(all) - maxSince; n > 0 {
		s.since, s.after = slices.Clone(all[n:]), all[n-1].Sequence
	}
	for len(all) > 0 && all[0].Sequence <= after {
		all = all[1:]
	}
	return slices.Clip(all), nil
}

// last is the sequence up to which triggers are known.
func (s *newestSeen) last() uint64 {
	if n := len(s.since); n > 0 {
		return s.since[n-1].Sequence
	}
	return s.after
}

// overtaking are the newer triggers that a turn is lost to: all when it is late, and
// otherwise those whose walk has come to its slice before it.
func (w *Worker) overtaking(ctx context.Context, t *turn, newest *events.Trigger, now time.Time) (by *events.Trigger, some []events.Trigger, err error) {
	since, err := w.triggersSince(ctx, newest, t.trigger.Sequence)
	if err != nil {
		return nil, nil, err
	}
	for _, newer := range since {
		if !newer.Covers(t.trigger, now) {
			continue
		}
		if !t.late {
			if reached, err := w.Bus.Reached(ctx, newer, t.slice); err != nil {
				return nil, nil, err
			} else if !reached {
				continue
			}
		}
		if len(newer.RatePlanIDs) == 0 {
			return &newer, nil, nil
		}
		some = append(some, newer)
	}
	return nil, some, nil
}

// over is the newer trigger to which all of the turn is lost, nil when there is none.
func (w *Worker) over(ctx context.Context, t *turn) (*events.Trigger, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	err := w.look(ctx, t)
	return t.by, err
}

// lost is the newer trigger to which a job has lost its turn, as it waited or those
// before it took long. What cannot be found out now was good when its slice was taken.
func (w *Worker) lost(ctx context.Context, j *job) *events.Trigger {
	t := j.turn
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.known(w.Now()) {
		soon, cancel := context.WithTimeout(ctx, lookWait)
		err := w.look(soon, t)
		cancel()
		if err != nil {
			t.good = w.Now().Add(blindFor)
			w.Log.Debug("whether a newer trigger has taken a signal's place cannot be seen now", "trigger", j.trigger.ID, "error", err)
		}
	}
	for i := range t.some {
		if t.some[i].Means(j.signal.RatePlanID) {
			return &t.some[i]
		}
	}
	return t.by
}

// superseded is the outcome of what a newer trigger has taken the place of.
func (w *Worker) superseded(messageID, homeID, endpointID string, attempts int, by *events.Trigger) events.Delivery {
	return events.Delivery{
		MessageID: messageID, HomeID: homeID, EndpointID: endpointID,
		Outcome: events.OutcomeSuperseded, Attempt: attempts, At: storage.Time{Time: w.Store.Now()},
		Reason: "the newer trigger " + by.ID + " has taken its place",
	}
}
