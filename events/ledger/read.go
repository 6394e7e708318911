package ledger

import (
	"bytes"
	"time"

	"go.etcd.io/bbolt"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// Progress returns the progress of one trigger. Errors: storage.ErrNotFound.
func (l *Ledger) Progress(org, triggerID string) (p events.Progress, err error) {
	err = l.viewFound(func(tx *bbolt.Tx) error {
		t, err := find(tx, org, triggerID)
		p = t.progress()
		return err
	})
	return p, err
}

// find returns the tally of a trigger. It returns storage.ErrNotFound if only receipts of
// the trigger are known.
func find(tx *bbolt.Tx, org, triggerID string) (tally, error) {
	t, _, err := triggersTable.Get(tx, key(org, triggerID))
	if err == nil && t.Trigger.ID == "" {
		err = storage.ErrNotFound
	}
	return t, err
}

func (t *tally) progress() events.Progress {
	p := events.Progress{
		TriggerID: t.Trigger.ID, OrganizationID: t.Trigger.OrganizationID, ScheduleID: t.Trigger.ScheduleID,
		Status: events.TriggerAccepted, StartTime: t.Trigger.Start, EndTime: t.Trigger.End, RatePlanIDs: t.Trigger.RatePlanIDs,
		Homes: t.Trigger.Homes, Walked: t.Walked, Outcomes: t.Outcomes, CreatedAt: t.Trigger.CreatedAt,
		Traceparent: t.Trigger.Traceparent,
	}
	if p.Outcomes == nil {
		p.Outcomes = map[events.Outcome]int{}
	}
	if c := t.Trigger.Change; c != nil {
		p.ScheduleID, p.Notification = "", &events.Notification{ObjectType: c.ObjectType, Operation: c.Operation, ObjectID: c.ObjectID}
	}
	switch {
	case t.completed():
		p.Status, p.CompletedAt = events.TriggerCompleted, t.LastAt
		if p.CompletedAt.IsZero() { // there was nothing to deliver
			p.CompletedAt = t.Trigger.CreatedAt
		}
	case t.Slices > 0:
		p.Status = events.TriggerRunning
	}
	return p
}

// Recent lists an organization's triggers, newest first, at most limit.
func (l *Ledger) Recent(org string, limit int) ([]events.Progress, error) {
	l.await()
	list := []events.Progress{}
	err := l.eachNewest(org, func(t *tally) bool {
		if len(list) < limit {
			list = append(list, t.progress())
		}
		return len(list) < limit
	})
	return list, err
}

// LastRun returns the last run of a schedule, zero if there was none. Triggers are folded
// in the order of their log, so the last stored run is the newest.
func (l *Ledger) LastRun(org, scheduleID string) (run events.Run, err error) {
	l.await()
	err = l.file.View(func(tx *bbolt.Tx) error {
		run, _, err = runsTable.Get(tx, key(org, scheduleID))
		return err
	})
	return run, err
}

// maxEnded is the number of ended triggers that RanOut reads.
const maxEnded = 100

// RanOut reports whether the windows of an organization's last price triggers have all
// ended. It is false without any. A trigger with a short window does not end the signals of
// an earlier one. Notifications have no signals.
func (l *Ledger) RanOut(org string, now time.Time) (bool, error) {
	ended, inForce := 0, false
	err := l.eachNewest(org, func(t *tally) bool {
		if t.Trigger.Change != nil {
			return true
		}
		ended++
		inForce = t.Trigger.End.After(now)
		return !inForce && ended < maxEnded
	})
	return ended > 0 && !inForce, err
}

// eachNewest calls fn with the triggers of an organization, or of one organization after
// another, newest first. If fn returns false, eachNewest skips the rest of the organization.
func (l *Ledger) eachNewest(org string, fn func(*tally) bool) error {
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
			if t.Trigger.ID != "" && !fn(&t) { // without an identifier, only a receipt is known
				c.Seek(k[:bytes.IndexByte(k, 0)+1])
			}
			k, v = c.Prev()
		}
		return nil
	})
}

// seekLast moves to the last key in the prefix's range.
func seekLast(c *bbolt.Cursor, prefix []byte) (k, v []byte) {
	end := bytes.Clone(prefix)
	end[len(end)-1]++ // prefixes end in a zero byte
	if k, _ = c.Seek(end); k == nil {
		return c.Last()
	}
	return c.Prev()
}
