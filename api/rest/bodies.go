package rest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// bodyMemory limits the memory for request bodies and for responses that clients have not
// read yet. An organization may use a quarter, so that it does not affect the others. All
// callers without an API key share one quarter: addresses cost an attacker nothing.
type bodyMemory struct {
	max  int64
	held Shares // by payer
}

// LargeBody is the size in bytes beyond which a body is counted, and decoded in turn. Small
// requests therefore succeed beside large ones. The limit on connections bounds the number of
// small bodies.
const LargeBody = 32 << 10

// Decode runs the decoding of a body, which takes up to a tenth of a second for a large one.
// Errors: those of InTurn.
func (s *Server) Decode(ctx context.Context, c *Call, body []byte, decode func()) error {
	if len(body) <= LargeBody {
		decode()
		return nil
	}
	return s.InTurn(ctx, c, func() error { decode(); return nil })
}

// hold counts a body of n bytes until release is called. It never blocks. A body is always
// accepted if it is the only one, or if it is the response of a stored change. An operator
// has no share. Errors: errBodyMemory, ErrUnavailable.
func (m *bodyMemory) hold(c *Caller, n int64, changed bool) (release func(), err error) {
	if n <= LargeBody {
		return func() {}, nil
	}
	return m.held.Take(c.Payer(), n, func(total, own int64) error {
		switch {
		case changed:
		case !c.Operator && own > 0 && own+n > m.max/share:
			return errBodyMemory(c, m.max/share)
		case total > 0 && total+n > m.max:
			return ErrUnavailable
		}
		return nil
	})
}

func errBodyMemory(c *Caller, limit int64) *Problem {
	whose := "organization"
	if c.anonymous() {
		whose = "group of clients without an API key"
	}
	return NewProblem(CodeRateLimited,
		fmt.Sprintf("The %s has reached its share of the limit max-unread: %d bytes of request bodies and unread responses.", whose, limit),
		"Send fewer requests at once, or less in one request, and read the responses as they arrive.").After(1)
}

// ReadBody reads a body of at most limit bytes, which the caller enforces. It counts the
// body until the operation ends. A body without a Content-Length counts as the size up to
// which ReadBody reads it before it counts again. Errors: errContentEncoding, errBodyMemory,
// ErrUnavailable, and see readError.
func (s *Server) ReadBody(r *http.Request, c *Call, limit int64) ([]byte, error) {
	if len(r.Header.Values("Content-Encoding")) > 0 {
		return nil, errContentEncoding
	}
	size := int64(LargeBody)
	if r.ContentLength >= 0 {
		size = min(r.ContentLength, limit)
	}
	const most = 4 << 10 // a client that only announces a large body gets no large buffer
	data := bytes.NewBuffer(make([]byte, 0, min(size, most)+bytes.MinRead))
	for {
		if err := s.count(c, size); err != nil {
			return nil, err
		}
		if _, err := data.ReadFrom(io.LimitReader(r.Body, size+1-int64(data.Len()))); err != nil {
			return nil, readError(err)
		}
		if int64(data.Len()) <= size || size == limit {
			return data.Bytes(), nil
		}
		size = min(max(2*size, LargeBody), limit)
	}
}

// SlowBody reports whether a body took so long that the call's key may have ended meanwhile.
func (s *Server) SlowBody(c *Call) bool { return s.Store.Now().Sub(c.Now) >= time.Second }

// count replaces the counted size of a call's body by n bytes.
func (s *Server) count(c *Call, n int64) (err error) {
	if c.release != nil {
		c.release()
	}
	c.release, err = s.bodies.hold(&c.Caller, n, false)
	return err
}

// readError converts an error of reading the body: too large, too slow, or shorter than
// announced.
func readError(err error) error {
	_, tooLarge := errors.AsType[*http.MaxBytesError](err)
	if network, ok := errors.AsType[net.Error](err); tooLarge || ok && network.Timeout() {
		return err
	}
	return Invalid("body", "ended before it was complete")
}
