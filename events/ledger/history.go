package ledger

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// historyHours is the length of a history.
const historyHours = 24

// History returns the 24 hours up to the hour of now, oldest first. An empty org means all
// organizations. It decodes the tallies of a day, about 10 microseconds each. The end of ctx
// ends the read with its error.
func (l *Ledger) History(ctx context.Context, org string, now time.Time) ([]events.HistoryHour, error) {
	hours, took := make([]events.HistoryHour, historyHours), make([][]time.Duration, historyHours)
	first := now.UTC().Truncate(time.Hour).Add((1 - historyHours) * time.Hour)
	for i := range hours {
		hours[i].StartTime = storage.Time{Time: first.Add(time.Duration(i) * time.Hour)}
		hours[i].Outcomes = map[events.Outcome]int{}
	}
	err := l.eachNewest(org, func(t *tally) bool {
		p := t.progress()
		if p.CreatedAt.Before(first) || ctx.Err() != nil {
			return false
		}
		i := int(p.CreatedAt.Sub(first) / time.Hour)
		if i >= len(hours) {
			return true // accepted after now
		}
		h := &hours[i]
		h.Triggers++
		for outcome, n := range p.Outcomes {
			h.Outcomes[outcome] += n
		}
		if p.Status == events.TriggerCompleted {
			took[i] = append(took[i], p.CompletedAt.Sub(p.CreatedAt.Time))
		}
		return true
	})
	for i, t := range took {
		if hours[i].Completed = len(t); len(t) > 0 {
			slices.Sort(t)
			hours[i].MedianSeconds, hours[i].SlowestSeconds = t[(len(t)-1)/2].Seconds(), t[len(t)-1].Seconds()
		}
	}
	return hours, errors.Join(err, ctx.Err())
}
