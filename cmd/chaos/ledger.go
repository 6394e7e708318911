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

// request is a trigger request, or a write of an OpenADR event, and its response.
type request struct {
	At  time.Time `json:"at"` // time of the response
	Org string    `json:"org"`
	// Key is the Idempotency-Key. It is empty for a request without repeats.
	Key     string `json:"key,omitempty"`
	Result  result `json:"result"`
	Trigger string `json:"trigger,omitempty"`
	// Start is the start of the window.
	Start time.Time `json:"start"`
	// Created is the trigger's creation time.
	Created time.Time `json:"created,omitzero"`
	// Homes are the organization's homes at the time of the request.
	Homes homeSet `json:"homes"`
	// Said is the number of homes in the response.
	Said int `json:"said"`
}

// result classifies the response to a request.
type result string

const (
	resultOK result = "200"
	// resultUnavailable is 503 with Retry-After.
	resultUnavailable result = "503"
	// resultLost means no response: the request may or may not have been processed.
	resultLost result = "lost"
	// resultNotSent means no connection: the request was not processed.
	resultNotSent result = "not sent"
)

// homeSet holds the homes 0 to UpTo-1 of an organization except Gone.
type homeSet struct {
	UpTo int   `json:"upTo"`
	Gone []int `json:"gone,omitempty"` // sorted
}

func (h homeSet) count() int { return h.UpTo - len(h.Gone) }

func (h homeSet) has(i int) bool {
	_, gone := slices.BinarySearch(h.Gone, i)
	return i >= 0 && i < h.UpTo && !gone
}

// with returns the set after a home's creation, without after a deletion.
func (h homeSet) with(i int) homeSet { return homeSet{max(h.UpTo, i+1), h.Gone} }

func (h homeSet) without(i int) homeSet {
	gone := append(slices.Clone(h.Gone), i)
	slices.Sort(gone)
	return homeSet{h.UpTo, gone}
}

// arrival is one request that a receiver got.
type arrival struct {
	At       time.Time `json:"at"`
	Endpoint string    `json:"endpoint"` // endpoint that received the request
	ID       string    `json:"id"`       // the webhook-id
	Body     string    `json:"body"`     // a hash
	Trigger  string    `json:"trigger"`
	Org      string    `json:"org"` // from the body
	Home     string    `json:"home"`
	Sequence uint64    `json:"sequence"`
	// Verified says that the signature matches the endpoint's secret.
	Verified bool `json:"verified"`
	// Answered is the status of a complete response, or 0 if there is none.
	Answered int `json:"answered"`
}

// ledger keeps entries in memory and in an append-only file.
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

// all returns all entries so far.
func (l *ledger[T]) all() []T {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.entries)
}

// close closes the file and returns an error if an entry was not written.
func (l *ledger[T]) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return errors.Join(l.failed, l.file.Close())
}
