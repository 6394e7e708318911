package dispatcher

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"pgregory.net/rapid"

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

// deflate is a piece as package signals makes it.
func deflate(t rapid.TB, piece []byte) []byte {
	var out bytes.Buffer
	w, err := flate.NewWriter(&out, flate.BestSpeed)
	if err == nil {
		_, err = w.Write(piece)
	}
	if err == nil {
		err = w.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// Whatever a text is made of, and wherever its pieces are, what is put together is
// a gzip member of it and of nothing more.
func TestPackedTextsInflate(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		pieces := rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), 0, 2000), 0, 4).Draw(rt, "pieces")
		between := rapid.SliceOfN(rapid.Byte(), 0, 50)
		text := between.Draw(rt, "beginning")
		if rapid.IntRange(0, 9).Draw(rt, "long") == 0 {
			text = append(text, make([]byte, rapid.SampledFrom([]int{65535, 65536, 200_000}).Draw(rt, "length"))...)
		}
		for _, p := range pieces {
			text = append(append(text, p...), between.Draw(rt, "after a piece")...)
		}
		pack := newPacker([]byte("before"), text)
		for _, p := range pieces {
			if rapid.Bool().Draw(rt, "another piece first") {
				other := between.Draw(rt, "another")
				pack.shared(other, deflate(rt, other))
			}
			pack.shared(p, deflate(rt, p))
		}
		packed, ok := bytes.CutPrefix(pack.finish(), []byte("before"))
		if !ok {
			rt.Fatal("what was there is gone")
		}
		in := bytes.NewReader(packed)
		r, err := gzip.NewReader(in)
		if err != nil {
			rt.Fatal(err)
		}
		r.Multistream(false)
		if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, text) || in.Len() != 0 {
			rt.Fatalf("%d bytes came of %d, %d are left: %v", len(got), len(text), in.Len(), err)
		}
	})
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
		tester := NewTester(w.store, w.vault, Guard{AllowPrivate: true}, nil)
		defer tester.sender.close()
		if d, err := tester.SendTest(t.Context(), e); err != nil || d.Outcome != events.OutcomeDelivered {
			t.Errorf("the test ended as %+v, %v", d, err)
		}
	})
}

// A rotation under compression has both signatures of each secret.
func TestSignaturesOfACompressedBody(t *testing.T) {
	signers := []*signer{newTestSigner(t, testSecret, time.Time{}), newTestSigner(t, secretOf(strings.Repeat("o", 24)), time.Time{})}
	_, value := signature(signers, "msg_1", noon, payload{text: []byte("text"), packed: []byte("packed")})
	if n := len(strings.Fields(value)); n != 4 {
		t.Errorf("%d signatures, want 4: %s", n, value)
	}
}
