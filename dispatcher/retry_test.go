package dispatcher

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gridhook/gridhook/dispatcher/channel"
	"github.com/gridhook/gridhook/dispatcher/gate"
	"github.com/gridhook/gridhook/dispatcher/send"
	"github.com/gridhook/gridhook/dispatcher/tester"
	"github.com/gridhook/gridhook/dispatcher/webhook"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/signals"
	"github.com/gridhook/gridhook/storage/storagetest"
)

// attempts returns the times of a home's webhooks at a host.
func (p *partner) attempts(host, home string) (at []time.Time) {
	for _, a := range p.got() {
		if a.host == host && a.home == home {
			at = append(at, a.at)
		}
	}
	return at
}

// failing responds to a home's first n requests with a status, and then with 200.
func failing(status, n int, home string) func(*http.Request, arrival) int {
	var mu sync.Mutex
	return func(_ *http.Request, a arrival) int {
		mu.Lock()
		defer mu.Unlock()
		if (home == "" || a.home == home) && n > 0 {
			n--
			return status
		}
		return http.StatusOK
	}
}

func TestRetry_OneHome(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.homes(3)
		w.endpoint("ep")
		answer := failing(500, 2, homeID(1))
		w.partner.answers(func(r *http.Request, a arrival) int {
			<-time.After(time.Millisecond) // a request that takes no time is none
			return answer(r, a)
		})
		n := w.worker()
		tr := w.trigger(24)
		began := time.Now()
		for _, d := range w.wants(tr, outcomes{events.OutcomeDelivered: 3}) {
			want := 1
			if d.HomeID == homeID(1) {
				want = 3
			}
			if d.Attempt != want || d.Reason != "" || d.Response != "" {
				t.Errorf("delivery of %s is %+v, want attempt %d", d.HomeID, d, want)
			}
		}
		w.checkDelivered(nil, 1)
		at := w.partner.attempts("ep", homeID(1))
		for i, want := range []time.Duration{0, 2500 * time.Millisecond, 7500 * time.Millisecond} { // half of 5 s, and of 10 s more
			if early := at[i].Sub(began) - want; early < 0 || early > time.Duration(i)*time.Second+100*time.Millisecond {
				t.Errorf("attempt %d came after %s, want %s and up to %d s of rounding", i+1, at[i].Sub(began), want, i)
			}
		}
		if len(w.bus.retryPuts) != 2 || len(w.bus.retryPuts[0].Homes) != 1 {
			t.Errorf("stored %d retries", len(w.bus.retryPuts))
		}
		if first, last := w.bus.receipts[0].RetryBytes, w.bus.receipts[2].RetryBytes; first == 0 || last != 0 {
			t.Errorf("receipts count %d and %d bytes of retries", first, last)
		}
		if m := n.metrics(t); m["gridhook_retries_scheduled_total"] != 2 || m["gridhook_deliveries_total"] != 5 {
			t.Errorf("metrics are %v, want 2 retries and 5 outcomes", m)
		}
	})
}

// If every home of a slice fails, one message holds all retries.
func TestRetry_WholeSlice(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.homes(events.SliceHomes)
		w.endpoint("ep")
		w.partner.answers(failing(500, 2*events.SliceHomes, ""))
		w.worker()
		w.checkDelivered(w.wants(w.trigger(24), outcomes{events.OutcomeDelivered: events.SliceHomes}), 1)
		if len(w.bus.retryPuts) != 2 || len(w.bus.retryPuts[0].Homes) != events.SliceHomes || len(w.bus.retryPuts[0].Curves) != 1 {
			t.Errorf("stored %d retries, want one message for each attempt", len(w.bus.retryPuts))
		}
	})
}

