// Command go-receiver receives a partner's webhooks. It verifies each, processes each
// message once, and stores the newest signal of every home.
//
//	GRIDHOOK_WEBHOOK_SECRET=whsec_... ADDRESS=127.0.0.1:9090 go run ./docs/examples/go-receiver
package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

const maxBody = 8 << 20 // bytes: a month of quarter hours fits

// message has the fields of a webhook that this program reads.
type message struct {
	WebhookID string          `json:"webhookId"` // only in a batch; otherwise it is a header
	Type      string          `json:"type"`
	Data      json.RawMessage `json:"data"`
}

// signal has the fields of a price signal that this program reads.
type signal struct {
	HomeID   string          `json:"homeId"`
	Sequence uint64          `json:"sequence"`
	Data     json.RawMessage `json:"data"`
}

// receiver stores messages in memory. A real receiver has both maps in its database, and
// writes them in one transaction.
type receiver struct {
	webhook *standardwebhooks.Webhook

	mu      sync.Mutex
	seen    map[string]bool   // by webhook-id
	signals map[string]signal // by home
}

func (r *receiver) take(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, maxBody))
	if err != nil {
		http.Error(w, "too large", http.StatusRequestEntityTooLarge)
		return
	}
	// Verify the received bytes: JSON that was decoded and encoded again differs.
	if err := r.webhook.Verify(body, req.Header); err != nil {
		http.Error(w, err.Error(), http.StatusUnauthorized)
		return
	}
	messages, err := read(body, req.Header.Get("webhook-id"))
	for _, m := range messages {
		if err == nil {
			err = r.apply(m)
		}
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.WriteHeader(http.StatusNoContent) // only now: Gridhook retries after any other response
}

// read reads the message of a verified body, or the messages of a batch. An endpoint with
// compression gets gzip bodies.
func read(body []byte, id string) ([]message, error) {
	if bytes.HasPrefix(body, []byte{0x1f, 0x8b}) {
		inflated, err := gzip.NewReader(bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		if body, err = io.ReadAll(io.LimitReader(inflated, maxBody)); err != nil {
			return nil, err
		}
	}
	var m message
	if err := json.Unmarshal(body, &m); err != nil {
		return nil, err
	}
	if m.Type == "price_signal.batch" { // for an endpoint with a batchSize
		var messages []message
		err := json.Unmarshal(m.Data, &messages)
		return messages, err
	}
	m.WebhookID = id
	return []message{m}, nil
}

func (r *receiver) apply(m message) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seen[m.WebhookID] {
		return nil // a retry, because the response was lost
	}
	if m.Type == "price_signal.updated" { // accept and ignore other types, including future ones
		var s signal
		if err := json.Unmarshal(m.Data, &s); err != nil {
			return err
		}
		if s.Sequence > r.signals[s.HomeID].Sequence { // an older one may arrive later
			r.signals[s.HomeID] = s
			log.Printf("%s has signal %d", s.HomeID, s.Sequence)
		}
	}
	r.seen[m.WebhookID] = true
	return nil
}

func (r *receiver) show(w http.ResponseWriter, _ *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(r.signals)
}

func main() {
	secret := os.Getenv("GRIDHOOK_WEBHOOK_SECRET")
	if strings.TrimPrefix(secret, "whsec_") == "" { // everyone could sign with an empty secret
		log.Fatal("set GRIDHOOK_WEBHOOK_SECRET to the secret of the endpoint")
	}
	webhook, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		log.Fatal("GRIDHOOK_WEBHOOK_SECRET: ", err)
	}
	r := &receiver{webhook: webhook, seen: map[string]bool{}, signals: map[string]signal{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /hooks", r.take)
	mux.HandleFunc("GET /signals", r.show)

	address := os.Getenv("ADDRESS")
	if address == "" {
		address = "127.0.0.1:9090"
	}
	listener, err := net.Listen("tcp", address) //nolint:noctx // it listens to its end
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("listening on http://%s/hooks\n", listener.Addr())
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 30 * time.Second}
	log.Fatal(server.Serve(listener))
}
