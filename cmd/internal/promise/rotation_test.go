package promise

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// signed is a delivery with the parts that its verification needs.
type signed struct {
	at     time.Time
	header http.Header
	body   []byte
}

// keeper is a partner that stores every delivery for a later verification. It refuses one
// in three at the first time, so that there are retries too.
type keeper struct {
	mu    sync.Mutex
	got   []signed
	taken atomic.Int64
	seen  map[string]bool
}

// ServeHTTP receives a delivery.
func (k *keeper) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	id := r.Header.Get("webhook-id")
	k.mu.Lock()
	defer k.mu.Unlock()
	k.got = append(k.got, signed{time.Now(), r.Header.Clone(), body})
	if !k.seen[id] && len(k.seen)%3 == 0 {
		w.WriteHeader(http.StatusServiceUnavailable)
	} else {
		k.taken.Add(1)
	}
	k.seen[id] = true
}

// A secret is rotated twice while two workers deliver and retry. Every delivery verifies
// with a secret that the partner got before, and that is at most one rotation old. So a
// partner that knows both secrets can refuse everything else.
func TestRotation_UnderLoad(t *testing.T) {
	t.Parallel()
	const homes, triggers = 600, 3
	server := nats(t)
	api := start(t, "api", t.TempDir(), "--nats", server)
	for range 2 {
		start(t, "worker", t.TempDir(), "--nats", server)
	}
	acme := furnish(t, api, homes)
	k := &keeper{seen: map[string]bool{}}
	receiver := httptest.NewServer(k)
	t.Cleanup(receiver.Close)
	made := decode[struct{ ID, Secret string }](t, string(acme.call("/v1/webhook/endpoints/create", map[string]any{
		"url": receiver.URL, "eventTypes": []string{"price_signal.updated"},
		"retryPolicy": map[string]any{"initialSeconds": 1, "multiplier": 1, "maxSeconds": 2},
	})))
	secrets, rotated := []string{made.Secret}, []time.Time{{}}
	for i := range triggers {
		trigger := acme.trigger(hour())
		if i < triggers-1 {
			want := k.taken.Load() + homes/4
			api.await("a quarter of the walk", func() bool { return k.taken.Load() >= want })
			rotated = append(rotated, time.Now())
			secrets = append(secrets, decode[struct{ Secret string }](t, string(acme.call("/v1/webhook/endpoints/"+made.ID+"/rotate_secret", map[string]any{}))).Secret)
		}
		acme.delivered(trigger, homes)
	}
	verifiers := make([]*standardwebhooks.Webhook, len(secrets))
	for i, secret := range secrets {
		var err error
		if verifiers[i], err = standardwebhooks.NewWebhook(secret); err != nil {
			t.Fatal(err)
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	by := make([]int, len(secrets))
	for _, d := range k.got {
		current := 0
		for i := range rotated {
			if !d.at.Before(rotated[i]) {
				current = i
			}
		}
		fits := false
		for i := max(0, current-1); i <= current; i++ {
			if verifiers[i].VerifyIgnoringTimestamp(d.body, d.header) == nil {
				fits = true
				by[i]++
			}
		}
		if !fits {
			t.Errorf("at %s, after rotation %d, neither the old nor the new secret verifies %s", d.at, current, d.header.Get("webhook-signature"))
		}
	}
	t.Logf("%d deliveries; the secrets verify %v", len(k.got), by)
	for i, n := range by {
		if n == 0 {
			t.Errorf("secret %d verifies nothing", i)
		}
	}
}
