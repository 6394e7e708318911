package main

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// asked is one trigger that was asked for, and how that was answered.
type asked struct {
	At  time.Time `json:"at"` // of the answer
	Org string    `json:"org"`
	// Key is the Idempotency-Key, empty for a request that is made once.
	Key     string `json:"key,omitempty"`
	Answer  answer `json:"answer"`
	Trigger string `json:"trigger,omitempty"`
	// Start is when the window starts.
	Start time.Time `json:"start"`
	// Created is the trigger's own time.
	Created time.Time `json:"created,omitzero"`
	// Homes are those that the organization had.
	Homes homeSet `json:"homes"`
	// Said is how many the answer said there are.
	Said int `json:"said"`
}

// answer is how a request was answered.
type answer string

const (
	answerOK answer = "200"
	// answerUnavailable is 503 with a time to try again.
	answerUnavailable answer = "503"
	// answerLost is none: whether it was done is not known.
	answerLost answer = "lost"
	// answerNotSent is no connection: it was not done.
	answerNotSent answer = "not sent"
)

// homeSet are the homes 0 to UpTo-1 of an organization but those that are Gone.
type homeSet struct {
	UpTo int   `json:"upTo"`
	Gone []int `json:"gone,omitempty"` // sorted
}

func (h homeSet) count() int { return h.UpTo - len(h.Gone) }

func (h homeSet) has(i int) bool {
	_, gone := slices.BinarySearch(h.Gone, i)
	return i >= 0 && i < h.UpTo && !gone
}

// with and without are the set after a creation and a deletion.
func (h homeSet) with(i int) homeSet { return homeSet{max(h.UpTo, i+1), h.Gone} }

func (h homeSet) without(i int) homeSet {
	gone := append(slices.Clone(h.Gone), i)
	slices.Sort(gone)
	return homeSet{h.UpTo, gone}
}

// arrival is one request that a receiver got.
type arrival struct {
	At       time.Time `json:"at"`
	Endpoint string    `json:"endpoint"` // where it arrived
	ID       string    `json:"id"`       // the webhook-id
	Body     string    `json:"body"`     // a hash
	Trigger  string    `json:"trigger"`
	Org      string    `json:"org"` // as the body says
	Home     string    `json:"home"`
	Sequence uint64    `json:"sequence"`
	// Verified says that the signature is right for the endpoint's secret.
	Verified bool `json:"verified"`
	// Answered is the status of an answer that was sent whole, 0 for none.
	Answered int `json:"answered"`
}

// ledger keeps entries in memory and in a file that is only appended to.
type ledger[T any] struct {
	mu      sync.Mutex
	entries []T
	file    io.Closer
	encoder *json.Encoder
	failed  error
}

func newLedger[T any](dir, name string) (*ledger[T], error) {
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	return &ledger[T]{file: f, encoder: json.NewEncoder(f)}, nil
}

func (l *ledger[T]) add(entry T) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = append(l.entries, entry)
	if err := l.encoder.Encode(entry); err != nil {
		l.failed = errors.Join(l.failed, err)
	}
}

// all is everything that was added so far.
func (l *ledger[T]) all() []T {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.entries)
}

// close closes the file and says whether everything was written.
func (l *ledger[T]) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return errors.Join(l.failed, l.file.Close())
}
