package main

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

// SingleRetries is the cost of homes that failed individually. It also shows whether each
// retry is on time although the process is killed.
type SingleRetries struct {
	Homes int `json:"homes"`
	// Waiting counts the homes that waited when the process was killed.
	Waiting int `json:"waiting"`
	// Overdue counts the waiting homes whose retry was due before the process was ready
	// again.
	Overdue int `json:"overdue"`
	// Tried counts the waiting homes that were retried, Lost those not retried. Early
	// counts retries before the due time. Late counts retries more than lateAfter after
	// the due time. Repeated counts duplicate attempts.
	Tried    int `json:"tried"`
	Lost     int `json:"lost"`
	Early    int `json:"early"`
	Late     int `json:"late"`
	Repeated int `json:"repeated"`
	// The Late fields are delays after the due time. A retry that was due during the
	// restart counts from when the process was ready again. Due times are in whole
	// seconds.
	LateP50Ms float64 `json:"lateP50Ms"`
	LateP99Ms float64 `json:"lateP99Ms"`
	LateMaxMs float64 `json:"lateMaxMs"`
	// ReadyMs is the time until the process was ready again.
	ReadyMs float64 `json:"readyMs"`
	// Before is the process's memory with the homes alone. While is the memory with the
	// retries waiting. After is the memory after the restart.
	Before Memory `json:"before"`
	While  Memory `json:"while"`
	After  Memory `json:"after"`
	// StoreMB is the growth of the message system's files.
	StoreMB float64 `json:"storeMB"`
}

const stumbling = "stumbling"

// lateAfter is the delay after which a late retry needs an explanation.
const lateAfter = 10 * time.Second

func (m *retryMeter) single(ctx context.Context, s *SingleRetries) error {
	// The partner refuses the first attempt of seven of eight homes. Some of their retries
	// are due before the walk ends.
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

// stumble walks the homes and lists the homes that wait for a retry.
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

// waiter is a home that waits for a retry.
type waiter struct {
	// after is the end of the last attempt. due is when the next attempt is due.
	after, due time.Time
}

// waiters returns a trigger's waiting homes by webhook-id.
func (m *retryMeter) waiters(ctx context.Context, trigger string) (map[string]waiter, error) {
	list, page := map[string]waiter{}, client.Page{Limit: 1000}
	for {
		part, next, err := m.Operator.For(stumbling).Deliveries(ctx, client.DeliveriesRequest{TriggerID: trigger, Outcome: events.OutcomeRetrying, Limit: page.Limit, After: page.After})
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

// awaitRetries waits until no home of a trigger waits for a retry.
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

// compare compares the retries' arrivals with their due times.
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
			continue // the retry arrived before the kill
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

// lateness is the delay of a message's retry.
type lateness struct {
	id string
	by time.Duration
}

// judge sums up the delays and reports the history of the latest retries.
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
		m.say("retries: the retry of %s came %s late", d.HomeID, l.by)
		for _, a := range d.Attempts {
			m.say("  attempt %d at %s took %.0f ms, %s %s, the next due at %s",
				a.Number, a.At.Format(storage.TimeLayout), a.Milliseconds, a.Outcome, a.Reason, a.NextAt.Format(storage.TimeLayout))
		}
	}
	return nil
}

// next returns the first attempt after a time, or zero if there is none.
func (a *attempts) next(id string, after time.Time) time.Time {
	const slack = 5 // ms between the clocks' roundings
	for _, ms := range a.At[id] {
		if ms > after.UnixMilli()+slack {
			return time.UnixMilli(ms)
		}
	}
	return time.Time{}
}
