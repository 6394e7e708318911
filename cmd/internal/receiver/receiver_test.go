package receiver

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// delivery returns a request that verifies.
func delivery(ctx context.Context, t *testing.T, id string) *http.Request {
	t.Helper()
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/hooks", strings.NewReader(event))
	r.Header = signed(t, id, time.Now(), event, mine)
	r.Header.Set("Content-Type", "application/json")
	return r
}

// take sends a delivery to a receiver and returns the response.
func take(t *testing.T, r *Receiver, request *http.Request) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	r.ServeHTTP(w, request)
	return w
}

func newTestReceiver(t *testing.T, o Options) (*Receiver, *[]Event) {
	t.Helper()
	verifier, err := NewVerifier(mine)
	if err != nil {
		t.Fatal(err)
	}
	var events []Event
	o.Verifier, o.Each = verifier, func(e Event) error { events = append(events, e); return nil }
	return New(o), &events
}

func TestReceiver(t *testing.T) {
	r, events := newTestReceiver(t, Options{})
	forged := delivery(t.Context(), t, "msg_1")
	forged.Body = io.NopCloser(strings.NewReader(strings.ReplaceAll(event, "0.25", "0.01")))
	for i, request := range []*http.Request{delivery(t.Context(), t, "msg_1"), forged, delivery(t.Context(), t, "msg_1"), delivery(t.Context(), t, "msg_2")} {
		want := []int{204, 401, 204, 204}[i]
		if got := take(t, r, request); got.Code != want {
			t.Errorf("delivery %d gets %d, want %d", i, got.Code, want)
		}
	}
	if got, want := r.Counts(), (Counts{Messages: 2, Repeats: 1, Refused: 1}); got != want {
		t.Errorf("counts %+v, want %+v", got, want)
	}
	if e := (*events)[0]; !e.Verified || e.Type != "price_signal.updated" || e.Data.HomeID != "home-1" || e.Data.Sequence != 3 || e.Repeat {
		t.Errorf("the first is %+v", e)
	}
	if !(*events)[2].Repeat || (*events)[3].Repeat {
		t.Error("a repeat is a request with the id of an accepted message")
	}
}

// A failed delivery was not accepted, so its second request is not a repeat. A compressed
// delivery verifies as it was sent, and is shown decompressed. One that inflates to too
// much, or to nothing, is a problem.
func TestReceiver_Compressed(t *testing.T) {
	r, events := newTestReceiver(t, Options{})
	for _, text := range []string{event, strings.Repeat(" ", maxBody+1)} {
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		if _, err := io.WriteString(w, text); err != nil || w.Close() != nil {
			t.Fatal(err)
		}
		request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/hooks", bytes.NewReader(packed.Bytes()))
		request.Header = signed(t, "msg_1", time.Now(), packed.String(), mine)
		request.Header.Set("Content-Encoding", "gzip")
		if got := take(t, r, request); got.Code != http.StatusNoContent {
			t.Errorf("response %d", got.Code)
		}
	}
	if e := (*events)[0]; !e.Verified || string(e.Body) != event || e.Data.HomeID != "home-1" || e.Problem != "" {
		t.Errorf("got %+v", e)
	}
	if e := (*events)[1]; !strings.Contains(e.Problem, "does not inflate") {
		t.Errorf("an oversized body has the problem %q", e.Problem)
	}
}

// A batch is one delivery with several events.
func TestReceiver_Batch(t *testing.T) {
	r, events := newTestReceiver(t, Options{})
	const batch = `{"type":"price_signal.batch","data":[{"webhookId":"msg_1"},{"webhookId":"msg_2"}]}`
	request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/hooks", strings.NewReader(batch))
	request.Header = signed(t, "bat_1", time.Now(), batch, mine)
	if got := take(t, r, request); got.Code != http.StatusNoContent {
		t.Errorf("response %d", got.Code)
	}
	if e := (*events)[0]; !e.Verified || e.Type != "price_signal.batch" || e.Batch != 2 || e.Problem != "" {
		t.Errorf("got %+v", e)
	}
}

func TestReceiver_Failing(t *testing.T) {
	draws := []float64{0.19, 0.2, 0.1999}
	r, events := newTestReceiver(t, Options{Faults: Faults{Fail: 0.2, Status: 503, Random: func() float64 {
		next := draws[0]
		draws = draws[1:]
		return next
	}}})
	for i, want := range []int{503, 204, 503} {
		if got := take(t, r, delivery(t.Context(), t, "msg_1")); got.Code != want {
			t.Errorf("delivery %d gets %d, want %d", i, got.Code, want)
		}
	}
	if got, want := r.Counts(), (Counts{Messages: 1, Failed: 2}); got != want {
		t.Errorf("counts %+v, want %+v", got, want)
	}
	if e := *events; !e[0].Fault || e[1].Fault || e[1].Repeat || e[0].Status != 503 {
		t.Errorf("%+v", e)
	}
}

// A delivery that does not verify is refused at once, whatever the faults.
func TestReceiver_FaultsAfterVerification(t *testing.T) {
	r, _ := newTestReceiver(t, Options{Faults: Faults{Hang: 1, Slow: time.Hour}})
	request := delivery(t.Context(), t, "msg_1")
	request.Header.Set("webhook-id", "msg_2")
	if got := take(t, r, request); got.Code != 401 {
		t.Errorf("response %d", got.Code)
	}
}

