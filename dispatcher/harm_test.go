package dispatcher

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gridhook/gridhook/dispatcher/send"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/storage"
)

// An endpoint that responds slowly and never gets a retry does not take the slots of
// another organization.
func TestPark_GiveUpAtOnce(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		const homes = 500
		w.options = Options{Slices: 16, Concurrency: 1024, EndpointConcurrency: 64, DrainTimeout: 30 * time.Second, Guard: send.Guard{AllowPrivate: true}}
		w.endpoint("ep", patience(0))
		w.homes(40 * events.SliceHomes)
		w.neighbor(homes)
		w.partner.answers(func(r *http.Request, a arrival) int {
			if a.host == "ep" {
				select {
				case <-time.After(9 * time.Second):
				case <-r.Context().Done():
				}
			}
			return http.StatusOK
		})
		n := w.worker()
		w.trigger(24)
		<-time.After(time.Minute)
		neighbor := w.triggerOf("neighbor", 24)
		<-time.After(time.Minute)
		delivered := 0
		for _, a := range w.partner.got() {
			if a.host == "next-door" {
				delivered++
			}
		}
		if delivered != homes {
			t.Errorf("%d of %d webhooks of %s arrived within a minute", delivered, homes, neighbor.ID)
		}
		n.conn.kill()
	})
}

// Slices of OpenADR changes take turns as slices of homes do.
func TestTurns_GreedyChanges(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		const slices, changes = 8, 100
		w.options.Concurrency, w.options.EndpointConcurrency = 256, 64
		w.subscriptions(slices*events.SliceHomes, "callbacks.example")
		w.neighbor(slices * events.SliceHomes)
		var calls atomic.Int64
		w.partner.server.Handler = http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
			<-time.After(time.Millisecond)
			if r.Host == "callbacks.example" {
				calls.Add(1)
				return
			}
			w.partner.ServeHTTP(out, r)
		})
		n := w.worker()
		for i := range changes {
			change := events.NewTrigger("org", pricing.Window{Start: time.Now(), End: time.Now().Add(24 * time.Hour)}, time.Now())
			change.ID, change.Revision = fmt.Sprintf("trg_change%d", i), w.store.Revision()
			change.Change = &events.Change{ObjectType: storage.OpenADREvent, ObjectID: "event_1", Operation: events.OperationUpdate, Object: []byte(`{}`)}
			w.bus.accept(change)
		}
		<-time.After(50 * time.Millisecond)
		before := calls.Load()
		neighbor := w.triggerOf("neighbor", 4)
		w.bus.await(func() bool {
			done := 0
			for _, r := range w.bus.receipts {
				if r.TriggerID == neighbor.ID {
					done++
				}
			}
			return done == slices
		})
		if got := calls.Load() - before; got > 3*slices*events.SliceHomes {
			t.Errorf("%d callbacks of the greedy organization came before the last webhook of the other", got)
		}
		n.conn.kill()
	})
}

// A retry whose acknowledgement is lost is stored twice and made once.
func TestRetry_LostAcknowledgement(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.homes(events.SliceHomes)
		w.endpoint("ep")
		var down atomic.Bool
		down.Store(true)
		w.partner.answers(func(*http.Request, arrival) int {
			if down.Load() {
				return http.StatusInternalServerError
			}
			return http.StatusOK
		})
		w.worker()
		w.worker()
		w.bus.loseAck.Store(true)
		trigger := w.trigger(24)
		<-time.After(time.Second)
		down.Store(false)
		w.settled(trigger)
		<-time.After(time.Minute)
		if got := len(w.partner.got()); w.bus.loseAck.Load() || got != 2*events.SliceHomes {
			t.Errorf("%d requests, want %d", got, 2*events.SliceHomes)
		}
	})
}

