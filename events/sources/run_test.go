package sources

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/pricing/market"
	"github.com/gridhook/gridhook/storage"
)

// bomb responds with a compressed body that is larger than a fetch may be.
func bomb(w http.ResponseWriter, _ *http.Request) {
	var member bytes.Buffer
	z := gzip.NewWriter(&member)
	_, _ = z.Write(make([]byte, 1<<20))
	_ = z.Close()
	w.Header().Set("Content-Encoding", "gzip")
	for range maxBytes>>20 + 1 {
		_, _ = w.Write(member.Bytes())
	}
}

// TestRun_BadAnswers has good prices and then a bad answer. The good prices stay, the run
// is recorded as failed, and the next answer is stored again.
func TestRun_BadAnswers(t *testing.T) {
	for name, tt := range map[string]struct {
		answer http.HandlerFunc
		says   string
		// within is the time to the next run.
		within time.Duration
	}{
		"error":       {status(http.StatusInternalServerError), "500 Internal Server Error", firstRetry},
		"rate limit":  {status(http.StatusTooManyRequests, "Retry-After", "600"), "429 Too Many Requests", 10 * time.Minute},
		"for ever":    {status(http.StatusTooManyRequests, "Retry-After", "99999999999999999999"), "429 Too Many Requests", maxRetryAfter},
		"not found":   {status(http.StatusNotFound), "404 Not Found", firstRetry},
		"redirect":    {status(http.StatusFound, "Location", "http://169.254.169.254/latest"), "redirects are not followed", firstRetry},
		"html":        {text("<!DOCTYPE html><title>Maintenance</title>"), "is no CSV", firstRetry},
		"empty":       {text(""), "", firstRetry},
		"no rows":     {text(hours()), "", firstRetry},
		"absurd":      {text(hours(31, 60_000)), "60 $/kWh", firstRetry},
		"not changed": {status(http.StatusNotModified), "304 Not Modified", firstRetry},
		"died": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			_, _ = w.Write([]byte(hours(31)))
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}, "the response is incomplete", firstRetry},
		"huge": {bomb, "larger than 64 MiB", firstRetry},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			s := w.add(nil)
			w.answer = text(hours(20, 21))
			w.run(s)
			w.answer = tt.answer
			state := w.run(s)
			if got := state.Runs[0]; got.Outcome != storage.SourceFailed || got.Error == "" || !strings.Contains(got.Error, tt.says) || state.Failures != 1 {
				t.Errorf("the state is %+v", state)
			}
			if wait := state.NextRunAt.Sub(w.now); wait != tt.within {
				t.Errorf("the next run is in %v, want %v", wait, tt.within)
			}
			if got := w.prices(); !slices.Equal(got, []float64{20, 21}) {
				t.Errorf("the prices are %v", got)
			}
			w.answer = text(hours(20, 22, 23))
			if state := w.run(s); state.Runs[0].Outcome != storage.SourceStored || state.Runs[0].Added != 1 || state.Runs[0].Changed != 1 || state.Failures != 0 || len(state.Runs) != 3 {
				t.Errorf("after the recovery the state is %+v", state)
			}
			if got := w.prices(); !slices.Equal(got, []float64{20, 22, 23}) {
				t.Errorf("after the recovery the prices are %v", got)
			}
		})
	}
}

// TestRun_UnstorableData records a run whose data cannot be stored. It is repeated after a delay.
func TestRun_UnstorableData(t *testing.T) {
	w := newWorld(t)
	s := w.add(func(s *storage.Source) { s.Parameters["node"] = strings.Repeat("N", 300) })
	w.answer = text(hours(20))
	state := w.run(s)
	if len(state.Runs) != 1 || state.Runs[0].Outcome != storage.SourceFailed || !strings.Contains(state.Runs[0].Error, "prices of NNN") || !state.NextRunAt.Equal(w.now.Add(firstRetry)) {
		t.Errorf("the state is %+v", state)
	}
}

