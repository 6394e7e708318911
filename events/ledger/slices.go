package ledger

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"hash/crc32"
	"slices"

	"go.etcd.io/bbolt"

	"github.com/gridhook/gridhook/events"
)

// The receipt of a slice is stored behind a head that tells, without decoding it,
// whether it is worth to be: the outcomes that it has (2 bytes), the last home's
// identifier (its length in a byte), and a mark of two bytes for every message (their
// number in two bytes). So a delivery is found by its home or its message among a
// million without an index that every delivery would have to be written to.
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

// passing are the outcomes that need not be the last, though a slice's receipt says
// so: what was given up can be taken up again by hand.
var passing = setOf(events.OutcomeRetrying, events.OutcomeFailed, events.OutcomeExpired)

const markSize = 2

// mark is a mark of a message's identifier: one in 65,536 others has the same.
func mark(messageID string) [markSize]byte {
	var m [markSize]byte
	binary.BigEndian.PutUint16(m[:], uint16(crc32.ChecksumIEEE([]byte(messageID)))) //nolint:gosec // half of it is enough
	return m
}

func encodeSlice(r *events.Receipt) ([]byte, error) {
	body, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	var set outcomes
	for i := range r.Deliveries {
		set |= setOf(r.Deliveries[i].Outcome)
	}
	through := r.Slice.Through
	b := make([]byte, 0, 5+len(through)+markSize*len(r.Deliveries)+len(body))
	b = binary.BigEndian.AppendUint16(b, uint16(set))
	b = append(b, byte(len(through)))                               //nolint:gosec // an identifier is shorter
	b = append(b, through...)                                       //
	b = binary.BigEndian.AppendUint16(b, uint16(len(r.Deliveries))) //nolint:gosec // a slice is shorter
	for i := range r.Deliveries {
		m := mark(r.Deliveries[i].MessageID)
		b = append(b, m[:]...)
	}
	return append(b, body...), nil
}

var errSlice = errors.New("the ledger has a slice that cannot be read")

// readHead takes a stored slice apart. What it returns points into the value.
func readHead(value []byte) (h head, body []byte, err error) {
	if len(value) < 3 || len(value) < 5+int(value[2]) {
		return h, nil, errSlice
	}
	h.outcomes = outcomes(binary.BigEndian.Uint16(value))
	through := int(value[2])
	h.through, value = value[3:3+through], value[3+through:]
	n := int(binary.BigEndian.Uint16(value)) * markSize
	if value = value[2:]; len(value) < n {
		return h, nil, errSlice
	}
	h.marks = value[:n]
	return h, value[n:], nil
}

// has reports whether a message of the mark may be among the slice's.
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
	if err := json.Unmarshal(body, r); err != nil {
		return nil, err
	}
	if r.Slice == nil {
		return nil, errSlice
	}
	return r, nil
}

// sliceNumber is the number in a slice's key.
func sliceNumber(k []byte) int { return int(binary.BigEndian.Uint32(k[len(k)-4:])) }

// walked goes through the slices of one trigger.
type walked struct {
	cursor *bbolt.Cursor
	id     string
	prefix []byte
}

func slicesOf(tx *bbolt.Tx, triggerID string) walked {
	return walked{tx.Bucket([]byte(slicesBucket)).Cursor(), triggerID, key(triggerID, "")}
}

// from is the first slice of a number or a higher one, ok false when there is none.
func (w walked) from(number int) (found int, value []byte, ok bool) {
	return w.here(w.cursor.Seek(sliceKey(w.id, number)))
}

// next is the slice after the one that was found last.
func (w walked) next() (found int, value []byte, ok bool) { return w.here(w.cursor.Next()) }

func (w walked) here(k, v []byte) (int, []byte, bool) {
	if len(k) != len(w.prefix)+4 || string(k[:len(w.prefix)]) != string(w.prefix) {
		return 0, nil, false
	}
	return sliceNumber(k), v, true
}

// ofHome is the slice that a home is in, if it is in any: the slices follow the
// order of homes.
func (w walked) ofHome(homeID string) (number int, value []byte, ok bool, err error) {
	k, _ := seekLast(w.cursor, w.prefix)
	last, _, ok := w.here(k, nil)
	if !ok {
		return 0, nil, false, nil
	}
	low, high := 0, last+1
	for low < high {
		middle := low + (high-low)/2
		found, v, ok := w.from(middle)
		if !ok {
			high = middle
			continue
		}
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
