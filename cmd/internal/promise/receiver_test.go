package promise

import (
	"crypto/sha256"
	"encoding/json"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// arrival is a request that a receiver got.
type arrival struct {
	id       string
	at       time.Time
	sum      [sha256.Size]byte // of the body
	body     []byte            // if the receiver stores bodies
	verified bool
	status   int
}

// receiver is a partner that stores every request, by home.
type receiver struct {
	t      *testing.T
	url    string
	verify *standardwebhooks.Webhook
	// keep reports whether bodies are stored.
	keep bool
	// answer returns the status for a home's n-th request (from 1), a signal of a trigger.
	answer func(home, trigger string, n int) int

	mu      sync.Mutex
	got     map[string][]arrival
	total   int
	changed chan struct{} // closed and replaced at every arrival
	// hold is the number of requests after which further requests wait for a release.
	holdFrom int
	hold     chan struct{}
}

func newReceiver(t *testing.T) *receiver {
	r := &receiver{
		t: t, got: map[string][]arrival{}, changed: make(chan struct{}),
		answer: func(string, string, int) int { return http.StatusOK },
	}
	server := httptest.NewServer(r)
	r.url = server.URL
	t.Cleanup(func() {
		r.release()
		server.Close()
	})
	return r
}

// listen makes it respond at another, so far unused address.
func (r *receiver) listen(address string) {
	r.t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		r.t.Fatal(err)
	}
	server := &http.Server{Handler: r}
	go func() { _ = server.Serve(l) }()
	r.t.Cleanup(func() { _ = server.Close() })
}

// trust sets the secret that signatures must have.
func (r *receiver) trust(secret string) {
	r.t.Helper()
	var err error
	if r.verify, err = standardwebhooks.NewWebhook(secret); err != nil {
		r.t.Fatal(err)
	}
}

// ServeHTTP receives a delivery.
func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return // the connection broke, because its sender was killed
	}
	var event struct {
		Type string `json:"type"`
		Data struct {
			HomeID    string `json:"homeId"`
			TriggerID string `json:"triggerId"`
		} `json:"data"`
	}
	_ = json.Unmarshal(body, &event) // a body that is not an event counts for the home ""
	if event.Type == "price_signal.trigger.completed" {
		return // an endpoint of `gridhook listen` gets it at an unknown time
	}
	a := arrival{id: req.Header.Get("webhook-id"), at: time.Now(), sum: sha256.Sum256(body)}
	if r.keep {
		a.body = body
	}
	a.verified = r.verify != nil && r.verify.Verify(body, req.Header) == nil
	status, hold := r.record(event.Data.HomeID, event.Data.TriggerID, a)
	if hold != nil {
		<-hold
	}
	w.WriteHeader(status)
}

func (r *receiver) record(home, trigger string, a arrival) (status int, hold chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	a.status = r.answer(home, trigger, len(r.got[home])+1)
	r.got[home] = append(r.got[home], a)
	r.total++
	close(r.changed)
	r.changed = make(chan struct{})
	if r.hold != nil && r.total >= r.holdFrom {
		return a.status, r.hold
	}
	return a.status, nil
}

// holdAfter accepts n more requests and holds the others until release.
func (r *receiver) holdAfter(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hold, r.holdFrom = make(chan struct{}), r.total+n
}

// release releases the held requests.
func (r *receiver) release() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.hold != nil {
		close(r.hold)
		r.hold = nil
	}
}

// wait returns once the condition holds. It checks it at every arrival.
func (r *receiver) wait(what string, condition func() bool) {
	r.t.Helper()
	deadline := time.After(patience)
	for {
		r.mu.Lock()
		ok, changed, total := condition(), r.changed, r.total
		r.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			r.t.Fatalf("timeout: %s; %d requests arrived, for %d homes", what, total, len(r.got))
		}
	}
}

// arrivals returns a copy of the received requests.
func (r *receiver) arrivals() map[string][]arrival {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.got)
}

// check checks that each home arrived, signed, with one webhook-id and one body, and
// returns how many requests repeated an acknowledged one.
func (r *receiver) check(homes int) (repeats int) {
	r.t.Helper()
	got := r.arrivals()
	if len(got) != homes {
		r.t.Errorf("%d homes were delivered, want %d", len(got), homes)
	}
	ids := map[string]string{}
	for home, list := range got {
		answered := 0
		for _, a := range list {
			switch {
			case !a.verified:
				r.t.Fatalf("%s: a signature does not verify", home)
			case a.id != list[0].id:
				r.t.Fatalf("%s has two identifiers, %s and %s", home, list[0].id, a.id)
			case a.sum != list[0].sum:
				r.t.Fatalf("%s has two bodies", home)
			}
			if a.status < 300 {
				answered++
			}
		}
		if other, taken := ids[list[0].id]; taken {
			r.t.Fatalf("%s and %s have one identifier", home, other)
		}
		ids[list[0].id] = home
		repeats += max(0, answered-1)
	}
	return repeats
}