// The next attempt comes at the time in the delivery log, also for a whole slice.
func TestRetry_NextAt(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		const n, stumbling = 3 * events.SliceHomes, 2*events.SliceHomes + 40 // two slices and some homes
		w.jitter = rand.Float64
		w.homes(n)
		w.endpoint("ep", func(e *storage.WebhookEndpoint) { e.RetryPolicy.InitialSeconds = 300 })
		var stumbled sync.Map
		w.partner.answers(func(_ *http.Request, a arrival) int {
			if _, again := stumbled.LoadOrStore(a.home, true); !again && a.home < homeID(stumbling) {
				return http.StatusInternalServerError
			}
			return http.StatusOK
		})
		w.worker()
		w.checkDelivered(w.wants(w.trigger(24), outcomes{events.OutcomeDelivered: n}), 1)
		waiting, pauses := 0, map[time.Duration]bool{}
		for _, r := range w.bus.receipts {
			for _, d := range r.Deliveries {
				if d.Outcome != events.OutcomeRetrying {
					continue
				}
				waiting++
				pauses[d.NextAt.Sub(d.At.Time)] = true
				if late := w.partner.attempts("ep", d.HomeID)[1].Sub(d.NextAt.Time); late < 0 || late > 2*time.Second { // due times are whole seconds
					t.Errorf("%s arrived %s after its due time", d.HomeID, late)
				}
			}
		}
		// One time per slice, one per part of the delay, and one that the hour cuts
		// short.
		if waiting != stumbling || len(pauses) < 5 || len(pauses) > 2+delayParts+1 {
			t.Errorf("%d deliveries waited, with %d different delays", waiting, len(pauses))
		}
	})
}

// A dead endpoint costs a handful of messages. When it is back it gets every delivery,
// except those past their deadline.
func TestEndpoint_Down(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		const n = 40 * events.SliceHomes
		w.homes(n)
		w.endpoint("ep")
		w.partner.refuses("ep", true)
		w.worker()
		tr := w.trigger(24)
		<-time.After(10 * time.Minute)
		w.bus.mu.Lock()
		puts, waiting := len(w.bus.retryPuts), len(w.bus.retries)+len(w.bus.slices)+len(w.bus.surplus)
		w.bus.mu.Unlock()
		if waiting > 40 || puts > 1000 {
			t.Errorf("%d unreachable homes wait in %d messages, %d were stored in ten minutes", n, waiting, puts)
		}
		w.partner.refuses("ep", false)
		back := time.Now()
		w.checkDelivered(w.wants(tr, outcomes{events.OutcomeDelivered: n}), 1)
		if took := time.Since(back); took > gate.LongestBreak+10*time.Second {
			t.Errorf("delivery took %s after the recovery", took)
		}
	})
}

// A 410 disables an endpoint for requests in flight, for waiting retries and for later
// triggers.
func TestEndpoint_Gone(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.homes(3)
		w.endpoint("ep")
		w.endpoint("other")
		w.partner.answers(func(_ *http.Request, a arrival) int {
			switch {
			case a.host == "other":
				return http.StatusOK
			case a.home == homeID(1):
				<-time.After(time.Second) // the other requests fail first, and wait
				return http.StatusGone
			default:
				return http.StatusInternalServerError
			}
		})
		w.worker()
		reasons := map[string]string{}
		for _, d := range w.wants(w.trigger(24), outcomes{events.OutcomeDelivered: 3, events.OutcomeFailed: 3}) {
			reasons[d.EndpointID+" "+d.HomeID] = d.Reason
		}
		for home, want := range map[string]string{homeID(0): "is disabled", homeID(1): "410 Gone", homeID(2): "is disabled"} {
			if got := reasons["ep "+home]; !strings.Contains(got, want) {
				t.Errorf("reason of %s is %q, want %q", home, got, want)
			}
		}
		e, err := storage.Get[storage.WebhookEndpoint](w.store, storage.KindWebhookEndpoint.Ref("org", "ep"))
		if err != nil || e.Enabled {
			t.Errorf("endpoint is enabled: %v, %v", e.Enabled, err)
		}
		before := len(w.partner.got())
		w.wants(w.trigger(24), outcomes{events.OutcomeDelivered: 3})
		for _, a := range w.partner.got()[before:] {
			if a.host == "ep" {
				t.Error("disabled endpoint got a webhook")
			}
		}
	})
}