// A postponed retry whose acknowledgement is lost is stored twice and made once.
func TestRetry_PostponedLostAcknowledgement(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.homes(2)
		w.plan("other")
		w.changeHome(homeID(1), func(h *storage.Home) { h.RatePlanID = "other" })
		w.endpoint("ep")
		w.partner.server.Handler = withHeader(w.partner, "Retry-After", "6")
		fails, holds := failing(http.StatusInternalServerError, 1, homeID(0)), failing(http.StatusServiceUnavailable, 1, homeID(1))
		w.partner.answers(func(r *http.Request, a arrival) int { return max(fails(r, a), holds(r, a)) })
		w.worker()
		trigger := w.triggerOf("org", 24, "plan") // its retry is due after 3 s
		<-time.After(time.Second)
		w.triggerOf("org", 24, "other") // the endpoint asks to wait until 7 s
		<-time.After(time.Second)
		w.bus.loseAck.Store(true)
		w.settled(trigger)
		if got := len(w.partner.attempts("ep", homeID(0))); w.bus.loseAck.Load() || got != 2 {
			t.Errorf("%d requests, want one that failed and one more", got)
		}
	})
}

// Receivers that respond with long nonsense do not repeat the deliveries to others.
func TestRecord_LongReasons(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.homes(events.SliceHomes)
		w.endpoint("ep")
		for i := range 3 {
			id := fmt.Sprintf("verbose%d", i)
			w.endpoint(id, patience(0))
			var requests atomic.Int64
			w.partner.hosts(id, http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				if requests.Add(1)%8 == 0 {
					return // so that the breaker stays closed
				}
				conn, _, err := out.(http.Hijacker).Hijack()
				if err != nil {
					t.Error(err)
					return
				}
				_, _ = fmt.Fprintf(conn, "%d%s\r\n\r\n", requests.Load(), strings.Repeat("\x01", 15<<10))
				_ = conn.Close()
			}))
		}
		w.worker()
		w.settled(w.trigger(24))
		got := 0
		for _, a := range w.partner.got() {
			if a.host == "ep" {
				got++
			}
		}
		if got != events.SliceHomes || len(w.bus.dead) != 0 {
			t.Errorf("the good endpoint got %d requests for %d homes; %d dead letters", got, events.SliceHomes, len(w.bus.dead))
		}
	})
}

// A worker that stops leaves the slices that wait for a slow endpoint to other workers.
func TestStop_SlowEndpoint(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		const slices, triggers = 6, 8
		w.options = Options{Slices: 4, Concurrency: 256, EndpointConcurrency: 16, DrainTimeout: 30 * time.Second, Guard: send.Guard{AllowPrivate: true}}
		w.homes(slices * events.SliceHomes)
		w.endpoint("ep")
		// All responses come at the same moments. Otherwise a slice may have one every few
		// milliseconds, so that no slice is slow and none waits.
		const beat = 300 * time.Millisecond
		began := time.Now()
		w.partner.answers(func(*http.Request, arrival) int {
			<-time.After(beat - time.Since(began)%beat)
			return http.StatusOK
		})
		first := w.worker()
		for i := range triggers {
			w.trigger(triggers - i) // none covers an older one
		}
		<-time.After(5500 * time.Millisecond)
		first.stop()
		w.bus.mu.Lock()
		parked := len(w.bus.retryPuts)
		w.bus.mu.Unlock()
		if parked == 0 {
			t.Error("no waiting slice was parked")
		}
		w.partner.answers(func(*http.Request, arrival) int { return http.StatusOK })
		second := w.worker()
		<-time.After(time.Minute)
		second.stop()
		seen := map[string]bool{}
		for _, a := range w.partner.got() {
			if seen[a.id] {
				t.Fatalf("%s was sent twice", a.id)
			}
			seen[a.id] = true
		}
	})
}

// A worker that stops leaves the deliveries that wait for a low rate limit to other workers at
// once.
func TestStop_RateLimit(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		const n = 2 * events.SliceHomes
		w.homes(n)
		w.endpoint("ep", func(e *storage.WebhookEndpoint) { e.RateLimit = 0.5 })
		first := w.worker()
		tr := w.trigger(2)
		<-time.After(15 * time.Second)
		began := time.Now()
		first.stop()
		if took := time.Since(began); took > time.Second {
			t.Errorf("stop took %s", took)
		}
		w.worker()
		w.checkDelivered(w.wants(tr, outcomes{events.OutcomeDelivered: n}), 1)
		if w.bus.redelivered != 0 {
			t.Errorf("%d redeliveries, want none", w.bus.redelivered)
		}
	})
}

