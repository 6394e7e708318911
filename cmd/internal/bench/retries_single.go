package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/cmd/internal/sandbox"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// SingleRetries is what homes cost that failed one by one, and whether each is tried
// in its time although the process is killed.
type SingleRetries struct {
	Homes int `json:"homes"`
	// Waiting is how many waited when the process was killed.
	Waiting int `json:"waiting"`
	// Overdue is how many of these were due by the time that it was ready again.
	Overdue int `json:"overdue"`
	// Tried is how many of these were tried again, Lost how many were not; Early is
	// how many were before they were due, Late how many more than lateAfter after that,
	// and Repeated how many attempts came twice.
	Tried    int `json:"tried"`
	Lost     int `json:"lost"`
	Early    int `json:"early"`
	Late     int `json:"late"`
	Repeated int `json:"repeated"`
	// How long after they were due they came; what was due while nobody was there
	// counts from when the process was ready again. Times are in whole seconds.
	LateP50Ms float64 `json:"lateP50Ms"`
	LateP99Ms float64 `json:"lateP99Ms"`
	LateMaxMs float64 `json:"lateMaxMs"`
	// ReadyMs is how long the process took to be ready again.
	ReadyMs float64 `json:"readyMs"`
	// Before is what the process took with the homes alone, While what it did while
	// the retries waited, and After what it did once it had been started again.
	Before Memory `json:"before"`
	While  Memory `json:"while"`
	After  Memory `json:"after"`
	// StoreMB is what the files of the message system grew by.
	StoreMB float64 `json:"storeMB"`
}

const stumbling = "stumbling"

// lateAfter is how long after it was due a retry has to be explained.
const lateAfter = 10 * time.Second

func (m *retryMeter) single(ctx context.Context, s *SingleRetries) error {
	// Of the homes seven of eight are refused once, and some of these are due before
	// the walk is over.
	waiting, pause := 200_000, 600.0
	if m.Quick {
		waiting, pause = 3_000, 15
	}
	s.Homes = waiting * 8 / 5
	url := m.sink.URL + "stumble"
	err := m.furnish(ctx, stumbling, s.Homes, client.EndpointFields{
		URL: &url, RetryPolicy: &storage.RetryPolicy{InitialSeconds: pause, Multiplier: 1, MaxSeconds: pause, GiveUpSeconds: 7200},
	})
	if err != nil {
		return err
	}
	list, trigger, err := m.stumble(ctx, s)
	if err != nil {
		return err
	}
	m.say("retries: killing it")
	killed := time.Now()
	took, err := m.restart()
	if err != nil {
		return err
	}
	s.ReadyMs = float64(took.Milliseconds())
	m.say("retries: ready again after %s", took.Round(time.Millisecond))
	if s.After, err = m.memory(ctx); err != nil {
		return err
	}
	if err := m.awaitRetries(ctx, trigger, time.Duration(2*pause)*time.Second); err != nil {
		return err
	}
	return m.compare(ctx, s, list, killed, killed.Add(took))
}

// stumble has the homes walked, and lists those that wait then.
func (m *retryMeter) stumble(ctx context.Context, s *SingleRetries) (list map[string]waiter, trigger string, err error) {
	if s.Before, err = m.memory(ctx); err != nil {
		return nil, "", err
	}
	before, err := m.stored(ctx)
	if err != nil {
		return nil, "", err
	}
	t, err := m.trigger(ctx, stumbling)
	if err != nil {
		return nil, "", err
	}
	if _, err := m.progress(ctx, stumbling, t.TriggerID, func(p events.Progress) bool { return p.Walked == s.Homes }); err != nil {
		return nil, "", err
	}
	if s.While, err = m.memory(ctx); err != nil {
		return nil, "", err
	}
	during, err := m.stored(ctx)
	if err != nil {
		return nil, "", err
	}
	s.StoreMB = during - before
	list, err = m.waiters(ctx, t.TriggerID)
	return list, t.TriggerID, err
}

// waiter is a home that waits.
type waiter struct {
	// after is when its last attempt was over, and due when its next is.
	after, due time.Time
}

