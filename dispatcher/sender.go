package dispatcher

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"
	"unicode/utf8"

	"go.opentelemetry.io/otel/trace"

	"github.com/gridhook/gridhook/dispatcher/http1"
	"github.com/gridhook/gridhook/events"
)

// Limits on what a partner answers.
const (
	maxAnswer        = 64 << 10 // bytes read
	keptAnswer       = 1 << 10  // bytes kept of an unsuccessful one
	maxAnswerHeaders = 16 << 10
)

// attempt is one request and what came of it.
type attempt struct {
	at         time.Time
	took       time.Duration
	status     int // 0 when there was no answer
	err        error
	answer     string
	retryAfter time.Duration
	timing     http1.Timing
	// batch is the webhook-id of a batch, "" where a message was sent on its own. body
	// is that of a successful answer to one, items what it says of its messages, and item
	// is set on an attempt that is about one of them.
	batch string
	body  []byte
	items map[string]item
	item  bool
	// trace is the one that its span is of, zero where there is none.
	trace trace.TraceID
}

// sender posts webhooks: over HTTP/2 where the destination speaks it, and
// otherwise with the lean client, which takes about half the processor time of
// net/http's.
type sender struct {
	lean      *http1.Client
	transport *http.Transport
	// authorities is where access tokens are asked for.
	authorities *http.Client
}

// Time bounds of a connection; an attempt as a whole has the endpoint's.
const (
	dialTimeout      = 10 * time.Second
	handshakeTimeout = 10 * time.Second
	idleTimeout      = 60 * time.Second
	// bodyTimeout is how long the body of an answer may take once its status is
	// known.
	bodyTimeout = time.Second
)

// newSender makes a sender that dials only where the guard allows and keeps up
// to idle connections to each destination open.
func newSender(g Guard, idle int) *sender {
	dialer := &net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second, Control: g.control}
	secure := &tls.Config{MinVersion: tls.VersionTLS12, ClientSessionCache: tls.NewLRUClientSessionCache(1024)}
	return newSenderOver(dialer.DialContext, secure, idle)
}

// newSenderOver makes a sender over connections made by dial.
func newSenderOver(dial func(ctx context.Context, network, address string) (net.Conn, error), secure *tls.Config, idle int) *sender {
	s := &sender{
		lean: http1.New(http1.Options{
			Dial: dial, TLS: secure, HandshakeTimeout: handshakeTimeout,
			Idle: idle, IdleTimeout: idleTimeout, MaxHeader: maxAnswerHeaders, MaxBody: maxAnswer, BodyTimeout: bodyTimeout,
		}),
		transport: &http.Transport{
			Proxy:                  nil, // an environment must not reroute what is signed for a partner
			DialContext:            dial,
			TLSClientConfig:        secure.Clone(),
			TLSHandshakeTimeout:    handshakeTimeout,
			MaxIdleConnsPerHost:    idle,
			MaxConnsPerHost:        0, // the bulkhead bounds it
			IdleConnTimeout:        idleTimeout,
			MaxResponseHeaderBytes: maxAnswerHeaders,
			ForceAttemptHTTP2:      true,
			DisableCompression:     true,
		},
	}
	s.authorities = newAuthorities(s.transport)
	return s
}

func (s *sender) close() {
	s.lean.Close()
	s.transport.CloseIdleConnections()
}

// send makes one request, at a place in a trace or at none. Nothing follows redirects,
// keeps cookies or retries.
func (s *sender) send(ctx context.Context, e *endpoint, id string, body payload, place events.Traceparent, now func() time.Time) attempt {
	a := attempt{at: now()}
	timestamp, signature := signature(e.signers, id, a.at, body)
	sent := body.sent()
	started := time.Now()
	r := http1.Request{
		Body: sent, Keep: http1.Keep{Failure: keptAnswer, Success: body.answer}, By: started.Add(e.timeout),
		Headers: []http1.Header{{Name: "Webhook-Id", Value: id}, {Name: "Webhook-Timestamp", Value: timestamp}, {Name: "Webhook-Signature", Value: signature}},
	}
	if place != "" {
		r.Headers = append(r.Headers, http1.Header{Name: events.TraceHeader, Value: string(place)})
	}
	var err error
	if e.tokens != nil {
		err = s.sendAuthorized(ctx, e, &r, &a)
	} else {
		err = s.post(ctx, e, &r, &a)
	}
	a.took = time.Since(started)
	if err != nil {
		a.err = explainSend(ctx, err, e.timeout, a.took)
	}
	return a
}

// post makes a request over the protocol that the destination speaks.
func (s *sender) post(ctx context.Context, e *endpoint, r *http1.Request, a *attempt) error {
	err := http1.ErrHTTP2
	if !e.http2.Load() {
		err = s.sendLean(ctx, e, r, a)
	}
	if errors.Is(err, http1.ErrHTTP2) {
		e.http2.Store(true)
		err = s.sendMultiplexed(ctx, e, r, a)
	}
	return err
}