// A 410 of the server that an endpoint has left says nothing about its new server, which gets
// the deliveries.
func TestEndpoint_GoneAtFormerURL(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		const homes = 2 * events.SliceHomes
		w.homes(homes)
		w.endpoint("ep")
		var moved sync.Once
		w.partner.answers(func(_ *http.Request, a arrival) int {
			if a.host != "ep" {
				return http.StatusOK
			}
			moved.Do(func() {
				w.changeEndpoint("ep", func(e *storage.WebhookEndpoint) { e.URL = "http://new.example/hooks" })
			})
			return http.StatusGone
		})
		w.worker()
		w.wants(w.trigger(24), outcomes{events.OutcomeDelivered: homes})
	})
}

// A 410 does not replace the reason why an endpoint is disabled already.
func TestEndpoint_GoneAfterDisabled(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.homes(1)
		w.endpoint("ep")
		w.partner.answers(func(*http.Request, arrival) int {
			w.changeEndpoint("ep", func(e *storage.WebhookEndpoint) {
				e.Disable(storage.DisabledFailing, "it failed for days", time.Now())
			})
			return http.StatusGone
		})
		w.worker()
		w.wants(w.trigger(24), outcomes{events.OutcomeFailed: 1})
		e, err := storage.Get[storage.WebhookEndpoint](w.store, storage.KindWebhookEndpoint.Ref("org", "ep"))
		if err != nil || e.Disabled == nil || e.Disabled.Reason != storage.DisabledFailing {
			t.Errorf("endpoint is disabled because of %+v, %v", e.Disabled, err)
		}
	})
}

// While an endpoint that responds 410 cannot be disabled, its deliveries are retried: no
// delivery log says that it was disabled.
func TestEndpoint_GoneBeforeOutage(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		const homes = 3
		w.homes(homes)
		w.endpoint("ep")
		w.partner.answers(func(*http.Request, arrival) int { return http.StatusGone })
		w.log.Intercept(func(storage.Write) error { return storage.ErrUnavailable })
		w.worker()
		tr := w.trigger(24)
		<-time.After(time.Second)
		w.log.Intercept(nil)
		for _, d := range w.wants(tr, outcomes{events.OutcomeFailed: homes}) {
			if e, err := storage.Get[storage.WebhookEndpoint](w.store, storage.KindWebhookEndpoint.Ref("org", "ep")); err != nil || e.Enabled {
				t.Errorf("endpoint is enabled: %v, %v, and the reason is %q", e.Enabled, err, d.Reason)
			}
		}
	})
}

func TestEndpoint_DeletedDuringRetry(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.homes(1)
		w.endpoint("ep")
		w.partner.answers(func(*http.Request, arrival) int { return 500 })
		w.worker()
		tr := w.trigger(24)
		<-time.After(time.Second)
		w.delete(storage.KindWebhookEndpoint.Ref("org", "ep"))
		list := w.wants(tr, outcomes{events.OutcomeFailed: 1})
		if d := list[0]; !strings.Contains(d.Reason, "deleted") || d.Attempt != 1 || d.MessageID == "" {
			t.Errorf("delivery is %+v", d)
		}
	})
}

// Changes between two attempts do not change the message.
func TestRetry_SameMessage(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.homes(1)
		w.endpoint("ep")
		w.partner.answers(failing(500, 3, ""))
		w.worker()
		tr := w.trigger(24)
		<-time.After(time.Second)
		home, err := storage.Update(t.Context(), w.store, storage.KindHome.Ref("org", homeID(0)), func(h *storage.Home) error {
			h.RatePlanID, h.Timezone = "gone", "America/New_York"
			return nil
		})
		if err != nil || home.RatePlanID != "gone" {
			t.Fatal(err)
		}
		w.checkDelivered(w.wants(tr, outcomes{events.OutcomeDelivered: 1}), 1) // compares bodies
		if got := w.partner.got(); len(got) != 4 {
			t.Errorf("%d attempts, want 4", len(got))
		}
	})
}

// A panic for one home is that home's failed attempt.
func TestAttempt_Panic(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		n := w.worker()
		tr := w.trigger(24)
		e := newTarget(storage.DefaultRetryPolicy())
		r := request{
			all:     []job{{Message: webhook.NewMessage(&tr, "ep", signals.Signal{HomeID: "h"}, storage.FormatSignal), target: e, attempt: 1}}, // without a curve
			results: make([]result, 1), jobs: []int{0}, target: e,
		}
		n.attempt(t.Context(), &r, webhook.GetScratch())
		if r := r.results[0]; r.delivery.Outcome != events.OutcomeRetrying || r.nextAttempt != 2 || r.dueAt.IsZero() || r.delivery.Reason != "an internal error" {
			t.Errorf("delivery is %+v", r)
		}
	})
}

