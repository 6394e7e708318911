package rest

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"
)

// unread limits the memory for responses that clients have not read yet. An organization
// may use a quarter, so that slow readers of one organization do not affect the others.
type unread struct {
	max int64

	mu    sync.Mutex
	total int64
	byOrg map[string]int64
}

// share is the divisor of the limit for one organization.
const share = 4

// leastCounted is the maximum size of a response that is not counted, in bytes. The rate
// limits of keys and readStall bound the number of such responses.
const leastCounted = 32 << 10

// hold counts a response of n bytes until release is called. A response is always
// accepted if it is the only one, or if its operation has stored a change. Errors:
// errUnread, ErrUnavailable.
func (u *unread) hold(org string, n int64, changed bool) (release func(), err error) {
	if n <= leastCounted {
		return func() {}, nil
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	switch held := u.byOrg[org]; {
	case changed:
	case held > 0 && held+n > u.max/share:
		return nil, errUnread(u.max / share)
	case u.total > 0 && u.total+n > u.max:
		return nil, ErrUnavailable
	}
	u.add(org, n)
	return func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		u.add(org, -n)
	}, nil
}

func (u *unread) add(org string, n int64) {
	u.total += n
	if u.byOrg[org] += n; u.byOrg[org] == 0 {
		delete(u.byOrg, org)
	}
}

func errUnread(limit int64) *Problem {
	return NewProblem(CodeRateLimited,
		fmt.Sprintf("The organization has not read responses of %d bytes, its share of the limit max-unread.", limit),
		"Read the responses as they arrive, or send fewer requests at once.").After(1)
}

// A client must read pieceSize bytes of a response within readStall.
const (
	pieceSize = 64 << 10
	readStall = 5 * time.Second
)

// send writes a response in pieces. A client that reads a piece too slowly is
// disconnected, which frees the memory of the response.
func send(w http.ResponseWriter, body []byte, stall time.Duration) {
	to := SteadyWriter{w, stall}
	for piece := range slices.Chunk(body, pieceSize) {
		if _, err := to.Write(piece); err != nil {
			return // the caller is gone
		}
	}
}

// SteadyWriter writes a response. It disconnects a client that does not read what one Write
// wrote within Stall. 0 is no limit.
type SteadyWriter struct {
	http.ResponseWriter
	Stall time.Duration
}

// Write writes to the client.
func (w SteadyWriter) Write(p []byte) (int, error) {
	if w.Stall > 0 {
		_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(time.Now().Add(w.Stall)) // a test's recorder has no deadlines
	}
	return w.ResponseWriter.Write(p)
}
