package ledger

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.etcd.io/bbolt"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// maxOpened and maxSkipped limit the cost of one page. maxOpened counts decoded slices,
// about 30 microseconds each. maxSkipped counts triggers and slices that are only
// visited.
const (
	maxOpened  = 4000
	maxSkipped = 200_000
)

// reading is the state of a query for one page.
type reading struct {
	tx     *bbolt.Tx
	query  *events.DeliveryQuery
	wanted outcomes // 0 selects all
	page   []events.Delivery
	// last is the position of the last delivery of the page, or of the last visited
	// slice.
	last            cursor
	opened, skipped int
}

// Deliveries returns a page of deliveries. It lists the newest triggers or events first, and
// within them it sorts by home and endpoint. A page may be shorter than the limit, or empty, if
// the search was long. next is the cursor of the next page, empty at the end. Errors:
// storage.ErrNotFound for an unknown trigger, *storage.InvalidError on the field after.
func (l *Ledger) Deliveries(org string, q events.DeliveryQuery) (page []events.Delivery, next string, err error) {
	from, err := parseCursor(q.After)
	if err == nil && from.endpoint != "" && !q.Events {
		err = errCursor
	}
	if err != nil {
		return nil, "", err
	}
	r := reading{query: &q, wanted: setOf(q.Outcomes...), page: []events.Delivery{}, last: from}
	more := false
	err = l.viewFound(func(tx *bbolt.Tx) (err error) {
		r.tx = tx
		if q.TriggerID == "" {
			more, err = r.triggers(org, from)
			return err
		}
		t, err := r.find(org)
		if err != nil || from.trigger != "" && from.trigger != q.TriggerID {
			return err
		}
		more, err = r.tally(q.TriggerID, &t, from)
		return err
	})
	switch {
	case err != nil:
		return nil, "", err
	case more:
		next = r.last.String()
	}
	return r.page, next, nil
}

// find returns the tally of the query's trigger or event. Errors: storage.ErrNotFound.
func (r *reading) find(org string) (t tally, err error) {
	if !r.query.Events {
		return find(r.tx, org, r.query.TriggerID)
	}
	t, found, err := triggersTable.Get(r.tx, key(org, r.query.TriggerID))
	if err == nil && (!found || !strings.HasPrefix(r.query.TriggerID, events.NoticePrefix)) {
		err = storage.ErrNotFound
	}
	return t, err
}

// triggers reads the triggers or events of an organization from a position on, newest first.
// more reports whether the page ended before they did.
func (r *reading) triggers(org string, from cursor) (more bool, err error) {
	prefix := key(org, "")
	if r.query.Events {
		prefix = append(prefix, events.NoticePrefix...)
	}
	c := r.tx.Bucket([]byte(triggersTable)).Cursor()
	k, v := seekLast(c, prefix)
	if from.trigger != "" {
		if k, v = c.Seek(key(org, from.trigger)); string(k) != string(key(org, from.trigger)) {
			k, v = c.Prev() // the trigger has expired
		}
	}
	for ; bytes.HasPrefix(k, prefix); k, v = c.Prev() {
		id := string(k[len(org)+1:])
		if r.skipped++; r.skipped > maxSkipped {
			r.last = cursor{trigger: id, place: begin} // k is not read yet
			return true, nil
		}
		t, err := triggersTable.Decode(v)
		if err != nil {
			return false, err
		}
		if t.Trigger.ID == "" && !r.query.Events {
			continue
		}
		start := cursor{trigger: id, place: begin}
		if id == from.trigger {
			start = from
		}
		if more, err := r.tally(id, &t, start); more || err != nil {
			return more, err
		}
	}
	return false, nil
}

// mayHave reports whether a trigger's tally allows deliveries that match the query.
func (r *reading) mayHave(t *tally) bool {
	if !r.query.Since.IsZero() && t.LastAt.Before(r.query.Since) || !r.query.Until.IsZero() && !t.Trigger.CreatedAt.Before(r.query.Until) {
		return false
	}
	if r.wanted == 0 {
		return true
	}
	for o, n := range t.Outcomes {
		if n > 0 && setOf(o)&r.wanted != 0 {
			return true
		}
	}
	return false
}

// tally reads the deliveries of a trigger or an event from a position on.
func (r *reading) tally(id string, t *tally, from cursor) (more bool, err error) {
	if !r.query.Events {
		return r.trigger(t, from.place)
	}
	if t.LastAt.Before(r.query.Since) {
		return false, nil
	}
	if r.opened++; r.opened > maxOpened {
		r.last = from
		return true, nil
	}
	list, err := ofEvent(r.tx, id)
	if err != nil {
		return false, err
	}
	read := func(d events.Delivery) bool { return d.EndpointID <= from.endpoint }
	return r.deliveries(id, 0, slices.DeleteFunc(list, read), begin)
}

