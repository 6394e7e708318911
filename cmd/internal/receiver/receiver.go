package receiver

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
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
	// of a fault or of the forward target.
	Messages, Repeats, Refused, Failed int
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
	// overlap.
	Each func(Event)
}

// Receiver receives deliveries. It is an http.Handler.
type Receiver struct {
	options Options
	forward *forwarder

	mu     sync.Mutex
	seen   recent
	counts Counts
}

// New returns a receiver.
func New(o Options) *Receiver {
	r := &Receiver{options: o}
	if o.Forward != nil {
		r.forward = newForwarder(o.Forward)
	}
	return r
}

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
	if e.Body, err = inflate(req.Header, body); err != nil {
		e.Problem = "the body does not inflate: " + err.Error()
	} else if err := e.read(); err != nil {
		e.Problem = "the body is no event: " + err.Error()
	}
	a, ok := r.decide(req, &e)
	r.note(e)
	if !ok {
		<-req.Context().Done() // until the sender or the receiver gives up
		return
	}
	maps.Copy(w.Header(), a.header)
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body) // a disconnected sender does not read it
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

// decide returns the response to a verified delivery. ok is false if there is no
// response.
func (r *Receiver) decide(req *http.Request, e *Event) (a answer, ok bool) {
	hang, status := r.options.Faults.draw()
	if hang {
		e.Fault = true
		return answer{}, false
	}
	if slow := r.options.Faults.Slow; slow > 0 {
		wait := time.NewTimer(slow)
		defer wait.Stop()
		select {
		case <-wait.C:
		case <-req.Context().Done():
			e.Fault = true
			return answer{}, false
		}
	}
	switch {
	case status != 0:
		e.Fault = true
		a = answer{status: status, body: []byte("failed on purpose\n")}
	case r.forward != nil:
		e.Forwarded = true
		var err error
		if a, err = r.forward.pass(req.Context(), req.Header, e.Sent); err != nil {
			e.Problem = err.Error()
		}
	default:
		a = answer{status: http.StatusNoContent}
	}
	e.Status = a.status
	return a, true
}

// inflate returns the decompressed body, or the body if it is not compressed. The size
// limit protects receivers without a secret; a verified body comes from a known sender.
func inflate(header http.Header, body []byte) ([]byte, error) {
	if header.Get("Content-Encoding") != "gzip" {
		return body, nil
	}
	in, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(in, maxBody+1))
	if err == nil && len(text) > maxBody {
		err = fmt.Errorf("it is more than %d bytes", maxBody)
	}
	return text, err
}

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

var errNoSecret = errors.New("there is no secret to verify it with")

func (r *Receiver) note(e Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case !e.Verified:
		r.counts.Refused++
	case e.Status < 200 || e.Status > 299:
		r.counts.Failed++
	case r.seen.has(e.ID):
		r.counts.Repeats++
		e.Repeat = true
	default:
		r.seen.add(e.ID)
		r.counts.Messages++
	}
	if r.options.Each != nil {
		r.options.Each(e)
	}
}
