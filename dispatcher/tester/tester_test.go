package tester_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/gridhook/gridhook/dispatcher/channel"
	"github.com/gridhook/gridhook/dispatcher/send"
	"github.com/gridhook/gridhook/dispatcher/tester"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/signals"
	"github.com/gridhook/gridhook/storage/storagetest"
	"github.com/gridhook/gridhook/storage/vault"
)

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// bench is a tester with an endpoint, a vault and the clock of both.
type bench struct {
	tester   *tester.Tester
	vault    *vault.Vault
	endpoint storage.WebhookEndpoint
	now      time.Time
}

// newBench returns a tester with a compressed endpoint at a URL.
func newBench(t *testing.T, url string) *bench {
	t.Helper()
	b := &bench{now: time.Now().UTC().Truncate(time.Second)} // verifiers compare the time with their own
	s, _, _ := storagetest.NewStore(func() time.Time { return b.now })
	var err error
	if b.vault, err = vault.Open(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	b.endpoint = storage.NewWebhookEndpoint("org")
	b.endpoint.ID, b.endpoint.URL, b.endpoint.Compression = "ep", url, storage.CompressionGzip
	b.endpoint.Secrets = []storage.SealedSecret{{Sealed: b.vault.Seal("org", "ep", secret)}}
	storagetest.Put(t, s, &b.endpoint)
	b.tester = tester.New(s, b.vault, send.New(send.Options{Guard: send.Guard{AllowPrivate: true}, IdlePerDestination: 1}), channel.Mail{})
	t.Cleanup(b.tester.Close)
	return b
}

// receiver returns the URL of a receiver.
func receiver(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return server.URL
}

// The message of a delivery is plain text, also for a compressed endpoint. Its headers
// verify, and its identifier is the identifier of the delivery.
func TestTester_Message(t *testing.T) {
	b := newBench(t, "https://partner.example/hook")
	trigger := &events.Trigger{ID: "trg_1", OrganizationID: "org"}
	signal := signals.Signal{HomeID: "home", Curve: signals.NewCurve(pricing.Curve{}, "plan")}
	body, headers, err := b.tester.Message(b.endpoint, trigger, signal, b.endpoint.Format)
	if err != nil || !json.Valid(body) || !strings.Contains(string(body), `"home"`) {
		t.Fatalf("the message is %q, %v", body, err)
	}
	h := http.Header{}
	for name, value := range headers {
		h.Set(name, value)
	}
	if got, want := h.Get("webhook-id"), events.MessageID("trg_1", "home", "ep"); got != want {
		t.Errorf("the message is %q, want %q", got, want)
	}
	hook, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	if err := hook.Verify(body, h); err != nil {
		t.Errorf("the message does not verify: %v", err)
	}
	b.endpoint.ID = "none"
	if _, _, err := b.tester.Message(b.endpoint, trigger, signal, b.endpoint.Format); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("a missing endpoint has a message: %v", err)
	}
}

// The result of a test event has its time. A test whose caller leaves has no result.
func TestTester_SendTest(t *testing.T) {
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	leaves := false
	b := newBench(t, receiver(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // the server sees the end of a connection only after the body
		if leaves {
			leave()
			<-r.Context().Done()
		}
	}))
	if d, err := b.tester.SendTest(ctx, b.endpoint); err != nil || d.Outcome != events.OutcomeDelivered || !d.At.Equal(b.now) {
		t.Errorf("the result is %+v, %v", d, err)
	}
	leaves = true
	if d, err := b.tester.SendTest(ctx, b.endpoint); !errors.Is(err, context.Canceled) {
		t.Errorf("the result of a canceled test is %+v, %v", d, err)
	}
	b.endpoint.ID = "none"
	if _, err := b.tester.SendTest(t.Context(), b.endpoint); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("the test of a missing endpoint: %v", err)
	}
}

// A URL belongs to a client if it echoes the challenge.
func TestTester_Verify(t *testing.T) {
	b := newBench(t, "https://partner.example/hook")
	echo := receiver(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.FormValue("echo")) })
	if err := b.tester.Verify(t.Context(), echo); err != nil {
		t.Errorf("a URL that echoes is refused: %v", err)
	}
	if b.tester.Verify(t.Context(), receiver(t, func(http.ResponseWriter, *http.Request) {})) == nil {
		t.Error("a URL that does not echo is verified")
	}
}

func TestTester_TestChannel(t *testing.T) {
	b := newBench(t, "https://partner.example/hook")
	var got string
	c := storage.Channel{ID: "ch", ChannelSettings: storage.ChannelSettings{Kind: storage.ChannelSlack, Address: receiver(t, func(_ http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		got = string(text)
	})}, Base: storage.Base{OrganizationID: "org"}}
	if err := b.vault.SealChannel(&c, &storage.Channel{}); err != nil {
		t.Fatal(err)
	}
	if result := b.tester.TestChannel(t.Context(), c); !result.Delivered || !strings.Contains(got, "ch") {
		t.Errorf("the test ended as %+v with %q", result, got)
	}
}
