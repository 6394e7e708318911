package receiver

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// maxBody bounds what is read of a delivery: a month of quarter hours fits.
const maxBody = 8 << 20

// Event is one delivery as it arrived.
type Event struct {
	// ID is the webhook-id: the same on every attempt of one message.
	ID string
	At time.Time
	// Verified says that the signature is right; Problem why it is not.
	Verified bool
	Problem  string
	// Repeat says that a message of the same ID was taken before.
	Repeat bool
	Body   []byte
	// Envelope is the body's outline, zero when the body is no event.
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
	// Messages is how many different messages were verified, Repeats how many
	// of them came again, Refused how many did not verify.
	Messages, Repeats, Refused int
}

// Receiver takes deliveries. It is an http.Handler.
type Receiver struct {
	verifier *standardwebhooks.Webhook
	each     func(Event)

	mu     sync.Mutex
	seen   map[string]bool
	counts Counts
}

// New makes a receiver for a secret (whsec_...). Each, if any, is called once per
// delivery, one at a time. Without a secret nothing can be verified, and
// deliveries are taken as they are.
func New(secret string, each func(Event)) (*Receiver, error) {
	r := &Receiver{each: each, seen: map[string]bool{}}
	if secret == "" {
		return r, nil
	}
	var err error
	if r.verifier, err = standardwebhooks.NewWebhook(secret); err != nil {
		return nil, fmt.Errorf("the signing secret: %w", err)
	}
	return r, nil
}

// Counts is what came so far.
func (r *Receiver) Counts() Counts {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.counts
}

// ServeHTTP verifies a delivery and answers 204, or 401 when it does not verify.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, maxBody))
	if err != nil {
		http.Error(w, "the body could not be read", http.StatusBadRequest)
		return
	}
	e := Event{ID: req.Header.Get("webhook-id"), At: time.Now(), Body: body}
	if err := r.verify(body, req.Header); err != nil {
		e.Problem = err.Error()
	} else {
		e.Verified = true
		if err := json.Unmarshal(body, &e.Envelope); err != nil {
			e.Problem = "the body is no event: " + err.Error()
		}
	}
	r.count(e)
	if !e.Verified {
		http.Error(w, e.Problem, http.StatusUnauthorized)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (r *Receiver) verify(body []byte, header http.Header) error {
	if r.verifier == nil {
		return nil
	}
	return r.verifier.Verify(body, header)
}

func (r *Receiver) count(e Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case !e.Verified:
		r.counts.Refused++
	case r.seen[e.ID]:
		r.counts.Repeats++
		e.Repeat = true
	default:
		r.seen[e.ID] = true
		r.counts.Messages++
	}
	if r.each != nil {
		r.each(e)
	}
}
