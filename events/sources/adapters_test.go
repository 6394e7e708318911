package sources

import (
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/pricing/feed"
	"github.com/gridhook/gridhook/pricing/feed/feedtest"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/storagetest"
)

// TestRun_AllAdapters has a fault in the last response of each adapter's run, after the
// operator has corrected all prices. Nothing is stored until a run without a fault.
func TestRun_AllAdapters(t *testing.T) {
	t.Parallel()
	tested := map[string]bool{}
	for name, stand := range standIns(new(feedtest.Market)) {
		tested[stand.Adapter] = true
		t.Run(name, func(t *testing.T) {
			w, m := newWorld(t), new(feedtest.Market)
			stand = standIns(m)[name]
			storagetest.Put(t, w.Store, storagetest.RatePlan(storage.Shared, "plan", 0.1))
			s := w.add(func(s *storage.Source) {
				s.Adapter, s.Parameters, s.Secret, s.Timezone = stand.Adapter, stand.At(w.server.URL), stand.Secret, stand.Zone
				if stand.Step == 0 {
					s.PlanID = "plan"
				}
			})
			w.answer = stand.Serve
			if stand.Now != nil {
				*stand.Now = w.now.Truncate(stand.Step)
			}
			w.run(s)
			requests := w.good(s, storage.SourceUnchanged).Requests
			w.equal(m, stand, time.Time{})

			m.Shift = 0.01
			w.log.Intercept(func(write storage.Write) error {
				if write.Ref.Kind != storage.KindSourceState {
					t.Errorf("a failed run stores %s", write.Ref)
				}
				return nil
			})
			for fault, says := range map[string]string{"rate limit": "429 Too Many Requests", "died": "the response is incomplete", "html": ""} {
				asked := len(w.asked)
				w.answer = func(rw http.ResponseWriter, r *http.Request) {
					if len(w.asked) < asked+requests {
						stand.Serve(rw, r)
					} else {
						fail(fault, stand, rw, r)
					}
				}
				state := w.run(s)
				if run := state.Runs[0]; run.Outcome != storage.SourceFailed || run.Requests != requests || !strings.Contains(run.Error, says) {
					t.Errorf("%s in request %d: %+v", fault, requests, run)
				}
				if wait := state.NextRunAt.Sub(w.now); fault == "rate limit" && wait < 10*time.Minute {
					t.Errorf("after the rate limit the next run is in %v", wait)
				}
			}
			w.log.Intercept(nil)
			w.answer = stand.Serve
			w.good(s, storage.SourceStored)
			from, _ := span(w.now, w.now, s.Location())
			w.equal(m, stand, from)
		})
	}
	for _, a := range feed.Adapters() {
		if !tested[a.Name] {
			t.Errorf("the adapter %s has no stand-in", a.Name)
		}
	}
}

// standIns returns a source for each adapter.
func standIns(m *feedtest.Market) map[string]feedtest.Source {
	all := m.Sources()
	maps.Copy(all, m.Others())
	return all
}

// fail is a fault instead of a stand-in's response.
func fail(fault string, stand feedtest.Source, w http.ResponseWriter, r *http.Request) {
	switch fault {
	case "rate limit":
		status(http.StatusTooManyRequests, "Retry-After", "600")(w, r)
	case "html":
		text("<!DOCTYPE html><p>Maintenance</p>")(w, r)
	default:
		whole := httptest.NewRecorder()
		stand.Serve(whole, r)
		cut(w, whole)
	}
}

// cut sends half of a response and closes the connection.
func cut(w http.ResponseWriter, whole *httptest.ResponseRecorder) {
	body := whole.Body.Bytes()
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body[:len(body)/2])
	w.(http.Flusher).Flush()
	panic(http.ErrAbortHandler)
}

// good makes a run without a fault.
func (w *world) good(s storage.Source, want storage.SourceOutcome) storage.SourceRun {
	w.t.Helper()
	run := w.run(s).Runs[0]
	if run.Outcome != want {
		w.t.Fatalf("the run is %+v, want %s", run, want)
	}
	return run
}

// equal compares the stored prices from a time on with those of a market.
func (w *world) equal(m *feedtest.Market, stand feedtest.Source, from time.Time) {
	w.t.Helper()
	if stand.Step == 0 {
		return // a tariff, or alerts
	}
	n := 0
	for _, p := range w.points() {
		if p.Start.Before(from) {
			continue
		}
		if n++; math.Abs(p.Price-m.Price(p.Start)) > 1e-9 {
			w.t.Fatalf("the price at %v is %v, want %v", p.Start, p.Price, m.Price(p.Start))
		}
	}
	least := 24
	if stand.Now != nil {
		least = 1
	}
	if n < least {
		w.t.Fatalf("%d prices are stored, want at least %d", n, least)
	}
}