// trigger reads one trigger's deliveries from a position on.
func (r *reading) trigger(t *tally, from place) (more bool, err error) {
	if !r.mayHave(t) {
		return false, nil
	}
	walk := slicesOf(r.tx, t.Trigger.ID)
	if r.query.HomeID != "" {
		number, value, ok, err := walk.ofHome(r.query.HomeID)
		if err != nil || !ok || number < from.slice {
			return false, err
		}
		return r.slice(t.Trigger.ID, number, value, from)
	}
	for number, value, ok := walk.from(from.slice); ok; number, value, ok = walk.next() {
		if more, err := r.slice(t.Trigger.ID, number, value, from); more || err != nil {
			return more, err
		}
	}
	return false, nil
}

// slice reads one slice's deliveries after a position.
func (r *reading) slice(triggerID string, number int, value []byte, from place) (more bool, err error) {
	r.skipped++
	if r.opened > maxOpened || r.skipped > maxSkipped {
		r.last = cursor{trigger: triggerID, place: place{number, -1}}
		if from.slice == number {
			r.last.place = from
		}
		return true, nil
	}
	h, _, err := readHead(value)
	if err != nil || r.wanted != 0 && h.outcomes&(r.wanted|running) == 0 {
		return false, err
	}
	r.opened++
	receipt, err := decodeSlice(value)
	if err != nil {
		return false, err
	}
	return r.deliveries(triggerID, number, receipt.Deliveries, from)
}

// deliveries adds the deliveries of a slice or an event after a position to the page.
func (r *reading) deliveries(triggerID string, number int, list []events.Delivery, from place) (more bool, err error) {
	for i := range list {
		current := place{number, i}
		d := &list[i]
		if !from.before(current) || r.query.HomeID != "" && d.HomeID != r.query.HomeID || r.query.EndpointID != "" && d.EndpointID != r.query.EndpointID {
			continue
		}
		now, err := latest(r.tx, triggerID, *d)
		if err != nil {
			return false, err
		}
		if !r.wants(&now.Delivery) {
			continue
		}
		if len(r.page) == r.query.Limit {
			return true, nil
		}
		if untried(&now.Delivery) {
			log, err := history(r.tx, triggerID, d) // for the reason
			if err != nil {
				return false, err
			}
			now.Delivery = log.Delivery
		}
		now.TriggerID = triggerID
		r.page, r.last = append(r.page, now.Delivery), cursor{trigger: triggerID, place: current}
		if r.query.Events {
			r.last.place, r.last.endpoint = begin, d.EndpointID
		}
	}
	return false, nil
}

func (r *reading) wants(d *events.Delivery) bool {
	q := r.query
	return (r.wanted == 0 || setOf(d.Outcome)&r.wanted != 0) &&
		(q.Since.IsZero() || !d.At.Before(q.Since)) && (q.Until.IsZero() || d.At.Before(q.Until))
}

// place is the position of a delivery in a trigger's walk. Retries of the delivery do not
// change it.
type place struct{ slice, index int }

// begin precedes every place.
var begin = place{0, -1}

func (p place) before(q place) bool {
	return p.slice < q.slice || p.slice == q.slice && p.index < q.index
}

// cursor is the end of a page: a trigger and a position in its walk, or an event and the last
// endpoint. The deliveries of an event have no fixed positions.
type cursor struct {
	trigger string
	place
	endpoint string
}

func (c cursor) String() string {
	if c.endpoint != "" {
		return c.trigger + "." + c.endpoint
	}
	return fmt.Sprintf("%s.%d.%d", c.trigger, c.slice, c.index+1)
}

var errCursor = &storage.InvalidError{Fields: []storage.FieldError{{Field: "after", Message: "must be the next of an earlier page"}}}

func parseCursor(s string) (cursor, error) {
	if s == "" {
		return cursor{place: begin}, nil
	}
	parts := strings.Split(s, ".")
	if len(parts) == 2 && storage.ValidID(parts[0]) && storage.ValidID(parts[1]) {
		return cursor{trigger: parts[0], place: begin, endpoint: parts[1]}, nil
	}
	if len(parts) != 3 || !storage.ValidID(parts[0]) {
		return cursor{}, errCursor
	}
	numbers := make([]int, 2)
	for i, text := range parts[1:] {
		n, err := strconv.ParseUint(text, 10, 31)
		if err != nil {
			return cursor{}, errCursor
		}
		numbers[i] = int(n)
	}
	return cursor{trigger: parts[0], place: place{numbers[0], numbers[1] - 1}}, nil
}