// TestRun_DeletedSeries checks that a run after the deletion of the series stores all prices
// again, although the server has nothing newer.
func TestRun_DeletedSeries(t *testing.T) {
	w := newWorld(t)
	s := w.add(nil)
	early := strings.ReplaceAll(hours(20, 21), "2026-07-01", "2026-06-20")
	w.answer = func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("ETag", `"one"`)
		if r.Header.Get("If-None-Match") == `"one"` {
			rw.WriteHeader(http.StatusNotModified)
			return
		}
		text(early+strings.TrimPrefix(hours(22, 23), "start,price_usd_mwh\n"))(rw, r)
	}
	for range 2 { // both ask for other days
		w.run(s)
	}
	must(t, w.Store.Delete(t.Context(), storage.KindMarketSeries.Ref(storage.Shared, storage.MarketSeriesRef(storage.Shared, market.DayAhead, "HUB").ID)))
	if w.run(s); !slices.Equal(w.prices(), []float64{20, 21, 22, 23}) {
		t.Errorf("the prices are %v", w.prices())
	}
	w.run(s)
	if state := w.run(s); state.Runs[0].Outcome != storage.SourceUnchanged || w.asked[4].Header.Get("If-None-Match") == "" {
		t.Errorf("the state is %+v", state)
	}
}

// TestRun_Conditional sends the validators of the last good answer to the same URL for the
// same days, and only then.
func TestRun_Conditional(t *testing.T) {
	w := newWorld(t)
	s := w.add(nil)
	w.answer = func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("ETag", `"one"`)
		rw.Header().Set("Last-Modified", "Wed, 01 Jul 2026 11:00:00 GMT")
		if r.Header.Get("If-None-Match") == `"one"` {
			rw.WriteHeader(http.StatusNotModified)
			return
		}
		text(hours(20, 21))(rw, r)
	}
	w.run(s) // asks for two weeks
	w.run(s)
	state := w.run(s)
	if last := w.asked[2].Header; last.Get("If-None-Match") != `"one"` || last.Get("If-Modified-Since") == "" {
		t.Errorf("the third request has the header %v", last)
	}
	if state.Runs[0].Outcome != storage.SourceUnchanged || state.Failures != 0 || state.DataEnd.IsZero() {
		t.Errorf("the state is %+v", state)
	}
	w.now = w.now.AddDate(0, 0, 1)
	for i, want := range []string{"", `"one"`} {
		w.run(s)
		if last := w.asked[3+i].Header; last.Get("If-None-Match") != want {
			t.Errorf("request %d of the next day has the header %v", i+1, last)
		}
	}
	// Another address has another state.
	_, err := storage.Update(t.Context(), w.Store, s.Ref(), func(s *storage.Source) error { s.URL += "/other"; return nil })
	must(t, err)
	w.run(s)
	if last := w.asked[5].Header; last.Get("If-None-Match") != "" {
		t.Errorf("the request to another address has the header %v", last)
	}
}

// TestRun_Delays lets a source fail for long. The delays double up to a bound, and one
// good run ends them. Runs that were missed are not made up for.
func TestRun_Delays(t *testing.T) {
	for every, longest := range map[time.Duration]time.Duration{time.Minute: breakerDelay, 30 * time.Minute: 30 * time.Minute, 24 * time.Hour: time.Hour} {
		w := newWorld(t)
		s := w.add(func(s *storage.Source) { s.EverySeconds = int(every / time.Second) })
		w.answer = status(http.StatusServiceUnavailable)
		want := firstRetry
		for range 12 {
			state := w.run(s)
			if got := state.NextRunAt.Sub(w.now); got != want {
				t.Errorf("every %v: after %d failures the delay is %v, want %v", every, state.Failures, got, want)
			}
			want = min(2*want, longest)
		}
		w.answer = text(hours(20))
		if state := w.run(s); state.NextRunAt.Sub(w.now) != every || state.Late(&s, w.now) {
			t.Errorf("every %v: after the recovery the state is %+v", every, state)
		}
		w.now = w.now.Add(10 * every) // no process ran
		if state := w.run(s); state.NextRunAt.Sub(w.now) != every {
			t.Errorf("every %v: after missed runs the next one is in %v", every, state.NextRunAt.Sub(w.now))
		}
	}
}