// waiters are the homes of a trigger that wait, by webhook-id.
func (m *retryMeter) waiters(ctx context.Context, trigger string) (map[string]waiter, error) {
	list, page := map[string]waiter{}, client.Page{Limit: 1000}
	for {
		part, next, err := m.Operator.For(stumbling).Deliveries(ctx, client.DeliveriesRequest{TriggerID: trigger, Outcome: events.OutcomeRetrying, Page: page})
		if err != nil {
			return nil, err
		}
		for i := range part {
			d := &part[i]
			list[d.MessageID] = waiter{d.At.Add(time.Duration(d.Milliseconds) * time.Millisecond), d.NextAt.Time}
		}
		if page.After = next; next == "" {
			return list, nil
		}
	}
}

// awaitRetries waits until nothing of a trigger waits any more.
func (m *retryMeter) awaitRetries(ctx context.Context, trigger string, patience time.Duration) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("retries still wait after %s", patience))
	defer cancel()
	told := time.Now()
	return sandbox.Poll(ctx, 500*time.Millisecond, func() (bool, error) {
		p, err := m.Operator.For(stumbling).GetTrigger(ctx, trigger)
		if time.Since(told) > 30*time.Second {
			told = time.Now()
			m.say("retries: %d wait", p.Outcomes[events.OutcomeRetrying])
		}
		return ended(p), err
	})
}

// compare compares when the retries came with when they were due.
func (m *retryMeter) compare(ctx context.Context, s *SingleRetries, list map[string]waiter, killed, ready time.Time) error {
	var came attempts
	if err := m.sink.get(ctx, "stumbled", &came); err != nil {
		return err
	}
	s.Repeated = came.Repeated
	var late []lateness
	for id, w := range list {
		at := came.next(id, w.after)
		switch {
		case at.IsZero():
			s.Lost++
		case at.Before(killed):
			continue // it had come before
		default:
			s.Tried++
			if at.Before(w.due.Truncate(time.Millisecond)) {
				s.Early++
			}
			due := w.due
			if due.Before(ready) {
				s.Overdue++
				due = ready
			}
			late = append(late, lateness{id, at.Sub(due)})
		}
		s.Waiting++
	}
	if len(late) == 0 {
		return errors.New("nothing waited when the process was killed")
	}
	return m.judge(ctx, s, late)
}

// lateness is how late the retry of a message came.
type lateness struct {
	id string
	by time.Duration
}

// judge sums up how late retries came, and tells of the latest what became of them.
func (m *retryMeter) judge(ctx context.Context, s *SingleRetries, late []lateness) error {
	slices.SortFunc(late, func(a, b lateness) int { return cmp.Compare(a.by, b.by) })
	ms := func(l lateness) float64 { return float64(l.by.Milliseconds()) }
	s.LateP50Ms, s.LateP99Ms, s.LateMaxMs = ms(late[len(late)/2]), ms(late[len(late)*99/100]), ms(late[len(late)-1])
	const told = 3
	for n, l := range slices.Backward(late) {
		if l.by <= lateAfter {
			break
		}
		s.Late++
		if n < len(late)-told {
			continue
		}
		d, err := m.Operator.For(stumbling).GetDelivery(ctx, l.id)
		if err != nil {
			return err
		}
		m.say("retries: that of %s came %s late", d.HomeID, l.by)
		for _, a := range d.Attempts {
			m.say("  attempt %d at %s took %.0f ms, %s %s, the next due at %s",
				a.Number, a.At.Format(storage.TimeLayout), a.Milliseconds, a.Outcome, a.Reason, a.NextAt.Format(storage.TimeLayout))
		}
	}
	return nil
}

// next is the first attempt after a time, zero when there is none.
func (a *attempts) next(id string, after time.Time) time.Time {
	const slack = 5 // ms between the clocks' roundings
	for _, ms := range a.At[id] {
		if ms > after.UnixMilli()+slack {
			return time.UnixMilli(ms)
		}
	}
	return time.Time{}
}