func (s *sender) sendLean(ctx context.Context, e *endpoint, r *http1.Request, a *attempt) error {
	answer, err := e.target(s.lean).Do(ctx, r, &a.timing)
	if answer == nil {
		return err
	}
	a.status = answer.Status
	a.noteRetryAfter(answer.Header)
	return a.noteBody(answer.Body, r.Keep.Success, err)
}

// noteBody takes what was read of an answer's body. How the reading ended matters
// where the body of a success does: otherwise the status says all.
func (a *attempt) noteBody(body []byte, success int, err error) error {
	if a.status < 200 || a.status > 299 {
		a.answer = text(body)
		return nil
	}
	if success == 0 {
		return nil
	}
	a.body = body
	return err
}

func (s *sender) sendMultiplexed(ctx context.Context, e *endpoint, r *http1.Request, a *attempt) error {
	ctx, cancel := context.WithDeadline(ctx, r.By)
	defer cancel()
	var times tracer
	defer func() { a.timing = times.taken() }()
	header := make(http.Header, len(e.header)+len(r.Headers))
	for name, values := range e.header {
		header[name] = values
	}
	for _, h := range r.Headers {
		header[h.Name] = []string{h.Value}
	}
	body := bytes.Clone(r.Body) // RoundTrip may read it after it has returned, when the buffer is another request's
	request := (&http.Request{
		Method: http.MethodPost, URL: e.url, Host: e.url.Host, Header: header,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
		GetBody: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil },
	}).WithContext(times.trace(ctx))
	response, err := s.transport.RoundTrip(request) //nolint:bodyclose // readAnswer does
	if err != nil {
		return err
	}
	a.status = response.StatusCode
	a.noteRetryAfter(response.Header)
	kept, err := readAnswer(response, r.Keep.Success)
	return a.noteBody(kept, r.Keep.Success, err)
}

// noteRetryAfter takes the pause that an endpoint asks for.
func (a *attempt) noteRetryAfter(h http.Header) {
	if a.status == http.StatusTooManyRequests || a.status == http.StatusServiceUnavailable {
		a.retryAfter = parseRetryAfter(h.Get("Retry-After"), a.at)
	}
}

// readAnswer reads what is allowed of an answer, so that the connection can be
// used again, and keeps the beginning of an unsuccessful one, and of a successful one
// up to a number of bytes. What is longer, or
// slow to come, costs the partner the connection, not us the memory or the slot.
// The status was answered: whatever becomes of the body does not matter.
func readAnswer(r *http.Response, success int) (kept []byte, err error) {
	late := time.AfterFunc(bodyTimeout, func() { _ = r.Body.Close() })
	defer late.Stop()
	defer func() { _ = r.Body.Close() }()
	keep := success
	if r.StatusCode < 200 || r.StatusCode > 299 {
		keep = keptAnswer
	}
	kept, err = io.ReadAll(io.LimitReader(r.Body, int64(keep)))
	_, _ = io.CopyN(io.Discard, r.Body, int64(maxAnswer-len(kept)))
	return kept, err
}

// text makes an answer fit to be shown and stored as JSON.
func text(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	return string(bytes.ToValidUTF8(b, []byte("\uFFFD")))
}

// errNoAnswer says that an attempt ran out of time.
var errNoAnswer = errors.New("no complete answer")

// errStopping says that an attempt was cut off.
var errStopping = errors.New("cut off because the worker was stopping")

// explainSend says in words what went wrong. What ran out of a time of its own, such as
// that for dialing, says so itself.
func explainSend(ctx context.Context, err error, timeout, took time.Duration) error {
	switch {
	case errors.Is(err, errToken) && !errors.Is(ctx.Err(), context.Canceled):
		return err
	case errors.Is(ctx.Err(), context.Canceled):
		return errStopping
	case errors.Is(err, os.ErrDeadlineExceeded), took >= timeout && errors.Is(err, context.DeadlineExceeded), ctx.Err() != nil:
		return fmt.Errorf("%w within %s", errNoAnswer, timeout)
	}
	return err
}

// parseRetryAfter reads seconds or an HTTP date. What it cannot read is 0.
func parseRetryAfter(s string, now time.Time) time.Duration {
	n, err := strconv.Atoi(s)
	if err == nil || errors.Is(err, strconv.ErrRange) { // out of range, n is the largest or the smallest
		return time.Duration(min(max(n, 0), int(maxRetryAfter/time.Second))) * time.Second
	}
	if t, err := http.ParseTime(s); err == nil {
		return max(t.Sub(now), 0)
	}
	return 0
}