// A retry survives its worker's death at any point, with one outcome for each home.
func TestRetry_WorkerDies(t *testing.T) {
	for _, point := range []string{
		"before put retries", "after put retries", "before put receipt", "after put receipt", "before ack retry", "before ack slice", "before position",
	} {
		for times := 1; times <= 3; times++ {
			inWorld(t, func(t *testing.T, w *world) {
				const n = 10
				w.homes(n)
				w.endpoint("ep")
				w.partner.answers(failing(500, 3*n, ""))
				dying := w.worker(dieAt(point, times))
				tr := w.trigger(24)
				w.bus.await(func() bool { return dying.conn.isDead() || w.bus.idleLocked() })
				w.worker()
				list := w.wants(tr, outcomes{events.OutcomeDelivered: n})
				most := 3
				if point == "before ack retry" || point == "after put receipt" {
					most = 1 // the receipt lists the deliveries
				}
				w.checkDelivered(list, most)
				if t.Failed() {
					t.Logf("died %s, time %d", point, times)
				}
			})
		}
	}
}

// A retry that is requeued by several stops is neither lost nor marked as completed.
func TestRetry_RequeuedByStops(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.options.DrainTimeout = time.Second
		w.homes(2)
		w.endpoint("ep", func(e *storage.WebhookEndpoint) { e.TimeoutSeconds = 60; e.RateLimit = 0.01 })
		tr := w.trigger(24)
		for range 5 {
			n := w.worker()
			<-time.After(3 * time.Second)
			n.stop()
		}
		w.worker()
		list := w.wants(tr, outcomes{events.OutcomeDelivered: 2})
		w.checkDelivered(list, 1)
		for _, d := range list {
			if d.Attempt != 1 {
				t.Errorf("%s needed %d attempts", d.HomeID, d.Attempt)
			}
		}
	})
}

// An endpoint's rate limit spreads its deliveries.
func TestRateLimit_Spread(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.homes(60)
		w.endpoint("ep", func(e *storage.WebhookEndpoint) { e.RateLimit = 2 })
		w.worker()
		began := time.Now()
		w.wants(w.trigger(24), outcomes{events.OutcomeDelivered: 60})
		if took := time.Since(began); took < 29*time.Second || took > 40*time.Second {
			t.Errorf("60 deliveries at 2 per second took %s", took)
		}
	})
}

// An endpoint whose rate limit admits fewer deliveries than the triggers have still gets as
// many as it admits: superseded deliveries take no place in it.
func TestRateLimit_NewerTriggers(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.homes(events.SliceHomes)
		w.endpoint("ep", func(e *storage.WebhookEndpoint) { e.RateLimit = 0.02 })
		w.worker()
		const triggers, each = 24, 18 // in 15 minutes
		for range triggers {
			w.trigger(24)
			<-time.After(15 * time.Minute)
		}
		if got := len(w.partner.got()); got < (triggers-1)*each || got > triggers*each+1 {
			t.Errorf("%d webhooks in %d quarter hours, want %d in each", got, triggers, each)
		}
	})
}

// A changed rate limit counts within 10 s for the requests that wait already, too.
func TestRateLimit_Raised(t *testing.T) {
	for name, change := range map[string]func(*storage.WebhookEndpoint){
		"raised":  func(e *storage.WebhookEndpoint) { e.RateLimit = 1000 },
		"removed": func(e *storage.WebhookEndpoint) { e.RateLimit = 0 },
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				const n = 20 * events.SliceHomes
				w.homes(n)
				w.endpoint("ep", func(e *storage.WebhookEndpoint) { e.RateLimit = 0.01 })
				w.worker()
				tr := w.trigger(24)
				<-time.After(time.Minute)
				w.changeEndpoint("ep", change)
				began := time.Now()
				w.wants(tr, outcomes{events.OutcomeDelivered: n})
				if took := time.Since(began); took > 15*time.Second {
					t.Errorf("%d deliveries took %s", n, took)
				}
			})
		})
	}
}

