package main

import (
	"encoding/json"
	"hash/fnv"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// stumbler is a partner that answers 500 to the first attempt of most messages. It never
// fails so often in a row that its circuit breaker opens, so each message waits for its
// own retry. It records the attempts.
type stumbler struct {
	mu    sync.Mutex
	noted attempts
	taken map[string]bool
}

// stumblesOf sets the share of messages that stumble: all but one in stumblesOf.
const stumblesOf = 8

// attempts are the attempts that a stumbler recorded.
type attempts struct {
	// At lists when attempts arrived, in ms since 1970, by webhook-id.
	At map[string][]int64 `json:"at"`
	// Repeated counts attempts of messages that an earlier attempt already delivered.
	Repeated int `json:"repeated"`
}

func newStumbler() *stumbler {
	return &stumbler{noted: attempts{At: map[string][]int64{}}, taken: map[string]bool{}}
}

func (s *stumbler) serve(mux *http.ServeMux) {
	mux.HandleFunc("POST /stumble", func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // a broken request comes again
		w.WriteHeader(s.answer(r.Header.Get("webhook-id"), time.Now()))
	})
	mux.HandleFunc("GET /stumbled", func(w http.ResponseWriter, _ *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		_ = json.NewEncoder(w).Encode(s.noted) // the peer may be gone
	})
}

func (s *stumbler) answer(id string, now time.Time) int {
	h := fnv.New32a()
	_, _ = io.WriteString(h, id)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken[id] {
		s.noted.Repeated++
	}
	s.noted.At[id] = append(s.noted.At[id], now.UnixMilli())
	if len(s.noted.At[id]) == 1 && h.Sum32()%stumblesOf != 0 {
		return http.StatusInternalServerError
	}
	s.taken[id] = true
	return http.StatusOK
}

// recovering is a partner that resets each connection until it recovers. Then it counts
// deliveries by the signals' sequence and by second.
type recovering struct {
	back atomic.Bool

	mu   sync.Mutex
	took received
}

// received are the deliveries that a partner received after its recovery.
type received struct {
	BySequence map[string]int `json:"bySequence"`
	BySecond   map[string]int `json:"bySecond"`
	// First and Last are the times of the first and last delivery, in ms since 1970.
	First int64 `json:"first"`
	Last  int64 `json:"last"`
}

func newRecovering() *recovering {
	return &recovering{took: received{BySequence: map[string]int{}, BySecond: map[string]int{}}}
}

func (c *recovering) serve(mux *http.ServeMux) {
	mux.HandleFunc("POST /recovering", func(w http.ResponseWriter, r *http.Request) {
		if !c.back.Load() {
			reset(w, r)
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		c.take(string(body), time.Now())
	})
	mux.HandleFunc("GET /recover", func(http.ResponseWriter, *http.Request) { c.back.Store(true) })
	mux.HandleFunc("GET /took", func(w http.ResponseWriter, _ *http.Request) {
		c.mu.Lock()
		defer c.mu.Unlock()
		_ = json.NewEncoder(w).Encode(c.took) // the peer may be gone
	})
}

func (c *recovering) take(body string, now time.Time) {
	_, rest, _ := strings.Cut(body, `"sequence":`) // faster than decoding the body
	sequence, _, _ := strings.Cut(rest, ",")
	c.mu.Lock()
	defer c.mu.Unlock()
	c.took.BySequence[sequence]++
	c.took.BySecond[strconv.FormatInt(now.Unix(), 10)]++
	if c.took.Last = now.UnixMilli(); c.took.First == 0 {
		c.took.First = c.took.Last
	}
}
