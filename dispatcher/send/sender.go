package send

import (
	"bytes"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"time"
	"unicode/utf8"

	"go.opentelemetry.io/otel/trace"

	"github.com/gridhook/gridhook/dispatcher/policy"
	"github.com/gridhook/gridhook/dispatcher/send/httpclient"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/redact"
)

// Limits of a response.
const (
	// MaxResponse is the maximum number of body bytes to read.
	MaxResponse = 64 << 10
	// KeptResponse is the maximum number of stored body bytes of an unsuccessful
	// response.
	KeptResponse       = 1 << 10
	maxResponseHeaders = 16 << 10
)

// Timeouts of a connection. The endpoint's own timeout applies to the whole attempt.
const (
	dialTimeout      = 10 * time.Second
	handshakeTimeout = 10 * time.Second
	idleTimeout      = 60 * time.Second
	pingAfter        = 10 * time.Second
	// bodyTimeout is the timeout for reading a response's body after its status.
	bodyTimeout = time.Second
)

// Options configure the connections of a Sender.
type Options struct {
	// Guard decides which addresses may be dialed.
	Guard Guard
	// Egress configures the way to destinations.
	Egress Egress
	// Relay passes the requests to relay endpoints.
	Relay Relay
	// IdlePerDestination is the maximum number of idle connections to one destination.
	IdlePerDestination int
	// Tracer makes a span for the first TracedRequests requests of a message to an
	// endpoint. nil disables spans.
	Tracer         trace.Tracer
	TracedRequests int
	// Dial and TLS replace the guarded dialer and its TLS configuration in tests.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	TLS  *tls.Config
}

func (o *Options) setDefaults() {
	if o.Dial == nil {
		o.Dial = o.Egress.dialer(o.Guard)
	}
	if o.TLS == nil {
		o.TLS = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: o.Egress.Roots, ClientSessionCache: tls.NewLRUClientSessionCache(1024)}
	}
}

// transport returns a transport of net/http over the guarded dialer.
func (o *Options) transport() *http.Transport {
	return &http.Transport{
		Proxy:                  nil, // Dial uses the operator's proxy; environment variables must not reroute a signed webhook
		DialContext:            o.Dial,
		TLSClientConfig:        o.TLS.Clone(),
		TLSHandshakeTimeout:    handshakeTimeout,
		MaxIdleConnsPerHost:    o.IdlePerDestination,
		MaxConnsPerHost:        0, // the gate limits the requests
		IdleConnTimeout:        idleTimeout,
		MaxResponseHeaderBytes: maxResponseHeaders,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true,
	}
}

// newClient returns a client of net/http over a transport. The timeout limits each request,
// 0 means none.
func newClient(over *http.Transport, timeout time.Duration) *http.Client {
	return &http.Client{
		Transport: over, Timeout: timeout,
		// A redirect would send the credentials or a secret elsewhere.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Sender posts webhooks. It follows no redirects, keeps no cookies and does not retry.
// Close ends it.
type Sender struct {
	opt    Options
	client *httpclient.Client
	// authorities is the client for token endpoints. running ends its requests, and Close
	// waits for fetching.
	authorities *http.Client
	running     context.Context //nolint:containedctx // the sender's own life
	stop        context.CancelFunc
	fetching    sync.WaitGroup
}

// New returns a sender.
func New(o Options) *Sender {
	o.setDefaults()
	s := &Sender{
		opt: o,
		client: httpclient.New(httpclient.Options{
			Dial: o.Dial, TLS: o.TLS, HandshakeTimeout: handshakeTimeout,
			MaxIdle: o.IdlePerDestination, IdleTimeout: idleTimeout, PingAfter: pingAfter,
			MaxHeader: maxResponseHeaders, MaxBody: MaxResponse, BodyTimeout: bodyTimeout,
		}),
		authorities: newClient(o.transport(), tokenTimeout),
	}
	s.running, s.stop = context.WithCancel(context.Background())
	return s
}

// Close closes idle connections, cancels the requests for tokens and waits for them.
func (s *Sender) Close() {
	s.stop()
	s.fetching.Wait()
	s.client.Close()
	s.authorities.CloseIdleConnections()
}

// Destination holds the common properties of an endpoint's requests.
type Destination struct {
	// TargetOptions has the URL, also the URL of a relay endpoint, and the header, which must not
	// change.
	httpclient.TargetOptions
	Timeout time.Duration
	// Tokens authorize the requests. It is nil if Header does, or no authorization is
	// needed.
	Tokens *Tokens
	// EndpointID is the endpoint's name in spans.
	EndpointID string
	// Secrets are the values of headers that no stored text shows. Text and errors of
	// attempts do not contain them, nor the user data and the query values of URL, nor the
	// secrets of Tokens.
	Secrets []string

	once   sync.Once
	posted *httpclient.Target
	// masks masks the secrets and maskedToken.
	maskMu      sync.Mutex
	masks       *redact.Masker
	maskedToken string
}

// target returns the HTTP client's target of the destination.
func (d *Destination) target(c *httpclient.Client) *httpclient.Target {
	d.once.Do(func() { d.posted = c.Target(d.TargetOptions) })
	return d.posted
}

// Header is one header of a request.
type Header = httpclient.Header

// Request is one webhook request.
type Request struct {
	// At is the time of the attempt. The signature contains it.
	At time.Time
	// ID is the webhook-id.
	ID      string
	Headers []Header
	Body    []byte
	// KeepResponse is the number of body bytes of a successful response to keep.
	KeepResponse int
	// Number is the index of the request among its message's requests to this endpoint,
	// from 0.
	Number int
}

// post makes the request. The attempt ends after the destination's timeout.
func (s *Sender) post(ctx context.Context, d *Destination, r *Request, more ...Header) Attempt {
	a := Attempt{At: r.At}
	started := time.Now()
	request := httpclient.Request{
		Body: r.Body, Keep: httpclient.Keep{Failure: KeptResponse, Success: r.KeepResponse}, Deadline: started.Add(d.Timeout),
		Headers: append(r.Headers, more...),
	}
	// gofail: var postBefore struct{}
	var err error
	if d.Tokens != nil {
		err = s.sendAuthorized(ctx, d, &request, &a)
	} else {
		err = s.exchange(ctx, d, &request, &a)
	}
	// gofail: var postAfter struct{}
	a.Took = time.Since(started)
	if err != nil {
		a.Err = explain(ctx, err, d.Timeout, a.Took)
	}
	return a
}

// exchange makes a request and records its response.
func (s *Sender) exchange(ctx context.Context, d *Destination, r *httpclient.Request, a *Attempt) error {
	var response *httpclient.Response
	var err error
	if d.URL.Scheme == storage.RelayScheme {
		response, err = s.relay(ctx, d, r)
	} else {
		response, err = d.target(s.client).Do(ctx, r, &a.Timing)
	}
	if response == nil {
		return d.maskError(a, err)
	}
	if a.Status = response.Status; a.Status == http.StatusTooManyRequests || a.Status == http.StatusServiceUnavailable {
		a.RetryAfter = events.RetryAfter(response.Header.Get("Retry-After"), a.At, policy.MaxRetryAfter)
	}
	switch {
	case policy.Judge(a.Status, nil) != policy.Delivered:
		a.Response = d.Text(a, string(response.Body))
		return nil
	case r.Keep.Success == 0:
		return nil
	}
	a.Body = response.Body
	return err // a truncated body is an error only if the caller needs it
}

// validText converts bytes of a response to valid UTF-8, for display and JSON.
func validText(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	return string(bytes.ToValidUTF8(b, []byte("\uFFFD")))
}