// TestRun_Late reports a source without a good run as late, and no longer once it has one.
func TestRun_Late(t *testing.T) {
	w := newWorld(t)
	s := w.add(nil)
	w.answer = text(hours(20))
	w.run(s)
	w.answer = status(http.StatusBadGateway)
	for !w.now.After(w.state(s).LastGoodAt.Add(2 * time.Hour)) {
		if state := w.state(s); state.Late(&s, w.now) {
			t.Fatalf("late %v after the last good run", w.now.Sub(state.LastGoodAt.Time))
		}
		w.run(s)
	}
	if state := w.state(s); !state.Late(&s, w.now) {
		t.Errorf("not late %v after the last good run", w.now.Sub(state.LastGoodAt.Time))
	}
	w.answer = text(hours(20))
	if state := w.run(s); state.Late(&s, w.now) {
		t.Errorf("late after a good run: %+v", state)
	}
}

// TestRun_ClockAhead makes a run while the clock is days ahead, of this process or also of
// the server. Once the clock is right, the source runs an interval after that run, and is
// late if it then fails. A delay that the operator's server asked for stays.
func TestRun_ClockAhead(t *testing.T) {
	for _, server := range []bool{false, true} {
		w := newWorld(t)
		s := w.add(nil)
		began := w.now
		right := began.Add(s.Every())
		w.answer = text(hours(20))
		task := w.due(s)
		if w.ahead = 9 * 24 * time.Hour; server {
			w.now, w.ahead = w.now.Add(w.ahead), 0
		}
		must(t, w.handle(t.Context(), task, events.Taken{}))
		if state := w.state(s); !state.LastGoodAt.Equal(w.now.Add(w.ahead)) {
			t.Fatalf("run failed: %+v", state)
		}
		w.now, w.ahead = began.Add(time.Minute), 0
		w.answer = status(http.StatusTooManyRequests, "Retry-After", "86400")
		if state := w.run(s); !w.now.Equal(right) || !state.NextRunAt.Equal(right.Add(maxRetryAfter)) || !state.LastGoodAt.Equal(right) {
			t.Errorf("run at %s, want %s: %+v", w.now, right, state)
		}
		if w.run(s); !w.now.Equal(right.Add(maxRetryAfter)) {
			t.Errorf("run at %s, want %s after the first", w.now, maxRetryAfter)
		}
		if state := w.state(s); !state.Late(&s, w.now) {
			t.Errorf("not late a day after the last good run: %+v", state)
		}
	}
}

// TestRun_ClocksDiffer makes runs on clocks that are ahead and behind by turns. No run
// comes before its interval.
func TestRun_ClocksDiffer(t *testing.T) {
	w := newWorld(t)
	s := w.add(func(s *storage.Source) { s.EverySeconds = 300 })
	plan := func(ahead time.Duration) {
		w.ahead = ahead
		must(t, w.plan(t.Context()))
	}
	w.answer = func(rw http.ResponseWriter, r *http.Request) {
		was := w.ahead
		plan(-20 * time.Minute)
		if plan(was); len(w.tasks.waiting) != 0 {
			t.Errorf("another run is pending during a run: %v", w.tasks.waiting)
		}
		text(hours(20))(rw, r)
	}
	began := w.now
	for i, ahead := range []time.Duration{0, -20 * time.Minute, 20 * time.Minute, 20 * time.Minute, 0, time.Minute} {
		task := w.due(s)
		w.tasks.doing, w.ahead = task.TaskName, ahead
		if want := began.Add(time.Duration(i) * s.Every()); !w.now.Equal(want) {
			t.Errorf("run %d at %s, want %s", i, w.now, want)
		}
		must(t, w.handle(t.Context(), task, events.Taken{}))
		w.tasks.doing = events.TaskName{}
		for range 3 {
			plan(-20 * time.Minute)
			plan(20 * time.Minute)
		}
	}
}

// TestRun_Redelivered repeats the task of a recorded run. The source is not asked again,
// and its next run is pending once.
func TestRun_Redelivered(t *testing.T) {
	w := newWorld(t)
	s := w.add(nil)
	w.answer = text(hours(20))
	task := w.due(s)
	for range 3 {
		must(t, w.handle(t.Context(), task, events.Taken{Redelivered: true}))
	}
	if len(w.asked) != 1 || len(w.state(s).Runs) != 1 || len(w.tasks.waiting) != 1 {
		t.Errorf("%d requests, %d runs, %d pending", len(w.asked), len(w.state(s).Runs), len(w.tasks.waiting))
	}
}

