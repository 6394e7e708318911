package receiver

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
	"time"

	"github.com/gridhook/gridhook/storage"
)

// maxBody bounds a delivery's body before and after decompression. A month of quarter
// hours fits.
const maxBody = 8 << 20

// Event is one delivery and its response.
type Event struct {
	// ID is the webhook-id. It is the same on every attempt of a message.
	ID string
	At time.Time
	// Verified says that the signature is valid. Problem is the reason if it is not.
	Verified bool
	Problem  string
	// Repeat says that a message with the same ID was accepted before.
	Repeat bool
	// Path, Header and Sent are the request as received. Body is its JSON after
	// decompression.
	Path       string
	Header     http.Header
	Sent, Body []byte
	// Status is the response's status. It is 0 if a simulated fault omits the response.
	// Fault says that the response is a simulated fault. Forwarded says that the response
	// is from another receiver.
	Status           int
	Fault, Forwarded bool
	// Batch is the number of events in a batch, or 0 for a single event.
	Batch int
	// Envelope is the outline of the body, or zero if the body is not an event. For a
	// batch it has only the type.
	Envelope
}

// Envelope holds the fields that the receiver reads.
type Envelope struct {
	Type string `json:"type"`
	Data struct {
		TriggerID string    `json:"triggerId"`
		HomeID    string    `json:"homeId"`
		Sequence  uint64    `json:"sequence"`
		StartTime time.Time `json:"startTime"`
		EndTime   time.Time `json:"endTime"`
		Prices    []float64 `json:"prices"`
	} `json:"data"`
}

// Counts sum up a receiver's deliveries.
type Counts struct {
	// Messages counts different accepted messages. Repeats counts messages that arrived
	// again; it covers at least the latest 100,000. Refused counts deliveries that did
	// not verify. Failed counts verified deliveries without a success response, because
	// of a fault, the forward target or an error of Each. Unrecorded counts errors of
	// Each.
	Messages, Repeats, Refused, Failed, Unrecorded int
}

// Options configure the handling of verified deliveries.
type Options struct {
	// Verifier verifies deliveries. Without a verifier, every delivery is refused unless
	// Unverified is set.
	Verifier   *Verifier
	Unverified bool
	// Faults are the simulated faults.
	Faults Faults
	// Forward is the target of forwarded deliveries. Its response is passed back. If nil,
	// nothing is forwarded.
	Forward *url.URL
	// Each, if not nil, is called one time per delivery before the response. Calls do not
	// overlap. An accepted delivery for which it returns an error gets 503, so that the
	// sender retries it.
	Each func(Event) error
}

// Receiver receives deliveries. It is an http.Handler.
type Receiver struct {
	options Options

	mu     sync.Mutex
	seen   recent
	counts Counts
}

// New returns a receiver.
func New(o Options) *Receiver { return &Receiver{options: o} }

// Counts returns the counts so far.
func (r *Receiver) Counts() Counts {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.counts
}

// ServeHTTP verifies a delivery and responds 204. A fault or the forward target may
// change the response. A delivery that does not verify gets 401.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, maxBody))
	if err != nil {
		http.Error(w, "the body could not be read", http.StatusBadRequest)
		return
	}
	e := Event{ID: req.Header.Get("webhook-id"), At: time.Now(), Path: req.URL.RequestURI(), Header: req.Header, Sent: body, Body: body}
	if err := r.verify(req.Header, body); err != nil {
		e.Problem, e.Status = err.Error(), http.StatusUnauthorized
		r.note(e)
		http.Error(w, e.Problem, e.Status)
		return
	}
	e.Verified = true
	if e.Body, err = inflate(body); err != nil {
		e.Problem = "the body does not inflate: " + err.Error()
	} else if err := e.read(); err != nil {
		e.Problem = "the body is not an event: " + err.Error()
	}
	hang, status := r.options.Faults.draw()
	switch {
	case hang, !r.options.Faults.delay(req.Context()):
		e.Fault = true
		r.note(e)
		<-req.Context().Done() // until the sender or the receiver gives up
	case status == 0 && r.options.Forward != nil:
		r.forward(w, req, e)
	case status == 0:
		e.Status = http.StatusNoContent
		w.WriteHeader(r.note(e))
	default:
		e.Status, e.Fault = status, true
		r.note(e)
		http.Error(w, "simulated fault", e.Status)
	}
}

// read reads the outline of an event, or of a batch of events.
func (e *Event) read() error {
	var outline struct {
		Type string            `json:"type"`
		Data []json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(e.Body, &outline); err == nil && outline.Type == storage.EventPriceSignalBatch {
		e.Type, e.Batch = outline.Type, len(outline.Data)
		return nil
	}
	return json.Unmarshal(e.Body, &e.Envelope)
}

// forwardTimeout is the timeout of a forwarded delivery.
const forwardTimeout = 30 * time.Second

// forward forwards a delivery unchanged and passes the response back. If the target is
// unreachable, the response is a bad gateway.
func (r *Receiver) forward(w http.ResponseWriter, req *http.Request, e Event) {
	ctx, cancel := context.WithTimeout(req.Context(), forwardTimeout)
	defer cancel()
	out := req.Clone(ctx)
	out.Body, out.ContentLength = io.NopCloser(bytes.NewReader(e.Sent)), int64(len(e.Sent))
	e.Forwarded = true
	proxy := httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) { p.Out.URL, p.Out.Host = r.options.Forward, "" },
		ModifyResponse: func(response *http.Response) error {
			e.Status = response.StatusCode
			response.StatusCode = r.note(e)
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			e.Problem, e.Status = "the receiver did not respond: "+err.Error(), http.StatusBadGateway
			r.note(e)
			w.WriteHeader(e.Status)
		},
	}
	proxy.ServeHTTP(w, out)
}

// inflate returns the decompressed body, or the body if it is not compressed. The size
// limit protects receivers without a secret; a verified body comes from a known sender.
func inflate(body []byte) ([]byte, error) {
	if !compressed(body) {
		return body, nil
	}
	in, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(in, maxBody+1))
	if err == nil && len(text) > maxBody {
		err = fmt.Errorf("more than %d bytes", maxBody)
	}
	return text, err
}

// compressed reports whether a body is gzip. JSON never begins with these bytes.
func compressed(body []byte) bool { return bytes.HasPrefix(body, []byte{0x1f, 0x8b}) }

func (r *Receiver) verify(header http.Header, body []byte) error {
	switch {
	case r.options.Verifier != nil:
	case r.options.Unverified:
		return nil
	default:
		return errNoSecret
	}
	_, err := r.options.Verifier.Verify(header, body)
	return err
}

var errNoSecret = errors.New("no secret to verify with")

// note passes a delivery to Each and counts it. It returns the status of the response.
func (r *Receiver) note(e Event) (status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	accepted := e.Verified && e.Status >= 200 && e.Status <= 299
	e.Repeat = accepted && r.seen.has(e.ID)
	if r.options.Each != nil && r.options.Each(e) != nil {
		r.counts.Unrecorded++
		if accepted {
			accepted, e.Status = false, http.StatusServiceUnavailable
		}
	}
	switch {
	case !e.Verified:
		r.counts.Refused++
	case !accepted:
		r.counts.Failed++
	case e.Repeat:
		r.counts.Repeats++
	default:
		r.seen.add(e.ID)
		r.counts.Messages++
	}
	return e.Status
}