// A worker that stops leaves the retries that wait for a slow endpoint to other workers at
// once. The endpoint responds, so they need no delay of the retry policy, and none is given
// up.
func TestStop_WaitingRetries(t *testing.T) {
	for name, until := range map[string]time.Duration{"first attempts": 0, "failed before": 25 * time.Minute} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				const n = 10 * events.SliceHomes
				w.options = Options{Slices: 4, Concurrency: 256, EndpointConcurrency: 16, DrainTimeout: 30 * time.Second, Guard: send.Guard{AllowPrivate: true}}
				w.homes(n)
				w.endpoint("fast")
				w.endpoint("slow", func(e *storage.WebhookEndpoint) {
					e.RetryPolicy.InitialSeconds, e.RetryPolicy.MaxSeconds, e.RetryPolicy.GiveUpSeconds = 3600, 3600, 2700
				})
				began, requests := time.Now(), new(atomic.Int64)
				w.partner.answers(func(_ *http.Request, a arrival) int {
					switch {
					case a.host != "slow":
					case time.Since(began) < until:
						if requests.Add(1)%8 > 0 { // so that the breaker stays closed
							return http.StatusInternalServerError
						}
					default:
						<-time.After(3 * time.Second)
					}
					return http.StatusOK
				})
				first := w.worker()
				tr := w.trigger(2)
				<-time.After(15 * time.Second)
				if until > 0 {
					<-time.After(30 * time.Minute) // the retries are due
				}
				stopped := time.Now()
				first.stop()
				w.worker()
				w.wants(tr, outcomes{events.OutcomeDelivered: 2 * n})
				if took := time.Since(stopped); took > 5*time.Minute {
					t.Errorf("the rest took %s", took)
				}
			})
		})
	}
}

// A good and a slow endpoint of an organization are each as fast as alone, in either order of
// their identifiers.
func TestHarm_SlowBesideGood(t *testing.T) {
	for _, slow := range []string{"a-slow", "z-slow"} {
		for _, c := range []slowBesideGood{
			{latency: 20 * time.Millisecond, slowness: 9 * time.Second},
			{latency: 150 * time.Millisecond, slowness: 9 * time.Second},
			{latency: 150 * time.Millisecond, slowness: time.Second, slices: 20},
			{latency: 20 * time.Millisecond, perSecond: 2.5},
		} {
			c.slow, c.slices = slow, max(c.slices, 10)
			inWorld(t, func(t *testing.T, w *world) { c.test(t, w) })
		}
	}
}

// slowBesideGood is a walk to a good endpoint with some latency, and to an endpoint that is
// slow or has a rate limit.
type slowBesideGood struct {
	slow              string
	slices            int
	latency, slowness time.Duration
	perSecond         float64
}

func (c slowBesideGood) test(t *testing.T, w *world) {
	const slots, each = 4, 16
	w.options.Slices, w.options.Concurrency, w.options.EndpointConcurrency = slots, 256, each
	n := c.slices * events.SliceHomes
	w.homes(n)
	w.endpoint("good")
	w.endpoint(c.slow, func(e *storage.WebhookEndpoint) { e.RateLimit = c.perSecond })
	w.partner.answers(func(_ *http.Request, a arrival) int {
		if a.host == c.slow {
			<-time.After(c.slowness)
		} else {
			<-time.After(c.latency)
		}
		return http.StatusOK
	})
	at := time.Duration(n/each) * c.slowness
	if c.perSecond > 0 {
		at = time.Duration(float64(n) / c.perSecond * float64(time.Second))
	}
	w.worker()
	began := time.Now()
	w.trigger(2) // hours: short bodies
	<-time.After(2*at + time.Minute)
	got, last := map[string]int{}, map[string]time.Time{}
	for _, a := range w.partner.got() {
		got[a.host], last[a.host] = got[a.host]+1, storage.Later(last[a.host], a.at)
	}
	for host, alone := range map[string]time.Duration{"good": time.Duration(n/each) * c.latency, c.slow: at} {
		if took := last[host].Sub(began); got[host] != n || took > 2*alone {
			t.Errorf("%+v: %d webhooks to %s in %s, want %d in %s", c, got[host], host, took, n, alone)
		}
	}
}

