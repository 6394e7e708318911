package boltfile

import (
	"bytes"
	"errors"
	"strings"
	"sync"

	"go.etcd.io/bbolt"
)

// Reading is a consistent reading of a file. It is of one goroutine at a time.
type Reading struct {
	tx      *bbolt.Tx
	buckets map[string]bucket // those that were asked for
	// written is how much had been written when it began.
	written uint64
}

// bucket is one that is open, and a cursor for looking up keys in it: bbolt makes one
// for each key otherwise.
type bucket struct {
	*bbolt.Bucket
	lookup *bbolt.Cursor
}

// Bucket is a bucket by its name, nil when there is none.
func (r *Reading) Bucket(name string) *bbolt.Bucket { return r.open(name).Bucket }

// Get is the value of a key, nil when there is none.
func (r *Reading) Get(name string, key []byte) []byte {
	b := r.open(name)
	if b.Bucket == nil {
		return nil
	}
	if found, value := b.lookup.Seek(key); bytes.Equal(found, key) {
		return value
	}
	return nil
}

func (r *Reading) open(name string) bucket {
	b, ok := r.buckets[name]
	if !ok {
		if b.Bucket = r.tx.Bucket([]byte(name)); b.Bucket != nil {
			b.lookup = b.Cursor()
		}
		r.buckets[strings.Clone(name)] = b // names are put together where they are asked for
	}
	return b
}

// idleReadings is how many readings wait for those who read next.
const idleReadings = 16

// readings keeps readings open from one view to the next for as long as nothing is
// written: to begin one and to open its buckets takes longer than most of what is
// looked up, and leaves more behind. While something is written none is kept, as the
// file cannot take up pages again, nor grow, around one that nobody ends.
type readings struct {
	mu      sync.Mutex
	idle    []*Reading
	written uint64 // steps: each transaction that writes is one at its begin and one at its end
	writing int    // transactions now
}

// take takes a reading of all that has been written, begun now where none waits.
func (s *readings) take(db *bbolt.DB) (*Reading, error) {
	s.mu.Lock()
	written := s.written
	if last := len(s.idle) - 1; last >= 0 {
		r := s.idle[last]
		s.idle[last] = nil
		s.idle = s.idle[:last]
		s.mu.Unlock()
		return r, nil
	}
	s.mu.Unlock()
	tx, err := db.Begin(false)
	if err != nil {
		return nil, err
	}
	return &Reading{tx: tx, buckets: map[string]bucket{}, written: written}, nil
}

// leave keeps a reading for the next, or ends it where it may not be of the newest.
func (s *readings) leave(r *Reading) error {
	s.mu.Lock()
	if s.writing == 0 && r.written == s.written && len(s.idle) < idleReadings {
		s.idle = append(s.idle, r)
		s.mu.Unlock()
		return nil
	}
	s.mu.Unlock()
	return r.tx.Rollback()
}

// write ends the readings that wait, and keeps none until done is called.
func (s *readings) write() (done func(), err error) {
	s.mu.Lock()
	idle := s.idle
	s.idle = nil
	s.written++
	s.writing++
	s.mu.Unlock()
	for _, r := range idle {
		err = errors.Join(err, r.tx.Rollback())
	}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.written++
		s.writing--
	}, err
}
