package dispatcher

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// notices returns the last arrival of a type at each host. It checks that all arrivals at
// a host have the same identifier and body.
func (w *world) notices(kind string) (last map[string]arrival, times map[string]int) {
	w.t.Helper()
	last, times = map[string]arrival{}, map[string]int{}
	for _, a := range w.partner.got() {
		if a.kind != kind {
			continue
		}
		if before, ok := last[a.host]; ok && (before.id != a.id || before.text != a.text) {
			w.t.Errorf("%s got %s with id %s, and then %s with id %s", a.host, before.text, before.id, a.text, a.id)
		}
		last[a.host] = a
		times[a.host]++
	}
	return last, times
}

// rest waits until all notices have been sent.
func (w *world) rest(d time.Duration) {
	<-time.After(d)
	w.bus.await(w.bus.idleLocked)
	synctest.Wait()
}

// taking returns a partner that responds after a delay.
func taking(answer func(a arrival) int) func(*http.Request, arrival) int {
	return func(_ *http.Request, a arrival) int {
		<-time.After(5 * time.Millisecond)
		return answer(a)
	}
}

func only(kinds ...string) func(*storage.WebhookEndpoint) {
	return func(e *storage.WebhookEndpoint) { e.EventTypes = kinds }
}

// noticeData is the data of a webhook.
func noticeData[T any](t *testing.T, a arrival) (v T) {
	t.Helper()
	event := struct {
		Timestamp storage.Time
		Data      *T
	}{Data: &v}
	if err := json.Unmarshal([]byte(a.text), &event); err != nil || event.Timestamp.IsZero() {
		t.Fatalf("%v in %s", err, a.text)
	}
	return v
}

// A completed trigger is notified once, with its counts, to each endpoint that wants the
// event. The notice follows the last retry. A failed notice is retried until the
// endpoint accepts it.
func TestNotice_TriggerCompleted(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		const homes = events.SliceHomes + 5
		w.homes(homes)
		w.endpoint("all")
		w.endpoint("ends", only(storage.EventTriggerCompleted), func(e *storage.WebhookEndpoint) { e.Compression = storage.CompressionGzip })
		w.endpoint("signals", only(storage.EventPriceSignalUpdated))
		w.neighbor(3)
		var homeRefused, endRefused atomic.Int64
		w.partner.answers(taking(func(a arrival) int {
			if a.host == "signals" && a.home == homeID(3) && homeRefused.Add(1) <= 3 ||
				a.host == "all" && a.kind == storage.EventTriggerCompleted && endRefused.Add(1) <= 3 {
				return http.StatusInternalServerError
			}
			return http.StatusOK
		}))
		w.worker()
		defer w.notifier()()
		tr := w.trigger(24)
		<-time.After(5 * time.Second)
		if last, _ := w.notices(storage.EventTriggerCompleted); len(last) != 0 {
			t.Errorf("notice arrived during retries: %+v", last)
		}
		w.rest(10 * time.Minute)
		last, times := w.notices(storage.EventTriggerCompleted)
		if want := map[string]int{"all": 4, "ends": 1}; !maps.Equal(times, want) {
			t.Fatalf("notices arrived %v times, want %v", times, want)
		}
		p, _ := w.seenNow(tr)
		for host, a := range last {
			got := noticeData[events.Progress](t, a)
			if fmt.Sprint(got) != fmt.Sprint(p) || got.Outcomes[events.OutcomeDelivered] != 2*homes {
				t.Errorf("%s got %+v, want %+v", host, got, p)
			}
			if want := events.MessageID("evt_"+strings.TrimPrefix(tr.ID, "trg_"), "", host); a.id != want {
				t.Errorf("%s got id %s, want %s", host, a.id, want)
			}
		}
	})
}

// A stop may cancel a notice. The next worker then sends it, even if the policy allows
// only one attempt.
func TestNotice_CanceledByStop(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.options.DrainTimeout = time.Second
		w.homes(3)
		w.endpoint("ends", only(storage.EventTriggerCompleted), patience(0))
		w.endpoint("signals", only(storage.EventPriceSignalUpdated))
		var hangs atomic.Bool
		hangs.Store(true)
		w.partner.answers(func(r *http.Request, a arrival) int {
			if a.kind == storage.EventTriggerCompleted && hangs.Load() {
				<-r.Context().Done()
				return 0
			}
			return http.StatusOK
		})
		first := w.worker()
		defer w.notifier()()
		w.trigger(24)
		<-time.After(5 * time.Second)
		first.stop()
		if m := first.metrics(t); m["gridhook_notice_attempts_total"] != 0 {
			t.Error("the request that the worker's stop cut off counts as an attempt")
		}
		hangs.Store(false)
		w.worker()
		w.rest(time.Minute)
		if _, times := w.notices(storage.EventTriggerCompleted); times["ends"] != 2 {
			t.Errorf("notice arrived %v times, want the canceled request and its repeat", times)
		}
	})
}