// A damaged record of the organization ends its triggers. They are not repeated for ever.
func TestHarm_DamagedOrganization(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.homes(3)
		w.endpoint("ep")
		ref := storage.OrganizationRef("org")
		r, err := storage.Query(w.store, func(v storage.View) (storage.Record, error) { return v.Get(ref) })
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.log.Append(t.Context(), storage.Write{Ref: ref, Expect: r.Revision, First: r.First, At: time.Now(), Value: []byte("{")}); err != nil {
			t.Fatal(err)
		}
		w.worker()
		w.wants(w.trigger(24), outcomes{events.OutcomeFailed: 3})
		if len(w.bus.dead) != 1 {
			t.Errorf("%d dead letters, want 1", len(w.bus.dead))
		}
	})
}

// While the known signals of onChange endpoints cannot be stored, slices that have delivered
// end. Other organizations go on.
func TestHarm_KnownUnavailable(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.homes(2 * events.SliceHomes)
		w.endpoint("ep", onChange)
		w.organization("neighbor", "next-door", 2*events.SliceHomes, onChange)
		w.organization("third", "third-ep", 1)
		var unavailable atomic.Bool
		w.bus.refuse = func(name, _ string) error {
			if name == "put known" && unavailable.Load() {
				return storage.ErrUnavailable
			}
			return nil
		}
		w.partner.answers(func(*http.Request, arrival) int {
			<-time.After(50 * time.Millisecond) // a slice keeps its slot
			return http.StatusOK
		})
		w.worker()
		w.trigger(24) // the endpoints have responded well since
		w.triggerOf("neighbor", 24)
		<-time.After(time.Minute)
		first, second := w.trigger(23), w.triggerOf("neighbor", 23)
		<-time.After(25 * time.Millisecond)
		unavailable.Store(true)
		<-time.After(10 * time.Second)
		other := w.triggerOf("third", 24)
		<-time.After(10 * time.Second)
		if !slices.ContainsFunc(w.partner.got(), func(a arrival) bool { return a.host == "third-ep" }) {
			t.Error("another organization waits")
		}
		unavailable.Store(false)
		w.wants(other, outcomes{events.OutcomeDelivered: 1})
		w.wants(first, outcomes{events.OutcomeDelivered: 2 * events.SliceHomes})
		w.wants(second, outcomes{events.OutcomeDelivered: 2 * events.SliceHomes})
	})
}

// A notice whose endpoint, channel or organization does not decode is dropped. Its task is
// not redelivered for ever.
func TestHarm_DamagedReceiverOfNotice(t *testing.T) {
	for name, ref := range map[string]storage.Ref{
		"channel": storage.KindChannel.Ref("org", "own"), "endpoint": storage.KindWebhookEndpoint.Ref("org", "ep"), "organization": storage.OrganizationRef("org"),
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				w.homes(1)
				w.endpoint("ep", only(storage.EventTriggerCompleted))
				w.chat("org", "own").status.Store(http.StatusInternalServerError)
				w.partner.answers(taking(func(arrival) int { return http.StatusInternalServerError }))
				w.worker()
				n := quotaNotice("org", "quota")
				n.Type, n.Data = storage.EventTriggerCompleted, []byte(`{}`)
				if ref.Kind == storage.KindChannel {
					n = quotaNotice("org", "quota")
				}
				w.putNotice(n)
				<-time.After(time.Second) // the first attempt has failed
				w.overwrite(ref, "{")
				<-time.After(time.Hour)
				w.bus.mu.Lock()
				defer w.bus.mu.Unlock()
				if w.bus.redelivered > 0 || !w.bus.idleLocked() {
					t.Errorf("%d tasks wait after %d redeliveries", len(w.bus.tasks)+len(w.bus.messages), w.bus.redelivered)
				}
			})
		})
	}
}

// The operator's channels get the notice of an organization whose record does not decode. The
// notice is not redelivered.
func TestHarm_DamagedOrganizationOfNotice(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		operator := w.chat(storage.Shared, "ops")
		w.endpoint("ep", only(storage.EventTriggerCompleted))
		w.overwrite(storage.OrganizationRef("org"), "{")
		w.worker()
		n := quotaNotice("org", "quota")
		n.Type, n.Data = storage.EventTriggerCompleted, []byte(`{}`)
		w.putNotice(n)
		n = quotaNotice("org", "near")
		w.putNotice(n)
		<-time.After(time.Hour)
		w.bus.mu.Lock()
		defer w.bus.mu.Unlock()
		if got := operator.got(); w.bus.redelivered > 0 || len(got) != 1 {
			t.Errorf("the operator got %q after %d redeliveries", got, w.bus.redelivered)
		}
	})
}
