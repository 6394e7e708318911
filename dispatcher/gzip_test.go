package dispatcher

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/gridhook/gridhook/dispatcher/send"
	"github.com/gridhook/gridhook/dispatcher/tester"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

func gzipped(e *storage.WebhookEndpoint) { e.Compression = storage.CompressionGzip }

// inflate is a gzipped body's text.
func inflate(t testing.TB, packed []byte) []byte {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Errorf("a body is not gzip: %v", err)
		return nil
	}
	r.Multistream(false)
	text, err := io.ReadAll(r)
	if err != nil {
		t.Errorf("a body does not inflate: %v", err)
	}
	return text
}

// An endpoint that asks for it is sent its signals compressed, in either format, and
// when they are tried again; the partner verifies both what it was sent and what is
// in it.
func TestCompressedDeliveries(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		const homes = events.SliceHomes + 5
		w.homes(homes)
		w.endpoint("plain")
		w.endpoint("ep", gzipped)
		w.endpoint("adr", gzipped, func(e *storage.WebhookEndpoint) { e.Format = storage.FormatOpenADR3 })
		fail := failing(500, 2, homeID(3))
		small := make(chan bool, 4*homes)
		w.partner.answers(func(r *http.Request, a arrival) int {
			if (r.Header.Get("Content-Encoding") == "gzip") != (a.host != "plain") {
				t.Errorf("%s was sent %q", a.host, r.Header)
			}
			small <- a.host == "plain" || r.ContentLength < 4000
			return fail(r, a)
		})
		w.worker()
		tr := w.trigger(24)
		w.wants(tr, outcomes{events.OutcomeDelivered: 3 * homes})
		w.checkDelivered(nil, 1)
		close(small)
		for is := range small {
			if !is {
				t.Fatal("a day's signal was sent in 4 KB or more")
			}
		}
		bodies := map[string][32]byte{}
		for _, a := range w.partner.got() {
			bodies[a.host+a.home] = a.body
		}
		for i := range homes { // but for the endpoint nothing in them differs
			if bodies["plain"+homeID(i)] != bodies["ep"+homeID(i)] || bodies["ep"+homeID(i)] == bodies["adr"+homeID(i)] {
				t.Fatalf("%s was sent other texts", homeID(i))
			}
		}
	})
}

// Over a real connection, the stock library takes the raw bytes, as most frameworks
// hand them on, and the inflated ones, as others do. The test webhook is compressed
// like any other.
func TestACompressedTestOverTCP(t *testing.T) {
	hook, err := standardwebhooks.NewWebhook(testSecret)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent, _ := io.ReadAll(r.Body)
		text := inflate(t, sent)
		if err := hook.Verify(sent, r.Header); err != nil {
			t.Errorf("what was sent does not verify: %v", err)
		}
		if err := hook.Verify(text, r.Header); err != nil {
			t.Errorf("what is in it does not verify: %v", err)
		}
		if hook.Verify(bytes.Replace(text, []byte("webhook.test"), []byte("webhook.fest"), 1), r.Header) == nil {
			t.Error("another text verifies")
		}
		if !slices.Equal(r.Header["Content-Encoding"], []string{"gzip"}) || r.ContentLength != int64(len(sent)) || !strings.Contains(string(text), `"type":"webhook.test"`) {
			t.Errorf("it was sent %v with %s", r.Header, text)
		}
	}))
	defer server.Close()
	inStore(t, func(w *world) {
		w.endpoint("ep", gzipped, func(e *storage.WebhookEndpoint) { e.URL = server.URL })
		e, err := storage.Get[storage.WebhookEndpoint](w.store, storage.WebhookEndpointRef("org", "ep"))
		if err != nil {
			t.Fatal(err)
		}
		tester := tester.New(w.store, w.vault, send.New(send.Options{Guard: send.Guard{AllowPrivate: true}, IdlePerDestination: 1}))
		defer tester.Close()
		if d, err := tester.SendTest(t.Context(), e); err != nil || d.Outcome != events.OutcomeDelivered {
			t.Errorf("the test ended as %+v, %v", d, err)
		}
	})
}
