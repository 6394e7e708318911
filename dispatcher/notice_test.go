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

// told are the arrivals of one type at each host, the last of each; none came with
// another identifier or body than the one before.
func (w *world) told(kind string) (last map[string]arrival, times map[string]int) {
	w.t.Helper()
	last, times = map[string]arrival{}, map[string]int{}
	for _, a := range w.partner.got() {
		if a.kind != kind {
			continue
		}
		if before, ok := last[a.host]; ok && (before.id != a.id || before.text != a.text) {
			w.t.Errorf("%s was told %s under %s, and then %s under %s", a.host, before.text, before.id, a.text, a.id)
		}
		last[a.host] = a
		times[a.host]++
	}
	return last, times
}

// rest lets time pass until all that is to be told has been.
func (w *world) rest(d time.Duration) {
	<-time.After(d)
	w.bus.await(w.bus.idleLocked)
	synctest.Wait()
}

// taking is how a partner answers that takes a while for it.
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

// The end of a trigger is told, with its counts, to each endpoint that wants it: once,
// though only after the last retry, and to one that fails again and again until it
// takes it.
func TestTheEndOfATriggerIsTold(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		const homes = events.SliceHomes + 5
		w.homes(homes)
		w.endpoint("all")
		w.endpoint("ends", only(storage.EventTriggerCompleted), func(e *storage.WebhookEndpoint) { e.Compression = storage.CompressionGzip })
		w.endpoint("signals", only(storage.EventPriceSignalUpdated))
		w.neighbour(3)
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
		if last, _ := w.told(storage.EventTriggerCompleted); len(last) != 0 {
			t.Errorf("it was told while a home was still tried: %+v", last)
		}
		w.rest(10 * time.Minute)
		last, times := w.told(storage.EventTriggerCompleted)
		if want := map[string]int{"all": 4, "ends": 1}; !maps.Equal(times, want) {
			t.Fatalf("it was told %v times, want %v", times, want)
		}
		p, _ := w.seenNow(tr)
		for host, a := range last {
			got := noticeData[events.Progress](t, a)
			if fmt.Sprint(got) != fmt.Sprint(p) || got.Outcomes[events.OutcomeDelivered] != 2*homes {
				t.Errorf("%s was told %+v, and it is %+v", host, got, p)
			}
			if want := events.MessageID("evt_"+strings.TrimPrefix(tr.ID, "trg_"), "", host); a.id != want {
				t.Errorf("%s was told under %s, want %s", host, a.id, want)
			}
		}
	})
}

// A notice that a worker's stop cuts off is told by the next worker, though the endpoint
// allows one attempt only.
func TestANoticeThatAStopCutsOff(t *testing.T) {
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
		hangs.Store(false)
		w.worker()
		w.rest(time.Minute)
		if _, times := w.told(storage.EventTriggerCompleted); times["ends"] != 2 {
			t.Errorf("it came %v times, want the request that was cut off and its repeat", times)
		}
	})
}

// seenNow is what the ledger, which is followed already, shows of a trigger.
func (w *world) seenNow(t events.Trigger) (events.Progress, error) {
	p, err := w.ledger.Progress(t.OrganizationID, t.ID)
	if err != nil {
		w.t.Error(err)
	}
	return p, err
}

// Wherever a worker dies on the way, each endpoint is told, under one identifier.
func TestToldWhateverDies(t *testing.T) {
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
				w.worker(func(at string) bool { // once it has a notice in hand
					if strings.HasSuffix(at, "task") || strings.HasSuffix(at, "notice") {
						seen.Store(true)
					}
					return at == point && seen.Load() && died.CompareAndSwap(false, true)
				})
				defer w.notifier()()
				w.trigger(24) // of no homes
				<-time.After(10 * time.Second)
				if !died.Load() {
					t.Fatal("it did not die")
				}
				w.worker()
				w.rest(time.Minute)
				_, times := w.told(storage.EventTriggerCompleted)
				for _, host := range []string{"one", "two"} {
					if times[host] < 1 || times[host] > 2 {
						t.Errorf("%s was told %d times", host, times[host])
					}
				}
			})
		})
	}
}

// A notifier that dies before it has told puts the notice when it is back; several
// put one.
func TestSeveralNotifiersTellOnce(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.endpoint("ep")
		w.worker()
		w.trigger(24)
		w.settled(w.trigger(24)) // both folded, and nobody there to tell
		stop := w.notifier()
		w.rest(time.Minute)
		stop()
		// Another, on a ledger made anew.
		if _, times := w.toldAll(); times["ep"] != 2 {
			t.Fatalf("%d ends were told, want 2", times["ep"])
		}
		w.remakeLedger()
		defer w.notifier()()
		w.rest(time.Minute)
		if _, times := w.toldAll(); times["ep"] != 2 {
			t.Errorf("%d ends were told once the ledger was made anew, want 2", times["ep"])
		}
	})
}

