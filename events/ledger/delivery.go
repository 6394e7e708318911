package ledger

import (
	"bytes"
	"slices"
	"strings"

	"go.etcd.io/bbolt"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// hashChars is the length of the hash in a message's identifier. See events.MessageID.
const hashChars = 16

// Delivery returns a delivery by its message's identifier. The identifier begins with the
// time part of the identifier of its trigger or event. Errors: storage.ErrNotFound.
func (l *Ledger) Delivery(org, messageID string) (log events.DeliveryLog, err error) {
	stamp, ok := strings.CutPrefix(messageID, "msg_")
	if !ok || len(stamp) < hashChars {
		return log, storage.ErrNotFound
	}
	stamp = stamp[:len(stamp)-hashChars]
	err = l.file.View(func(tx *bbolt.Tx) error {
		found, err := findDelivery(tx, org, "trg_"+stamp, messageID, &log)
		if !found && err == nil {
			found, err = findDelivery(tx, org, events.NoticePrefix+stamp, messageID, &log)
		}
		if !found && err == nil {
			err = storage.ErrNotFound
		}
		return err
	})
	return log, err
}

// findDelivery searches the messages of the triggers or events whose identifiers have a
// prefix.
func findDelivery(tx *bbolt.Tx, org, begin, messageID string, log *events.DeliveryLog) (found bool, err error) {
	prefix := key(org, begin)
	c := tx.Bucket([]byte(triggersTable)).Cursor()
	for k, v := c.Seek(prefix); bytes.HasPrefix(k, prefix); k, v = c.Next() {
		t, err := triggersTable.Decode(v)
		if err != nil {
			return false, err
		}
		id := string(k[len(org)+1:])
		switch {
		case t.Trigger.ID != "":
			found, err = findMessage(tx, id, messageID, log)
		case strings.HasPrefix(id, events.NoticePrefix): // of another trigger, only a late receipt is known
			found, err = findEvent(tx, id, messageID, log)
		}
		if found || err != nil {
			return found, err
		}
	}
	return false, nil
}

// findMessage searches a trigger's messages.
func findMessage(tx *bbolt.Tx, triggerID, messageID string, log *events.DeliveryLog) (found bool, err error) {
	m, walk := mark([]byte(messageID)), slicesOf(tx, triggerID)
	for _, value, ok := walk.from(0); ok; _, value, ok = walk.next() {
		h, _, err := readHead(value)
		if err != nil {
			return false, err
		}
		if !h.has(m) {
			continue
		}
		r, err := decodeSlice(value)
		if err != nil {
			return false, err
		}
		i := slices.IndexFunc(r.Deliveries, func(d events.Delivery) bool { return d.MessageID == messageID })
		if i >= 0 {
			*log, err = history(tx, triggerID, &r.Deliveries[i])
			return true, err
		}
	}
	return false, nil
}

// findEvent searches an event's messages.
func findEvent(tx *bbolt.Tx, eventID, messageID string, log *events.DeliveryLog) (found bool, err error) {
	list, err := ofEvent(tx, eventID)
	i := slices.IndexFunc(list, func(d events.Delivery) bool { return d.MessageID == messageID })
	if err != nil || i < 0 {
		return false, err
	}
	*log, err = history(tx, eventID, &list[i])
	return true, err
}

// ofEvent returns the deliveries of an event, one for each endpoint, before their first
// attempts. An event has no slice: all its attempts are stored like retries.
func ofEvent(tx *bbolt.Tx, eventID string) (list []events.Delivery, err error) {
	err = retriedTable.Each(tx, key(eventID, ""), func(_ []byte, r retried) error {
		list = append(list, events.Delivery{MessageID: r.MessageID, EndpointID: r.EndpointID, Outcome: events.OutcomeRetrying})
		return nil
	})
	return list, err
}

// untried reports whether a delivery was given up without another request.
func untried(d *events.Delivery) bool {
	end := d.Last()
	return end.Outcome.GivenUp() && !end.Tried()
}

// history returns the current state of a delivery, with its attempts. If the delivery was
// given up without a request, its reason also says why the last request failed.
func history(tx *bbolt.Tx, triggerID string, first *events.Delivery) (log events.DeliveryLog, err error) {
	now, err := latest(tx, triggerID, *first)
	if err != nil {
		return log, err
	}
	log.Delivery, log.Attempts = now.Delivery, []events.Attempt{}
	log.TriggerID = triggerID
	if a := first.Last(); a.Tried() || a.Outcome.Final() {
		log.Attempts = append(log.Attempts, a)
	}
	more, err := attempts(tx, key(triggerID, first.HomeID, first.EndpointID))
	log.Attempts = append(log.Attempts, more...)
	if !untried(&log.Delivery) {
		return log, err
	}
	for _, a := range slices.Backward(log.Attempts) {
		if a.Counts() && a.Reason != "" {
			log.Reason += "; last attempt: " + a.Reason
			break
		}
	}
	return log, err
}
