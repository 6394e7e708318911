package http1

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// Header is a header that only one request has. Neither part may have line
// breaks.
type Header struct{ Name, Value string }

// Answer is what a destination answered.
type Answer struct {
	Status int
	// Header is nil where nothing in it matters: of a plain success.
	Header http.Header
	// Body is what was kept of the answer's body.
	Body []byte
}

// Keep says how many bytes of an answer's body are kept when the status is 2xx, and
// when it is not. Neither may be more than Options.MaxBody.
type Keep struct{ Success, Failure int }

// Request is one request.
type Request struct {
	Body    []byte
	Headers []Header
	Keep    Keep
	// By is when it is given up, the zero time for when its context ends. It costs
	// less than a context with a deadline, which needs a timer of its own.
	By time.Time
}

// Post sends one request and reads its answer, of which it keeps up to keep bytes
// of the body when the status is not 2xx. It ends when ctx does, at the latest.
//
// A connection that was kept may have been closed by the other side meanwhile:
// where it ends before the first byte of an answer, the request is sent once more
// on a new one. Errors: ErrHTTP2 when nothing was sent, those of ctx and of the
// network. An error beside an Answer says that the answer's body was cut off.
func (t *Target) Post(ctx context.Context, body []byte, keep int, more ...Header) (*Answer, error) {
	return t.Do(ctx, &Request{Body: body, Headers: more, Keep: Keep{Failure: keep}}, &Timing{})
}

// Do is Post that notes how long its parts take, as far as it comes.
func (t *Target) Do(ctx context.Context, r *Request, timing *Timing) (*Answer, error) {
	if c := t.idle.take(); c != nil {
		answer, err := t.exchange(ctx, c, r, timing)
		if !errors.Is(err, errStale) || ctx.Err() != nil {
			return answer, err
		}
	}
	c, err := t.connectBy(ctx, r.By, timing)
	if err != nil {
		return nil, because(ctx, err)
	}
	return t.exchange(ctx, c, r, timing)
}

// exchange sends a request and reads the answer, after which the connection is
// kept for the next one or closed.
func (t *Target) exchange(ctx context.Context, c *connection, r *Request, timing *Timing) (*Answer, error) {
	unbind := c.bind(ctx, r.By)
	answer, reusable, err := t.roundTrip(c, r, timing)
	if unbind() && reusable {
		t.idle.put(c)
	} else {
		c.close()
	}
	return answer, because(ctx, err)
}

func (t *Target) roundTrip(c *connection, r *Request, timing *Timing) (answer *Answer, reusable bool, err error) {
	c.write(t.head, r)
	sent := time.Now()
	err = c.send()
	timing.FirstByte = time.Since(sent)
	if err != nil {
		return nil, false, err
	}
	if answer, ok := c.plain(r.Keep.Success); ok {
		return answer, c.in.Buffered() == 0, nil
	}
	response, err := c.receive() //nolint:bodyclose // the body is the connection, which is kept or closed as a whole
	if err != nil {
		return nil, false, err
	}
	answer = &Answer{Status: response.StatusCode, Header: response.Header}
	c.hurry(t.options.BodyTimeout)
	kept := r.Keep.Success
	if answer.Status < 200 || answer.Status > 299 {
		kept = r.Keep.Failure
	}
	if kept > 0 {
		if answer.Body, err = io.ReadAll(io.LimitReader(response.Body, int64(kept))); err != nil {
			return answer, false, err
		}
	}
	_, err = io.CopyN(io.Discard, response.Body, int64(t.options.MaxBody-len(answer.Body)))
	switch {
	case errors.Is(err, io.EOF): // that was all of it
		return answer, !response.Close && c.in.Buffered() == 0, nil
	default: // there is more, or it was cut off
		return answer, false, err
	}
}

// because names the context's end where that is what an error came from.
func because(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("%w: %w", context.Cause(ctx), err)
	}
	return err
}