// TestRun_RecordedMeanwhile has NATS hand the task to another process while the first one fetches.
// The run is recorded once.
func TestRun_RecordedMeanwhile(t *testing.T) {
	w := newWorld(t)
	s := w.add(nil)
	task, other := w.due(s), false
	w.answer = func(rw http.ResponseWriter, r *http.Request) {
		if !other {
			other = true
			must(t, w.handle(t.Context(), task, events.Taken{Redelivered: true}))
		}
		text(hours(20))(rw, r)
	}
	must(t, w.handle(t.Context(), task, events.Taken{}))
	if state := w.state(s); len(w.asked) != 2 || len(state.Runs) != 1 || state.Failures != 0 || len(w.tasks.waiting) != 1 {
		t.Errorf("%d requests, %d pending, and the state %+v", len(w.asked), len(w.tasks.waiting), state)
	}
}

// TestRun_Outdated drops the runs of a paused, a changed and a deleted source, and of a
// source that is changed during the run.
func TestRun_Outdated(t *testing.T) {
	pause := func(s *storage.Source) error { s.Enabled = false; return nil }
	for name, change := range map[string]func(w *world, s storage.Source) error{
		"paused": func(w *world, s storage.Source) error {
			_, err := storage.Update(t.Context(), w.Store, s.Ref(), pause)
			return err
		},
		"deleted": func(w *world, s storage.Source) error {
			return w.Store.Delete(t.Context(), storage.KindSource.Ref(s.OrganizationID, s.ID))
		},
	} {
		for _, during := range []bool{false, true} {
			w := newWorld(t)
			s := w.add(nil)
			task := w.due(s)
			w.answer = text(hours(20))
			if during {
				w.answer = func(rw http.ResponseWriter, r *http.Request) {
					must(t, change(w, s))
					text(hours(20))(rw, r)
				}
			} else {
				must(t, change(w, s))
			}
			must(t, w.handle(t.Context(), task, events.Taken{}))
			must(t, w.plan(t.Context()))
			if len(w.prices()) != 0 || len(w.tasks.waiting) != 0 || during != (len(w.asked) == 1) {
				t.Errorf("%s, during the run %v: %d prices, %d runs pending, %d requests", name, during, len(w.prices()), len(w.tasks.waiting), len(w.asked))
			}
		}
	}
}

// TestRun_DeletedDuringRecord ends the first run of a source that is deleted while the run is
// recorded. A new source with the same identifier has no run.
func TestRun_DeletedDuringRecord(t *testing.T) {
	for name, answer := range map[string]http.HandlerFunc{"good": text(hours(20)), "failed": status(http.StatusBadGateway)} {
		w := newWorld(t)
		s := w.add(nil)
		task := w.due(s)
		w.answer = answer
		w.log.Intercept(func(storage.Write) error {
			w.log.Intercept(nil)
			return w.Store.Delete(t.Context(), storage.KindSource.Ref(s.OrganizationID, s.ID))
		})
		if err := w.handle(t.Context(), task, events.Taken{}); err != nil {
			t.Errorf("%s: the run returned %v", name, err)
		}
		if state := w.state(w.add(nil)); len(state.Runs) != 0 || len(w.tasks.waiting) != 0 {
			t.Errorf("%s: the new source has the state %+v, %d runs are pending", name, state, len(w.tasks.waiting))
		}
	}
}