func TestReceiver_Hanging(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := newTestReceiver(t, Options{Faults: Faults{Hang: 1}})
		ctx, giveUp := context.WithTimeout(t.Context(), time.Hour)
		defer giveUp()
		started := time.Now()
		got := take(t, r, delivery(ctx, t, "msg_1"))
		if waited := time.Since(started); waited != time.Hour || got.Body.Len() > 0 || r.Counts().Failed != 1 {
			t.Errorf("it hung %s, then responded %q; counts %+v", waited, got.Body, r.Counts())
		}
	})
}

func TestReceiver_Slow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := newTestReceiver(t, Options{Faults: Faults{Slow: 2 * time.Second}})
		started := time.Now()
		got := take(t, r, delivery(t.Context(), t, "msg_1"))
		if took := time.Since(started); took != 2*time.Second || got.Code != 204 {
			t.Errorf("response %d after %s", got.Code, took)
		}
		ctx, giveUp := context.WithTimeout(t.Context(), time.Second)
		defer giveUp()
		take(t, r, delivery(ctx, t, "msg_2"))
		if got, want := r.Counts(), (Counts{Messages: 1, Failed: 1}); got != want {
			t.Errorf("counts %+v, want %+v", got, want)
		}
	})
}

func TestReceiver_Forwarding(t *testing.T) {
	own := make(chan *http.Request, 1)
	status := http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		own <- r
		w.Header().Set("Retry-After", "7")
		http.Redirect(w, r, "/elsewhere", status)
	}))
	defer server.Close()
	to, err := url.Parse(server.URL + "/own")
	if err != nil {
		t.Fatal(err)
	}
	r, events := newTestReceiver(t, Options{Forward: to})
	for _, status = range []int{200, 503, 302} {
		got := take(t, r, delivery(t.Context(), t, "msg_1"))
		if got.Code != status || got.Header().Get("Retry-After") != "7" {
			t.Errorf("response %d %v, want the target's: %d", got.Code, got.Header(), status)
		}
		passed := <-own
		body, _ := io.ReadAll(passed.Body)
		if _, err := r.options.Verifier.Verify(passed.Header, body); err != nil || passed.URL.Path != "/own" {
			t.Errorf("the request forwarded to %s does not verify: %v", passed.URL, err)
		}
	}
	server.Close()
	if got := take(t, r, delivery(t.Context(), t, "msg_2")); got.Code != 502 {
		t.Errorf("without a target the response is %d", got.Code)
	}
	if got, want := r.Counts(), (Counts{Messages: 1, Failed: 3}); got != want {
		t.Errorf("counts %+v, want %+v", got, want)
	}
	if last := (*events)[3]; !last.Forwarded || !strings.Contains(last.Problem, "the receiver did not respond: ") {
		t.Errorf("%+v", last)
	}
}

// A delivery that Each cannot record is not accepted, so its second request is no repeat.
func TestReceiver_Unrecorded(t *testing.T) {
	target := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer target.Close()
	to, err := url.Parse(target.URL)
	if err != nil {
		t.Fatal(err)
	}
	for _, to := range []*url.URL{nil, to} {
		r, events := newTestReceiver(t, Options{Forward: to})
		record, full := r.options.Each, true
		r.options.Each = func(e Event) error {
			if full {
				return io.ErrShortWrite
			}
			return record(e)
		}
		failed := take(t, r, delivery(t.Context(), t, "msg_1")).Code
		full = false
		if accepted := take(t, r, delivery(t.Context(), t, "msg_1")).Code; failed != http.StatusServiceUnavailable || accepted > 299 || (*events)[0].Repeat {
			t.Errorf("forwarded to %v: responses %d and %d, %+v", to, failed, accepted, (*events)[0])
		}
		if got, want := r.Counts(), (Counts{Messages: 1, Failed: 1, Unrecorded: 1}); got != want {
			t.Errorf("counts %+v, want %+v", got, want)
		}
	}
}

func TestReceiver_Share(t *testing.T) {
	for text, want := range map[string]Share{"0": 0, "0.2": 0.2, "1": 1, "20%": 0.2, " 1 % ": 0.01, "100%": 1, "0.5%": 0.005} {
		var s Share
		if err := s.Set(text); err != nil || s != want {
			t.Errorf("%q is %v, %v", text, s, err)
		}
	}
	for _, text := range []string{"", "%", "-0.1", "1.1", "101%", "NaN", "NaN%", "half", "1e400"} {
		if s := Share(0.5); s.Set(text) == nil || s != 0.5 {
			t.Errorf("%q is accepted as %v", text, s)
		}
	}
}

func TestFaults_Check(t *testing.T) {
	for _, f := range []Faults{{Hang: 0.6, Fail: 0.5}, {Status: 204}, {Status: 600}, {Slow: -1}} {
		if f.Check() == nil {
			t.Errorf("%+v is accepted", f)
		}
	}
	if err := (Faults{Hang: 0.5, Fail: 0.5, Status: 410, Slow: time.Second}).Check(); err != nil {
		t.Error(err)
	}
}
