package ledger

import (
	"bytes"
	"slices"
	"time"

	"go.etcd.io/bbolt"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// historyHours is the length of a history.
const historyHours = 24

// History returns the 24 hours up to the hour of now, oldest first. An empty org means all
// organizations. It decodes the tallies of a day, about 10 microseconds each.
func (l *Ledger) History(org string, now time.Time) ([]events.HistoryHour, error) {
	hours, took := make([]events.HistoryHour, historyHours), make([][]time.Duration, historyHours)
	first := now.UTC().Truncate(time.Hour).Add((1 - historyHours) * time.Hour)
	for i := range hours {
		hours[i].StartTime = storage.Time{Time: first.Add(time.Duration(i) * time.Hour)}
		hours[i].Outcomes = map[events.Outcome]int{}
	}
	err := l.eachSince(org, first, func(p *events.Progress) {
		i := int(p.CreatedAt.Sub(first) / time.Hour)
		if i >= len(hours) {
			return // accepted after now
		}
		h := &hours[i]
		h.Triggers++
		for outcome, n := range p.Outcomes {
			h.Outcomes[outcome] += n
		}
		if p.Status == events.TriggerCompleted {
			took[i] = append(took[i], p.CompletedAt.Sub(p.CreatedAt.Time))
		}
	})
	for i, t := range took {
		if hours[i].Completed = len(t); len(t) > 0 {
			slices.Sort(t)
			hours[i].MedianSeconds, hours[i].SlowestSeconds = t[(len(t)-1)/2].Seconds(), t[len(t)-1].Seconds()
		}
	}
	return hours, err
}

// eachSince calls do for the triggers of an organization, or of all, that were accepted
// since a time. An organization's triggers are in the order of their acceptance, so
// eachSince skips the rest of an organization at its first older trigger.
func (l *Ledger) eachSince(org string, since time.Time, do func(*events.Progress)) error {
	return l.file.View(func(tx *bbolt.Tx) error {
		c := tx.Bucket([]byte(triggersTable)).Cursor()
		var prefix []byte
		k, v := c.Last()
		if org != "" {
			prefix = key(org, "")
			k, v = seekLast(c, prefix)
		}
		for k != nil && bytes.HasPrefix(k, prefix) {
			t, err := triggersTable.Decode(v)
			if err != nil {
				return err
			}
			switch p := t.progress(); {
			case p.TriggerID == "": // only a receipt of the trigger is known
			case p.CreatedAt.Before(since):
				c.Seek(k[:bytes.IndexByte(k, 0)+1])
			default:
				do(&p)
			}
			k, v = c.Prev()
		}
		return nil
	})
}