// An endpoint that hangs does not delay other endpoints.
func TestEndpoint_SlowNeighbor(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		const n = 8 * events.SliceHomes
		w.homes(n)
		w.endpoint("hangs")
		w.partner.answers(func(r *http.Request, a arrival) int {
			if a.host == "hangs" {
				<-r.Context().Done()
				return 0
			}
			<-time.After(10 * time.Millisecond)
			return http.StatusOK
		})
		w.worker()
		w.trigger(24)
		<-time.After(time.Second) // the endpoint hangs now
		w.neighbor(n)
		w.neighborIsFast(n, 10*time.Second)
	})
}

// An endpoint whose requests respond slowly does not delay the retries of another endpoint in the
// same slice.
func TestRetry_SlowNeighbor(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.homes(events.SliceHomes)
		w.endpoint("slow")
		w.endpoint("fails", func(e *storage.WebhookEndpoint) { e.RetryPolicy.InitialSeconds = 1 })
		w.partner.answers(func(_ *http.Request, a arrival) int {
			switch {
			case a.host == "slow":
				<-time.After(3 * time.Second)
			case len(w.partner.attempts(a.host, a.home)) == 0:
				return http.StatusInternalServerError
			}
			return http.StatusOK
		})
		w.worker()
		began := time.Now()
		w.wants(w.trigger(24), outcomes{events.OutcomeDelivered: 2 * events.SliceHomes})
		if took := time.Since(began); took < 12*time.Second {
			t.Fatalf("the slow endpoint took %s", took)
		}
		for i := range events.SliceHomes {
			home := homeID(i)
			if at := w.partner.attempts("fails", home); len(at) != 2 || at[1].Sub(began) > 4*time.Second {
				t.Fatalf("%s had attempts at %v, the walk began at %s", home, at, began)
			}
		}
	})
}

// slicesBesideFast is the number of slices in besideFast.
const slicesBesideFast = 20

// besideFast delivers signals to a fast endpoint and to the endpoint slow, whose requests respond
// answers. All must arrive.
func (w *world) besideFast(respond func(*http.Request, arrival) int) {
	w.options.EndpointConcurrency = 16
	w.homes(slicesBesideFast * events.SliceHomes)
	w.endpoint("fast")
	w.endpoint("slow")
	w.partner.answers(func(r *http.Request, a arrival) int {
		if a.host == "slow" {
			return respond(r, a)
		}
		return http.StatusOK
	})
	w.worker()
	w.wants(w.trigger(2), outcomes{events.OutcomeDelivered: 2 * slicesBesideFast * events.SliceHomes})
}

// A slow endpoint beside a fast one has a retry for each slice. They wait for their turn:
// if each were stored again every few seconds, a trigger would cost writes in proportion to
// the square of its homes.
func TestRetry_SlowBesideFast(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.besideFast(func(*http.Request, arrival) int {
			<-time.After(400 * time.Millisecond)
			return http.StatusOK
		})
		if n := len(w.bus.retryPuts); n > 2*slicesBesideFast {
			t.Errorf("%d slices have stored %d retries", slicesBesideFast, n)
		}
	})
}

// Retries of a slow endpoint are sent one after another. If all were sent at once, a kill
// would repeat a part of each.
func TestRetry_SlowEndpointInTurn(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		var mu sync.Mutex
		begun, most := map[int]int{}, 0 // requests of each slice that has begun and not ended
		w.besideFast(func(_ *http.Request, a arrival) int {
			var home int
			_, _ = fmt.Sscanf(a.home, "home_%d", &home)
			slice := home / events.SliceHomes
			mu.Lock()
			begun[slice]++
			most = max(most, len(begun))
			if begun[slice] == events.SliceHomes {
				delete(begun, slice)
			}
			mu.Unlock()
			<-time.After(400 * time.Millisecond)
			return http.StatusOK
		})
		if limit := w.options.slowSlices() + w.options.Slices; most > limit {
			t.Errorf("%d slices were sent at once to the slow endpoint, want at most %d", most, limit)
		}
	})
}

