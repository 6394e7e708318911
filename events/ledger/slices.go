package ledger

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"

	"go.etcd.io/bbolt"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage/boltfile"
)

// head precedes the stored receipt of a slice. A query reads the head to decide whether to
// decode the receipt. So a query finds a delivery by its home or message among a million.
// An index would need a write for every delivery. The stored form is:
//
//   - the slice's outcomes, 2 bytes
//   - the length of the last home's identifier, 1 byte
//   - the last home's identifier
//   - the number of messages, 4 bytes
//   - a mark for every message, 2 bytes each
type head struct {
	outcomes outcomes
	through  []byte
	marks    []byte
}

// outcomes is a set of outcomes.
type outcomes uint16

func setOf(list ...events.Outcome) (set outcomes) {
	for _, o := range list {
		if i := slices.Index(events.Outcomes(), o); i >= 0 {
			set |= 1 << i
		}
	}
	return set
}

// running are the outcomes that may change after the slice's receipt. A manual retry can
// reopen a delivery that was given up.
var running = setOf(events.OutcomeRetrying, events.OutcomeFailed, events.OutcomeExpired)

const markSize = 2

// mark returns a short hash of a message's identifier. Two identifiers share a mark with
// a probability of 1 in 65,536.
func mark(messageID []byte) [markSize]byte {
	var m [markSize]byte
	binary.BigEndian.PutUint16(m[:], uint16(crc32.ChecksumIEEE(messageID))) //nolint:gosec // half of it is enough
	return m
}

// encodeSlice returns the stored form of a slice's receipt. body is its JSON form.
func encodeSlice(r *events.Receipt, body []byte) []byte {
	var set outcomes
	for i := range r.Deliveries {
		set |= setOf(r.Deliveries[i].Outcome)
	}
	through := r.Slice.Through
	b := make([]byte, 0, 7+len(through)+markSize*len(r.Deliveries)+len(body))
	b = binary.BigEndian.AppendUint16(b, uint16(set))
	b = append(b, byte(len(through)))                               //nolint:gosec // an identifier is shorter
	b = append(b, through...)                                       //
	b = binary.BigEndian.AppendUint32(b, uint32(len(r.Deliveries))) //nolint:gosec // a slice is shorter
	var id []byte
	for i := range r.Deliveries {
		id = append(id[:0], r.Deliveries[i].MessageID...)
		m := mark(id)
		b = append(b, m[:]...)
	}
	return append(b, body...)
}

// errSlice says that a slice does not decode. The next Open rebuilds the ledger.
var errSlice = fmt.Errorf("%w: a slice of the ledger does not decode", boltfile.ErrDamaged)

// readHead splits a stored slice. Its results point into value.
func readHead(value []byte) (h head, body []byte, err error) {
	if len(value) < 3 || len(value) < 7+int(value[2]) {
		return h, nil, errSlice
	}
	h.outcomes = outcomes(binary.BigEndian.Uint16(value))
	through := int(value[2])
	h.through, value = value[3:3+through], value[3+through:]
	n := int(binary.BigEndian.Uint32(value)) * markSize
	if value = value[4:]; len(value) < n {
		return h, nil, errSlice
	}
	h.marks = value[:n]
	return h, value[n:], nil
}

// has reports whether the slice may have a message with the mark.
func (h *head) has(m [markSize]byte) bool {
	for i := 0; i+markSize <= len(h.marks); i += markSize {
		if [markSize]byte(h.marks[i:i+markSize]) == m {
			return true
		}
	}
	return false
}

func decodeSlice(value []byte) (*events.Receipt, error) {
	_, body, err := readHead(value)
	if err != nil {
		return nil, err
	}
	r := &events.Receipt{}
	if err := r.UnmarshalJSON(body); err != nil || r.Slice == nil {
		return nil, errors.Join(errSlice, err)
	}
	return r, nil
}

// walked iterates over the slices of one trigger.
type walked struct {
	cursor *bbolt.Cursor
	id     string
	prefix []byte
}

func slicesOf(tx *bbolt.Tx, triggerID string) walked {
	return walked{tx.Bucket([]byte(slicesBucket)).Cursor(), triggerID, key(triggerID, "")}
}

// from returns the first slice with the number or a higher number. ok is false if there
// is none.
func (w walked) from(number int) (found int, value []byte, ok bool) {
	return w.current(w.cursor.Seek(sliceKey(w.id, number)))
}

// next returns the slice after the current slice.
func (w walked) next() (found int, value []byte, ok bool) { return w.current(w.cursor.Next()) }

func (w walked) current(k, v []byte) (int, []byte, bool) {
	number, ok := bytes.CutPrefix(k, w.prefix)
	if !ok || len(number) != 4 {
		return 0, nil, false
	}
	return int(binary.BigEndian.Uint32(number)), v, true
}

// ofHome returns the slice of a home. ok is false if there is none. It uses binary
// search, because slices follow the order of homes.
func (w walked) ofHome(homeID string) (number int, value []byte, ok bool, err error) {
	k, _ := seekLast(w.cursor, w.prefix)
	last, _, ok := w.current(k, nil)
	if !ok {
		return 0, nil, false, nil
	}
	low, high := 0, last+1
	for low < high {
		middle := low + (high-low)/2
		found, v, _ := w.from(middle) // the last slice is not before it
		h, _, err := readHead(v)
		if err != nil {
			return 0, nil, false, err
		}
		if string(h.through) < homeID {
			low = found + 1
		} else {
			high = middle
		}
	}
	number, value, ok = w.from(low)
	return number, value, ok, nil
}
