package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/gridhook/gridhook/storage"
)

// mood determines a receiver's responses.
type mood string

// The moods.
const (
	moodWell   mood = "200"
	moodError  mood = "500"
	moodRefuse mood = "429 with Retry-After"
	moodHang   mood = "no response"
	moodReset  mood = "reset"
	moodTorn   mood = "200 that breaks off"
	moodSlow   mood = "200 after half a second"
)

var badMoods = []mood{moodError, moodRefuse, moodHang, moodReset, moodTorn, moodSlow}

// endpoint is a receiver of one partner.
type endpoint struct {
	org, name string
	// verify is nil for the callbacks of OpenADR subscriptions.
	verify *standardwebhooks.Webhook
	giveUp time.Duration

	mu   sync.Mutex
	mood mood
	// arrived, if set, is called with each request before the response.
	arrived func(arrival)
}

func (e *endpoint) setMood(m mood) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.mood = m
}

func (e *endpoint) onArrival(f func(arrival)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.arrived = f
}

func (e *endpoint) now() (mood, func(arrival)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.mood, e.arrived
}

// receivers holds the receivers of all partners behind one address.
type receivers struct {
	server    *httptest.Server
	ledger    *ledger[arrival]
	endpoints map[string]*endpoint // by path
	closing   chan struct{}
}

func newReceivers(l *ledger[arrival]) *receivers {
	r := &receivers{ledger: l, endpoints: map[string]*endpoint{}, closing: make(chan struct{})}
	r.server = httptest.NewServer(r)
	return r
}

func (r *receivers) close() {
	close(r.closing)
	r.server.CloseClientConnections()
	r.server.Close()
}

// add creates an endpoint. trust sets its secret later.
func (r *receivers) add(org, name string, giveUp time.Duration) (e *endpoint, url string) {
	e = &endpoint{org: org, name: org + "/" + name, giveUp: giveUp, mood: moodWell}
	r.endpoints["/"+e.name] = e
	return e, r.server.URL + "/" + e.name
}

func (e *endpoint) trust(secret string) (err error) {
	e.verify, err = standardwebhooks.NewWebhook(secret)
	return err
}

// ServeHTTP receives a delivery, responds according to the endpoint's mood, and records
// both.
func (r *receivers) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	e := r.endpoints[req.URL.Path]
	body, err := io.ReadAll(req.Body)
	if err != nil || e == nil {
		return // cut off: the sender was killed
	}
	a := read(e, req, body)
	mood, arrived := e.now()
	if arrived != nil {
		arrived(a)
	}
	a.Answered = r.respond(w, req, mood)
	r.ledger.add(a)
}

// read returns the arrival that a request describes.
func read(e *endpoint, r *http.Request, body []byte) arrival {
	if e.verify == nil {
		return readCallback(e, r, body)
	}
	a := arrived(e, r, body)
	a.Verified = e.verify.Verify(body, r.Header) == nil
	var event struct {
		Data struct {
			TriggerID, OrganizationID, HomeID string
			Sequence                          uint64
		}
	}
	if err := json.Unmarshal(body, &event); err == nil {
		a.Trigger, a.Org, a.Home, a.Sequence = event.Data.TriggerID, event.Data.OrganizationID, event.Data.HomeID, event.Data.Sequence
	}
	return a
}

// arrived returns what webhooks and callbacks have in common.
func arrived(e *endpoint, r *http.Request, body []byte) arrival {
	return arrival{At: time.Now(), Endpoint: e.name, ID: r.Header.Get("webhook-id"), Body: storage.Hash(body, 8)}
}

// latency is a receiver's mean response time.
const latency = 8 * time.Millisecond

// respond writes the response to a request. It returns the status of a complete response, or 0.
func (r *receivers) respond(w http.ResponseWriter, req *http.Request, m mood) int {
	if !r.hold(req, time.Duration(rand.Int64N(int64(2*latency)))) { //nolint:gosec // it decides nothing
		return 0
	}
	switch m {
	case moodError:
		w.WriteHeader(http.StatusInternalServerError)
		return http.StatusInternalServerError
	case moodRefuse:
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusTooManyRequests)
		return http.StatusTooManyRequests
	case moodHang:
		r.hold(req, time.Hour)
		return 0
	case moodReset:
		hijack(w, func(c *net.TCPConn) { _ = c.SetLinger(0) })
		return 0
	case moodTorn:
		hijack(w, func(c *net.TCPConn) {
			_, _ = fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n%s", strings.Repeat("x", 10))
		})
		return http.StatusOK // the status decides
	case moodSlow:
		if !r.hold(req, 500*time.Millisecond) {
			return 0
		}
	}
	w.WriteHeader(http.StatusOK)
	return http.StatusOK
}

// hold waits and reports whether the sender is still connected.
func (r *receivers) hold(req *http.Request, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-req.Context().Done():
	case <-r.closing:
	}
	return false
}

// hijack takes over the connection, calls do and closes the connection.
func hijack(w http.ResponseWriter, do func(*net.TCPConn)) {
	c, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	do(c.(*net.TCPConn))
	_ = c.Close()
}