// A retry of a silent endpoint is postponed, not returned to its queue: it would come back at
// once.
func TestRetry_SilentEndpoint(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		began := time.Now()
		w.besideFast(func(r *http.Request, _ arrival) int {
			if time.Since(began) < 5*time.Minute {
				<-r.Context().Done()
				return 0
			}
			return http.StatusOK
		})
		if w.bus.redelivered != 0 {
			t.Errorf("%d messages were redelivered", w.bus.redelivered)
		}
	})
}

// A retry that waits for a slow endpoint is given up in time.
func TestRetry_DeadlineAtSlowEndpoint(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		const slices, limit = 40, 60
		w.plan("slow")
		w.homes(events.SliceHomes)
		slow := make([]storage.Entity, slices*events.SliceHomes)
		for i := range slow {
			slow[i] = storagetest.Home("org", fmt.Sprintf("slow_%04d", i), "slow")
		}
		storagetest.Put(w.t, w.store, slow...)
		w.endpoint("ep", patience(limit))
		w.partner.answers(func(_ *http.Request, a arrival) int {
			if strings.HasPrefix(a.home, "slow") {
				<-time.After(1500 * time.Millisecond)
				return http.StatusOK
			}
			return http.StatusInternalServerError
		})
		n := w.worker()
		failed := w.triggerOf("org", 4, "plan")
		w.bus.await(func() bool { return len(w.bus.receipts) > slices }) // its walk has ended
		w.triggerOf("org", 4, "slow")
		<-time.After(limit * time.Second * 3 / 2)
		_, list := w.seen(failed)
		for _, d := range list {
			if d.Outcome != events.OutcomeFailed {
				t.Fatalf("%s is %s after %d s, want FAILED after %d s", d.HomeID, d.Outcome, limit*3/2, limit)
			}
		}
		n.conn.kill()
	})
}

// A newer trigger supersedes waiting retries.
func TestSupersede_Retries(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.homes(3)
		w.endpoint("ep")
		w.partner.answers(failing(500, 3, ""))
		w.worker()
		first := w.trigger(24)
		<-time.After(time.Second)
		second := w.trigger(24)
		w.settled(second)
		w.wants(first, outcomes{events.OutcomeSuperseded: 3})
		for _, d := range w.wants(second, outcomes{events.OutcomeDelivered: 3}) {
			if d.Attempt != 1 {
				t.Errorf("%s needed %d attempts", d.HomeID, d.Attempt)
			}
		}
	})
}

func TestSendTest_Results(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.endpoint("ep", func(e *storage.WebhookEndpoint) { e.Enabled = false })
		tester := tester.New(w.store, w.vault, send.New(send.Options{Dial: w.partner.dial, IdlePerDestination: 1}), channel.Mail{})
		defer tester.Close()
		e, err := storage.Get[storage.WebhookEndpoint](w.store, storage.KindWebhookEndpoint.Ref("org", "ep"))
		if err != nil {
			t.Fatal(err)
		}
		for status, want := range map[int]events.Outcome{200: events.OutcomeDelivered, 500: events.OutcomeFailed, 410: events.OutcomeFailed} {
			w.partner.answers(func(*http.Request, arrival) int { return status })
			d, err := tester.SendTest(t.Context(), e)
			if err != nil || d.Outcome != want || d.Status != status || d.Attempt != 1 || d.EndpointID != "ep" || d.MessageID == "" {
				t.Errorf("%d: %+v, %v", status, d, err)
			}
		}
		got := w.partner.got() // the partner has verified them
		if len(got) != 3 || got[0].id == got[1].id {
			t.Errorf("arrivals are %+v", got)
		}
		e.ID = "none"
		if _, err := tester.SendTest(t.Context(), e); err == nil {
			t.Error("missing endpoint got a webhook")
		}
		w.endpoint("down")
		w.partner.refuses("down", true)
		e.ID = "down"
		if d, err := tester.SendTest(t.Context(), e); err != nil || d.Outcome != events.OutcomeFailed || !strings.Contains(d.Reason, fmt.Sprint(errRefused)) {
			t.Errorf("refused: %+v, %v", d, err)
		}
	})
}
