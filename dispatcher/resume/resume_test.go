package resume

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/pricing"
)

// stalled lists walks that never move.
type stalled []events.Walk

func (s stalled) Unfinished(after events.Walk, limit int) ([]events.Walk, error) {
	i := slices.IndexFunc(s, func(w events.Walk) bool { return w.Trigger.ID > after.Trigger.ID })
	if i < 0 {
		return nil, nil
	}
	return s[i:min(len(s), i+limit)], nil
}

// queue records the slices that are put. lost are the triggers whose slices are not
// queued, and broken those whose queue cannot be asked. asked are the times of the questions.
type queue struct {
	lost, broken, put []string
	slices            []events.Slice // of put
	asked             []time.Time
}

func (q *queue) PutSlice(_ context.Context, s events.Slice) error {
	q.put, q.slices = append(q.put, s.Trigger.ID), append(q.slices, s)
	return nil
}

func (q *queue) Reached(_ context.Context, t events.Trigger, number int) (bool, error) {
	q.asked = append(q.asked, time.Now())
	if number != nextSlice {
		return true, nil
	}
	if slices.Contains(q.broken, t.ID) {
		return false, errors.New("bad")
	}
	return !slices.Contains(q.lost, t.ID), nil
}

// nextSlice is the next slice of every walk.
const nextSlice = 3

func triggerID(i int) string { return fmt.Sprintf("trg_%06d", i) }

// A lost slice is found however many walks there are before its own, and although some of
// them cannot be resumed.
func TestResumer_FindsEveryLostSlice(t *testing.T) {
	for name, tt := range map[string]struct {
		walks        int
		lost, broken []string
	}{
		"one walk":                   {1, []string{triggerID(0)}, nil},
		"after a full look":          {lookedAt + 1, []string{triggerID(lookedAt)}, nil},
		"at the end of a full look":  {lookedAt, []string{triggerID(lookedAt - 1)}, nil},
		"in several looks":           {2*lookedAt + 9, []string{triggerID(3), triggerID(lookedAt + 3), triggerID(2*lookedAt + 3)}, nil},
		"after a walk with an error": {9, []string{triggerID(7)}, []string{triggerID(2), triggerID(5)}},
	} {
		synctest.Test(t, func(t *testing.T) {
			walks, q := make(stalled, tt.walks), &queue{lost: tt.lost, broken: tt.broken}
			start := time.Now().UTC()
			for i := range walks {
				walks[i].Trigger = events.NewTrigger("org", pricing.Window{Start: start, End: start.Add(time.Hour)}, start)
				walks[i].Trigger.ID, walks[i].Trigger.Sequence = triggerID(i), uint64(i)+7
				walks[i].Next, walks[i].After = nextSlice, "home-9"
			}
			registry := prometheus.NewRegistry()
			r := New(walks, q, slog.New(slog.DiscardHandler), registry, time.Now)
			ctx, cancel := context.WithTimeout(t.Context(), 3*events.StalledAfter)
			defer cancel()
			if err := r.Run(ctx); err != nil {
				t.Error(err)
			}
			if metrics, err := registry.Gather(); err != nil || metrics[0].GetMetric()[0].GetCounter().GetValue() != float64(len(q.put)) {
				t.Errorf("%s: the metrics of %d slices are %v, %v", name, len(q.put), metrics, err)
			}
			for _, lost := range tt.lost {
				if !slices.Contains(q.put, lost) {
					t.Errorf("%s: slice of %s is still lost", name, lost)
				}
			}
			for _, s := range q.slices { // the queue drops a slice that it has had before, unless it is resumed
				if s.Number != nextSlice || s.Sequence != s.Trigger.Sequence || s.After != "home-9" || !s.Resumed || !s.Late {
					t.Errorf("%s: the slice %+v was put", name, s)
				}
			}
			for _, put := range q.put {
				if !slices.Contains(tt.lost, put) {
					t.Errorf("%s: slice of %s was put although it is queued", name, put)
				}
			}
		})
	}
}

// The queue is asked about a walk once in StalledAfter, and not about a trigger with an impossible
// window, whose slices are dropped.
func TestResumer_AsksRarely(t *testing.T) {
	for _, next := range []int{0, nextSlice} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now().UTC()
			walks, q := make(stalled, 2), &queue{lost: []string{triggerID(0), triggerID(1)}}
			for i, end := range []time.Time{start.Add(time.Hour), start.AddDate(1000, 0, 0)} {
				walks[i].Trigger = events.NewTrigger("org", pricing.Window{Start: start, End: end}, start)
				walks[i].Trigger.ID, walks[i].Next = triggerID(i), next
			}
			run(t, walks, q)
			if len(q.asked) != 2 || q.asked[0].Sub(start) < events.StalledAfter || slices.Contains(q.put, triggerID(1)) {
				t.Errorf("from slice %d the queue was asked at %v, and has the slices %v", next, q.asked, q.put)
			}
		})
	}
}

// moving lists walks that reach another slice before each look.
type moving struct{ stalled }

func (m moving) Unfinished(after events.Walk, limit int) ([]events.Walk, error) {
	for i := range m.stalled {
		m.stalled[i].Next++
	}
	return m.stalled.Unfinished(after, limit)
}

// The queue is not asked about a walk that moves.
func TestResumer_MovingWalk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now().UTC()
		walks, q := moving{make(stalled, 1)}, &queue{}
		walks.stalled[0].Trigger = events.NewTrigger("org", pricing.Window{Start: start, End: start.Add(time.Hour)}, start)
		run(t, walks, q)
		if len(q.asked) != 0 {
			t.Errorf("the queue was asked at %v", q.asked)
		}
	})
}

// run runs a resumer for less than three times StalledAfter.
func run(t *testing.T, walks events.Walks, q *queue) {
	t.Helper()
	r := New(walks, q, slog.New(slog.DiscardHandler), prometheus.NewRegistry(), time.Now)
	ctx, cancel := context.WithTimeout(t.Context(), 3*events.StalledAfter-time.Second)
	defer cancel()
	if err := r.Run(ctx); err != nil {
		t.Error(err)
	}
}
