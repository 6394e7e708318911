package receiver

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/gridhook/gridhook/storage"
)

// maxBody bounds what is read of a delivery, and what that is inflated to: a month of
// quarter hours fits.
const maxBody = 8 << 20

// Event is one delivery as it arrived, and what it is answered.
type Event struct {
	// ID is the webhook-id: the same on every attempt of one message.
	ID string
	At time.Time
	// Verified says that the signature is right; Problem why it is not.
	Verified bool
	Problem  string
	// Repeat says that a message of the same ID was taken before.
	Repeat bool
	// Path, Header and Sent are the request as it came, Body the JSON in it, which
	// may have been compressed.
	Path       string
	Header     http.Header
	Sent, Body []byte
	// Status is the answer, 0 when there is none on purpose. Fault says that it is
	// a fault that was asked for, Forwarded that it is that of another receiver.
	Status           int
	Fault, Forwarded bool
	// Batch is how many events a batch has; 0 for an event that came alone.
	Batch int
	// Envelope is the body's outline, zero when the body is no event; of a batch it
	// has the type.
	Envelope
}

// Envelope is what the receiver reads of an event.
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

// Counts sum up what a receiver got.
type Counts struct {
	// Messages is how many different messages were taken, Repeats how many of the
	// latest 100,000 of them or more came again, Refused how many did not verify, Failed how many were verified
	// and not answered with success, by a fault or by whom they were passed on to.
	Messages, Repeats, Refused, Failed int
}

// Options say what a receiver does with what it verified.
type Options struct {
	// Verifier verifies. Without one nothing can be, and deliveries are taken as
	// they are.
	Verifier *Verifier
	// Faults are what it does wrong on purpose.
	Faults Faults
	// Forward is where it passes deliveries on to, whose answer it gives; nil for
	// nowhere.
	Forward *url.URL
	// Each, if any, is called once per delivery, before it is answered, one at a
	// time.
	Each func(Event)
}

// Receiver takes deliveries. It is an http.Handler.
type Receiver struct {
	options Options
	forward *forwarder

	mu     sync.Mutex
	seen   recent
	counts Counts
}

// New makes a receiver.
func New(o Options) *Receiver {
	r := &Receiver{options: o}
	if o.Forward != nil {
		r.forward = newForwarder(o.Forward)
	}
	return r
}

// Counts is what came so far.
func (r *Receiver) Counts() Counts {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.counts
}

// ServeHTTP verifies a delivery and answers 204, or what the faults and whom it is
// passed on to say; and 401 when it does not verify.
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
	_, _ = w.Write(a.body) // whoever went does not read it
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

// decide finds the answer to a delivery that verified. It is not ok when there is
// none to give.
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

// inflate is the text of a body that is compressed, or the body. It has been
// verified as it was sent, and cannot hold more than a sender would put there; the
// bound is for those without a secret.
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
	if r.options.Verifier == nil {
		return nil
	}
	_, err := r.options.Verifier.Verify(header, body)
	return err
}

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
