package sources

import (
	"math"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/pricing/feed/feedtest"
	"github.com/gridhook/gridhook/storage"
)

// TestRun_AllAdapters has a fault in the last response of each adapter's run, after the
// operator has corrected all prices. The good prices stay until a run without a fault.
func TestRun_AllAdapters(t *testing.T) {
	for name, m := range markets() {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			stand := m.Sources()[name]
			w.answer = stand.Serve
			s := w.add(func(s *storage.Source) {
				s.Adapter, s.Parameters, s.Secret, s.Timezone = stand.Adapter, stand.At(w.server.URL), stand.Secret, stand.Zone
			})
			w.run(s)
			w.good(s, m, time.Time{}, storage.SourceUnchanged)
			requests := w.state(s).Runs[0].Requests
			m.Shift = 0.01
			for fault, tt := range map[string]struct {
				answer func(http.ResponseWriter, *httptest.ResponseRecorder)
				says   string
			}{
				"rate limit": {func(rw http.ResponseWriter, _ *httptest.ResponseRecorder) {
					status(http.StatusTooManyRequests, "Retry-After", "600")(rw, nil)
				}, "429 Too Many Requests"},
				"died": {cut, "the response is incomplete"},
				"html": {func(rw http.ResponseWriter, _ *httptest.ResponseRecorder) {
					text("<!DOCTYPE html><p>Maintenance</p>")(rw, nil)
				}, ""},
			} {
				asked := len(w.asked)
				w.answer = func(rw http.ResponseWriter, r *http.Request) {
					if len(w.asked) < asked+requests {
						stand.Serve(rw, r)
						return
					}
					good := httptest.NewRecorder()
					stand.Serve(good, r)
					tt.answer(rw, good)
				}
				state := w.run(s)
				if run := state.Runs[0]; run.Outcome != storage.SourceFailed || run.Requests != requests || !strings.Contains(run.Error, tt.says) {
					t.Errorf("%s in request %d: %+v", fault, requests, run)
				}
				if wait := state.NextRunAt.Sub(w.now); fault == "rate limit" && wait < 10*time.Minute {
					t.Errorf("after the rate limit the next run is in %v", wait)
				}
				w.equal(&feedtest.Market{}, time.Time{})
			}
			w.answer = stand.Serve
			from, _ := span(w.now, w.now, s.Location())
			w.good(s, m, from, storage.SourceStored)
		})
	}
}

// markets returns a market for each source of the stand-ins.
func markets() map[string]*feedtest.Market {
	all := map[string]*feedtest.Market{}
	for name := range new(feedtest.Market).Sources() {
		all[name] = new(feedtest.Market)
	}
	return all
}

// cut sends half of a response and closes the connection.
func cut(w http.ResponseWriter, whole *httptest.ResponseRecorder) {
	body := whole.Body.Bytes()
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body[:len(body)/2])
	w.(http.Flusher).Flush()
	panic(http.ErrAbortHandler)
}

// good makes a run without a fault. Then the prices from a time on are those of a market.
func (w *world) good(s storage.Source, m *feedtest.Market, from time.Time, want storage.SourceOutcome) {
	w.t.Helper()
	if run := w.run(s).Runs[0]; run.Outcome != want {
		w.t.Fatalf("the run is %+v, want %s", run, want)
	}
	w.equal(m, from)
}

// equal compares the stored prices from a time on with those of a market.
func (w *world) equal(m *feedtest.Market, from time.Time) {
	w.t.Helper()
	n := 0
	for _, p := range w.points() {
		if p.Start.Before(from) {
			continue
		}
		if n++; math.Abs(p.Price-m.Price(p.Start)) > 1e-9 {
			w.t.Fatalf("the price at %v is %v, want %v", p.Start, p.Price, m.Price(p.Start))
		}
	}
	const least = 24
	if n < least {
		w.t.Fatalf("%d prices are stored, want at least %d", n, least)
	}
}
