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

	"github.com/gridhook/gridhook/dispatcher/channel"
	"github.com/gridhook/gridhook/dispatcher/send"
	"github.com/gridhook/gridhook/dispatcher/tester"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

func gzipped(e *storage.WebhookEndpoint) { e.Compression = storage.CompressionGzip }

// inflate returns the text of a gzipped body.
func inflate(t testing.TB, packed []byte) []byte {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Errorf("body is not gzip: %v", err)
		return nil
	}
	r.Multistream(false)
	text, err := io.ReadAll(r)
	if err != nil {
		t.Errorf("body does not inflate: %v", err)
	}
	return text
}

// An endpoint with compression gets its signals compressed, in either format, retries
// included. The partner verifies the compressed and the inflated body.
func TestCompression_Deliveries(t *testing.T) {
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
				t.Errorf("%s got Content-Encoding %q", a.host, r.Header)
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
				t.Fatal("compressed signal of a day has 4 KB or more")
			}
		}
		bodies := map[string]uint64{}
		for _, a := range w.partner.got() {
			bodies[a.host+a.home] = a.body
		}
		for i := range homes { // only the endpoint differs
			if bodies["plain"+homeID(i)] != bodies["ep"+homeID(i)] || bodies["ep"+homeID(i)] == bodies["adr"+homeID(i)] {
				t.Fatalf("%s got different texts", homeID(i))
			}
		}
	})
}

// The standard webhooks library verifies the raw bytes over a real connection, and the
// inflated bytes. Frameworks pass on one or the other. A test event is compressed like
// any other event.
func TestCompression_TestEventOverTCP(t *testing.T) {
	hook, err := standardwebhooks.NewWebhook(testSecret)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent, _ := io.ReadAll(r.Body)
		text := inflate(t, sent)
		if err := hook.Verify(sent, r.Header); err != nil {
			t.Errorf("compressed body does not verify: %v", err)
		}
		if err := hook.Verify(text, r.Header); err != nil {
			t.Errorf("inflated body does not verify: %v", err)
		}
		if hook.Verify(bytes.Replace(text, []byte("webhook.test"), []byte("webhook.fest"), 1), r.Header) == nil {
			t.Error("a different text verifies")
		}
		if !slices.Equal(r.Header["Content-Encoding"], []string{"gzip"}) || r.ContentLength != int64(len(sent)) || !strings.Contains(string(text), `"type":"webhook.test"`) {
			t.Errorf("receiver got %v with %s", r.Header, text)
		}
	}))
	defer server.Close()
	inStore(t, func(w *world) {
		w.endpoint("ep", gzipped, func(e *storage.WebhookEndpoint) { e.URL = server.URL })
		e, err := storage.Get[storage.WebhookEndpoint](w.store, storage.KindWebhookEndpoint.Ref("org", "ep"))
		if err != nil {
			t.Fatal(err)
		}
		tester := tester.New(w.store, w.vault, send.New(send.Options{Guard: send.Guard{AllowPrivate: true}, IdlePerDestination: 1}), channel.Mail{})
		defer tester.Close()
		if d, err := tester.SendTest(t.Context(), e); err != nil || d.Outcome != events.OutcomeDelivered {
			t.Errorf("test event ended as %+v, %v", d, err)
		}
	})
}