// seenNow returns a trigger's progress in the ledger that is already followed.
func (w *world) seenNow(t events.Trigger) (events.Progress, error) {
	p, err := w.ledger.Progress(t.OrganizationID, t.ID)
	if err != nil {
		w.t.Error(err)
	}
	return p, err
}

// Each endpoint is notified under one identifier, at whatever point a worker dies.
func TestNotice_WorkersDie(t *testing.T) {
	for _, point := range []string{
		"before ack notice", "before put task", "after put task", "before put receipt", "after put receipt", "before ack task",
	} {
		t.Run(point, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				w.endpoint("one")
				w.endpoint("two")
				w.partner.answers(taking(func(arrival) int { return http.StatusOK }))
				var died atomic.Bool
				seen := atomic.Bool{}
				w.worker(func(at string) bool { // when it handles a notice
					if strings.HasSuffix(at, "task") || strings.HasSuffix(at, "notice") {
						seen.Store(true)
					}
					return at == point && seen.Load() && died.CompareAndSwap(false, true)
				})
				defer w.notifier()()
				w.trigger(24) // of no homes
				<-time.After(10 * time.Second)
				if !died.Load() {
					t.Fatal("worker did not die")
				}
				w.worker()
				w.rest(time.Minute)
				_, times := w.notices(storage.EventTriggerCompleted)
				for _, host := range []string{"one", "two"} {
					if times[host] < 1 || times[host] > 2 {
						t.Errorf("%s was notified %d times", host, times[host])
					}
				}
			})
		})
	}
}

// A notifier that died before the notice puts it after its restart. Several notifiers
// put one notice.
func TestNotice_SeveralNotifiers(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.endpoint("ep")
		w.worker()
		w.trigger(24)
		w.settled(w.trigger(24)) // the ledger has both, and no worker runs
		stop := w.notifier()
		w.rest(time.Minute)
		stop()
		// A second notifier has a recreated ledger.
		if _, times := w.completedNotices(); times["ep"] != 2 {
			t.Fatalf("%d notices arrived, want 2", times["ep"])
		}
		w.remakeLedger()
		defer w.notifier()()
		w.rest(time.Minute)
		if _, times := w.completedNotices(); times["ep"] != 2 {
			t.Errorf("%d notices arrived with a recreated ledger, want 2", times["ep"])
		}
	})
}

// completedNotices counts the notices of completed triggers.
func (w *world) completedNotices() (ids map[string]bool, times map[string]int) {
	ids, times = map[string]bool{}, map[string]int{}
	for _, a := range w.partner.got() {
		if a.kind == storage.EventTriggerCompleted {
			ids[a.id] = true
			times[a.host]++
		}
	}
	return ids, times
}

// An endpoint that responds 410 is disabled. The other endpoints are notified each time.
func TestNotice_EndpointDisabled(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.homes(3)
		w.endpoint("gone")
		w.endpoint("watch", only(storage.EventEndpointDisabled))
		w.endpoint("signals", only(storage.EventPriceSignalUpdated))
		w.partner.answers(taking(func(a arrival) int {
			if a.host == "gone" {
				return http.StatusGone
			}
			return http.StatusOK
		}))
		w.worker()
		defer w.notifier()()
		for round := 1; round <= 2; round++ {
			w.trigger(24)
			w.rest(time.Minute)
			var got []arrival
			for _, a := range w.partner.got() {
				if a.kind == storage.EventEndpointDisabled {
					got = append(got, a)
				}
			}
			if len(got) != round || got[round-1].host != "watch" {
				t.Fatalf("notices in round %d are %+v", round, got)
			}
			d := noticeData[events.DisabledEndpoint](t, got[round-1])
			e := w.stored("gone")
			if d.EndpointID != "gone" || d.Reason != storage.DisabledGone || e.Disabled == nil || !d.DisabledAt.Equal(e.Disabled.At.Time) {
				t.Errorf("notice is %+v of %+v", d, e.Disabled)
			}
			if round == 2 && got[0].id == got[1].id {
				t.Error("two notices have the same identifier")
			}
			w.change("gone", func(e *storage.WebhookEndpoint) { e.SetEnabled(true) })
		}
	})
}