// toldAll counts the ends told, of whatever triggers.
func (w *world) toldAll() (ids map[string]bool, times map[string]int) {
	ids, times = map[string]bool{}, map[string]int{}
	for _, a := range w.partner.got() {
		if a.kind == storage.EventTriggerCompleted {
			ids[a.id] = true
			times[a.host]++
		}
	}
	return ids, times
}

// An endpoint that answers 410 is disabled, and the others are told, every time.
func TestADisabledEndpointIsTold(t *testing.T) {
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
				t.Fatalf("in round %d they were told %+v", round, got)
			}
			d := noticeData[events.DisabledEndpoint](t, got[round-1])
			e := w.stored("gone")
			if d.EndpointID != "gone" || d.Reason != storage.DisabledGone || e.Disabled == nil || !d.DisabledAt.Equal(e.Disabled.At.Time) {
				t.Errorf("it is told %+v of %+v", d, e.Disabled)
			}
			if round == 2 && got[0].id == got[1].id {
				t.Error("both times it was told under one identifier")
			}
			w.change("gone", func(e *storage.WebhookEndpoint) { e.SetEnabled(true) })
		}
	})
}

// An endpoint that does nothing but fail is disabled once it has for as long as its
// policy bears; one that has a success in between is not, nor one whose policy bears
// all.
func TestWhatFailsForLongIsDisabled(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.homes(2)
		bears := func(seconds float64) func(*storage.WebhookEndpoint) {
			return func(e *storage.WebhookEndpoint) {
				e.RetryPolicy = storage.RetryPolicy{InitialSeconds: 60, Multiplier: 1, MaxSeconds: 60, GiveUpSeconds: 86400, DisableAfterSeconds: seconds}
				e.EventTypes = []string{storage.EventPriceSignalUpdated}
			}
		}
		w.endpoint("dead", bears(3600))
		w.endpoint("patient", bears(0))
		w.endpoint("mended", bears(3600))
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
				t.Errorf("%s is disabled too early", id)
			}
		}
		<-time.After(15 * time.Minute)
		for id, want := range map[string]bool{"dead": false, "patient": true, "mended": true} {
			if e := w.stored(id); e.Enabled != want || (e.Disabled == nil) != want {
				t.Errorf("%s is enabled: %v, %+v", id, e.Enabled, e.Disabled)
			}
		}
		last, times := w.told(storage.EventEndpointDisabled)
		if !maps.Equal(times, map[string]int{"watch": 1}) {
			t.Fatalf("it was told %v times", times)
		}
		if d := noticeData[events.DisabledEndpoint](t, last["watch"]); d.EndpointID != "dead" || d.Reason != storage.DisabledFailing {
			t.Errorf("it was told %+v", d)
		}
		// What failed before it was enabled again does not count.
		w.change("dead", func(e *storage.WebhookEndpoint) { e.SetEnabled(true) })
		w.trigger(24)
		<-time.After(30 * time.Minute)
		if !w.stored("dead").Enabled {
			t.Error("enabled again it is disabled at once")
		}
		<-time.After(40 * time.Minute)
		if w.stored("dead").Enabled {
			t.Error("it is not disabled again")
		}
	})
}

// stored is an endpoint as it is stored.
func (w *world) stored(id string) storage.WebhookEndpoint {
	w.t.Helper()
	e, err := storage.Get[storage.WebhookEndpoint](w.store, storage.WebhookEndpointRef("org", id))
	if err != nil {
		w.t.Fatal(err)
	}
	return e
}

// change changes an endpoint.
func (w *world) change(id string, change func(*storage.WebhookEndpoint)) {
	w.t.Helper()
	_, err := storage.Update(w.t.Context(), w.store, storage.WebhookEndpointRef("org", id), func(e *storage.WebhookEndpoint) error {
		change(e)
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// A notice that is handed out again, as all are when their consumer is made anew, is not
// told to those again who were told; one that is old is not told at all.
func TestANoticeHandedOutAgainIsNotToldAgain(t *testing.T) {
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
			if _, times := w.told(storage.EventTriggerCompleted); times["ep"] != 3 {
				t.Errorf("it was told %d times, want 3 attempts", times["ep"])
			}
		}
	})
}
