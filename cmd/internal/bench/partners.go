package bench

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

// stumbler is a partner who answers 500 to the first attempt of most messages, but
// never to so many in a row that it is taken to be down: each of them waits for a
// retry of its own. It notes when attempts come.
type stumbler struct {
	mu    sync.Mutex
	noted attempts
	taken map[string]bool
}

// stumblesOf says how many of all messages stumble: all but one in so many.
const stumblesOf = 8

// attempts is what a stumbler noted.
type attempts struct {
	// At is when attempts came, in ms since 1970, by webhook-id.
	At map[string][]int64 `json:"at"`
	// Repeated counts those that came although an earlier one was taken.
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

// comeback is a partner who is dead, each connection reset, until it comes back. It
// counts what it takes then by the sequence of the signals, and by the second.
type comeback struct {
	back atomic.Bool

	mu   sync.Mutex
	took takings
}

// takings are what a partner took who had come back.
type takings struct {
	BySequence map[string]int `json:"bySequence"`
	BySecond   map[string]int `json:"bySecond"`
	// First and Last are when, in ms since 1970.
	First int64 `json:"first"`
	Last  int64 `json:"last"`
}

func newComeback() *comeback {
	return &comeback{took: takings{BySequence: map[string]int{}, BySecond: map[string]int{}}}
}

func (c *comeback) serve(mux *http.ServeMux) {
	mux.HandleFunc("POST /comeback", func(w http.ResponseWriter, r *http.Request) {
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
	mux.HandleFunc("GET /come-back", func(http.ResponseWriter, *http.Request) { c.back.Store(true) })
	mux.HandleFunc("GET /took", func(w http.ResponseWriter, _ *http.Request) {
		c.mu.Lock()
		defer c.mu.Unlock()
		_ = json.NewEncoder(w).Encode(c.took) // the peer may be gone
	})
}

func (c *comeback) take(body string, now time.Time) {
	_, rest, _ := strings.Cut(body, `"sequence":`) // which is quicker than to decode it
	sequence, _, _ := strings.Cut(rest, ",")
	c.mu.Lock()
	defer c.mu.Unlock()
	c.took.BySequence[sequence]++
	c.took.BySecond[strconv.FormatInt(now.Unix(), 10)]++
	if c.took.Last = now.UnixMilli(); c.took.First == 0 {
		c.took.First = c.took.Last
	}
}
