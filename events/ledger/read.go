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
	err = l.file.View(func(tx *bbolt.Tx) error {
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
	list := []events.Progress{}
	err := l.file.View(func(tx *bbolt.Tx) error {
		prefix := key(org, "")
		c := tx.Bucket([]byte(triggersTable)).Cursor()
		k, v := seekLast(c, prefix)
		for ; bytes.HasPrefix(k, prefix) && len(list) < limit; k, v = c.Prev() {
			t, err := triggersTable.Decode(v)
			if err != nil {
				return err
			}
			if t.Trigger.ID != "" {
				list = append(list, t.progress())
			}
		}
		return nil
	})
	return list, err
}

// maxEnded is the number of ended triggers that RanOut reads.
const maxEnded = 100

// RanOut reports whether the windows of an organization's last price triggers have all
// ended. It is false without any. A trigger with a short window does not end the signals of
// an earlier one. Notifications have no signals.
func (l *Ledger) RanOut(org string, now time.Time) (bool, error) {
	ended := 0
	err := l.file.View(func(tx *bbolt.Tx) error {
		prefix := key(org, "")
		c := tx.Bucket([]byte(triggersTable)).Cursor()
		k, v := seekLast(c, prefix)
		for ; bytes.HasPrefix(k, prefix) && ended < maxEnded; k, v = c.Prev() {
			t, err := triggersTable.Decode(v)
			switch {
			case err != nil:
				return err
			case t.Trigger.ID == "" || t.Trigger.Change != nil:
			case t.Trigger.End.After(now):
				ended = 0
				return nil
			default:
				ended++
			}
		}
		return nil
	})
	return ended > 0, err
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