// TestRun_Suspended asks nobody for a suspended organization, and asks at once when the
// organization is resumed.
func TestRun_Suspended(t *testing.T) {
	w := newWorld(t)
	acme := storage.Organization{ID: "acme", Name: "Acme", Suspended: true, Base: storage.Base{OrganizationID: storage.Shared}}
	must(t, w.Store.Create(t.Context(), &acme))
	s := w.add(func(s *storage.Source) { s.OrganizationID = "acme" })
	w.answer = text(hours(20))
	must(t, w.handle(t.Context(), events.TaskOf(s.Ref(), w.revision(s), w.now), events.Taken{})) // asked for before the suspension
	w.now = w.now.AddDate(0, 0, 7)
	must(t, w.plan(t.Context()))
	families, err := w.Registerer.(*prometheus.Registry).Gather()
	must(t, err)
	for _, f := range families {
		if f.GetMetric()[0].GetGauge().GetValue() != 0 {
			t.Errorf("a suspended organization's source counts in %v", f)
		}
	}
	if len(w.asked) != 0 || len(w.tasks.waiting) != 0 {
		t.Errorf("a suspended organization's source was asked, or will be: %+v", w.tasks.waiting)
	}
	_, err = storage.Update(t.Context(), w.Store, acme.Ref(), func(o *storage.Organization) error { o.Suspended = false; return nil })
	must(t, err)
	resumed := w.now
	if state := w.run(s); len(w.asked) != 1 || state.Runs[0].Outcome != storage.SourceStored || !w.now.Equal(resumed) {
		t.Errorf("%v after the organization was resumed: %+v", w.now.Sub(resumed), state)
	}
}

// TestRun_DamagedState has a state that does not decode. The source runs as if it were new,
// and the other sources run too.
func TestRun_DamagedState(t *testing.T) {
	w := newWorld(t)
	s := w.add(nil)
	other := w.add(func(s *storage.Source) { s.ID = "zone" })
	_, err := w.log.Append(t.Context(), storage.Write{Ref: storage.KindSourceState.Ref(storage.Shared, "hub"), At: w.now, Value: []byte(`{"runs":7}`)})
	must(t, err)
	w.answer = text(hours(20))
	for _, s := range []storage.Source{s, other} {
		if state := w.run(s); len(state.Runs) != 1 || state.Runs[0].Outcome == storage.SourceFailed {
			t.Errorf("the state of %s is %+v", s.ID, state)
		}
	}
}

// TestRun_ChangedSource keeps the end of the data if the changed source has the same prices,
// so that a run after an outage asks for all missing days.
func TestRun_ChangedSource(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*storage.Source)
		keeps  bool
	}{
		"interval":   {func(s *storage.Source) { s.EverySeconds = 600 }, true},
		"plan":       {func(s *storage.Source) { s.PlanID = "hub" }, true},
		"adapter":    {func(s *storage.Source) { s.Adapter = "json" }, false},
		"url":        {func(s *storage.Source) { s.URL += "/other" }, false},
		"parameters": {func(s *storage.Source) { s.Parameters = map[string]string{"node": "ZONE"} }, false},
		"timezone":   {func(s *storage.Source) { s.Timezone = "America/Chicago" }, false},
	} {
		w := newWorld(t)
		s := w.add(nil)
		w.answer = text(hours(20))
		before := w.run(s)
		w.now = w.now.AddDate(0, 0, 20)
		changed, err := storage.Update(t.Context(), w.Store, s.Ref(), func(s *storage.Source) error { tt.change(s); return nil })
		must(t, err)
		state := w.state(changed)
		if state.DataEnd.IsZero() == tt.keeps || tt.keeps && state.DataEnd != before.DataEnd {
			t.Errorf("%s: the data ended %v, after the change %v", name, before.DataEnd, state.DataEnd)
		}
		if !state.LastGoodAt.IsZero() || state.Late(&changed, w.now) {
			t.Errorf("%s: after the change the state is %+v", name, state)
		}
	}
}

// TestPlan_DropsOldRevisions changes a source. The run of the earlier revision may be about to
// be due at the first search, and is dropped at the second.
func TestPlan_DropsOldRevisions(t *testing.T) {
	w := newWorld(t)
	s := w.add(nil)
	must(t, w.plan(t.Context()))
	old := w.revision(s)
	_, err := storage.Update(t.Context(), w.Store, s.Ref(), func(s *storage.Source) error { s.Description = "changed"; return nil })
	must(t, err)
	for _, want := range [][]uint64{{old, w.revision(s)}, {w.revision(s)}, {w.revision(s)}} {
		must(t, w.plan(t.Context()))
		var pending []uint64
		for name := range w.tasks.waiting {
			pending = append(pending, name.Revision)
		}
		if slices.Sort(pending); !slices.Equal(pending, want) {
			t.Errorf("runs of the revisions %v are pending, want %v", pending, want)
		}
	}
}