// An endpoint that only fails is disabled after the time that its policy sets. A success
// resets the time. A policy of zero never disables.
func TestEndpoint_DisabledAfterFailures(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.homes(1)
		disablesAfter := func(seconds float64) func(*storage.WebhookEndpoint) {
			return func(e *storage.WebhookEndpoint) {
				e.RetryPolicy = storage.RetryPolicy{InitialSeconds: 60, Multiplier: 1, MaxSeconds: 60, GiveUpSeconds: 86400, DisableAfterSeconds: seconds}
				e.EventTypes = []string{storage.EventPriceSignalUpdated}
			}
		}
		w.endpoint("dead", disablesAfter(3600))
		w.endpoint("patient", disablesAfter(0))
		w.endpoint("mended", disablesAfter(3600))
		w.endpoint("watch", only(storage.EventEndpointDisabled))
		began := time.Now()
		w.partner.answers(taking(func(a arrival) int {
			if a.host == "watch" || a.host == "mended" && a.at.Sub(began) > 50*time.Minute {
				return http.StatusOK
			}
			return http.StatusServiceUnavailable
		}))
		w.worker()
		defer w.notifier()()
		w.trigger(24)
		<-time.After(55 * time.Minute)
		for _, id := range []string{"dead", "patient", "mended"} {
			if !w.stored(id).Enabled {
				t.Errorf("%s was disabled too early", id)
			}
		}
		<-time.After(15 * time.Minute)
		for id, want := range map[string]bool{"dead": false, "patient": true, "mended": true} {
			if e := w.stored(id); e.Enabled != want || (e.Disabled == nil) != want {
				t.Errorf("%s: enabled is %v, record %+v", id, e.Enabled, e.Disabled)
			}
		}
		last, times := w.notices(storage.EventEndpointDisabled)
		if !maps.Equal(times, map[string]int{"watch": 1}) {
			t.Fatalf("notices arrived %v times", times)
		}
		if d := noticeData[events.DisabledEndpoint](t, last["watch"]); d.EndpointID != "dead" || d.Reason != storage.DisabledFailing {
			t.Errorf("notice is %+v", d)
		}
		// Failures before the endpoint was enabled again do not count.
		w.change("dead", func(e *storage.WebhookEndpoint) { e.SetEnabled(true) })
		w.trigger(24)
		<-time.After(30 * time.Minute)
		if !w.stored("dead").Enabled {
			t.Error("endpoint was disabled at once after it was enabled")
		}
		<-time.After(40 * time.Minute)
		if w.stored("dead").Enabled {
			t.Error("endpoint was not disabled a second time")
		}
	})
}

// stored returns a stored endpoint.
func (w *world) stored(id string) storage.WebhookEndpoint {
	w.t.Helper()
	e, err := storage.Get[storage.WebhookEndpoint](w.store, storage.KindWebhookEndpoint.Ref("org", id))
	if err != nil {
		w.t.Fatal(err)
	}
	return e
}

// change changes an endpoint.
func (w *world) change(id string, change func(*storage.WebhookEndpoint)) {
	w.t.Helper()
	_, err := storage.Update(w.t.Context(), w.store, storage.KindWebhookEndpoint.Ref("org", id), func(e *storage.WebhookEndpoint) error {
		change(e)
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// A recreated consumer redelivers notices. An endpoint that got a redelivered notice
// does not get it again. An old notice is dropped.
func TestNotice_Redelivered(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.homes(3)
		w.endpoint("ep")
		var refused atomic.Int64
		w.partner.answers(taking(func(a arrival) int {
			if a.kind == storage.EventTriggerCompleted && refused.Add(1) <= 2 {
				return http.StatusInternalServerError
			}
			return http.StatusOK
		}))
		w.worker()
		again := func(age time.Duration) {
			w.bus.mu.Lock()
			defer w.bus.mu.Unlock()
			for _, n := range w.bus.everTold {
				n.CreatedAt = storage.Time{Time: n.CreatedAt.Add(-age)}
				n.ID += map[bool]string{true: "_old"}[age > 0]
				w.bus.notices = append(w.bus.notices, &queued[events.Notice]{value: n, key: n.ID})
			}
			w.bus.wakeLocked()
		}
		stop := w.notifier()
		w.trigger(24)
		w.bus.await(func() bool { return len(w.bus.everTold) > 0 })
		w.rest(time.Minute)
		stop()
		for _, age := range []time.Duration{0, events.LongestRetry} {
			again(age)
			w.rest(time.Minute)
			if _, times := w.notices(storage.EventTriggerCompleted); times["ep"] != 3 {
				t.Errorf("endpoint got %d requests, want 3 attempts", times["ep"])
			}
		}
	})
}
