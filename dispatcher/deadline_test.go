package dispatcher

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gridhook/gridhook/dispatcher/gate"
	"github.com/gridhook/gridhook/dispatcher/policy"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// The window or the endpoint's policy ends the retries. No request is sent after the
// deadline.
func TestRetry_Deadline(t *testing.T) {
	for name, tt := range map[string]struct {
		hours  int
		giveUp float64 // seconds
		dead   bool    // refuses connections instead of responding 500
		want   events.Outcome
		ends   time.Duration
	}{
		"with the window":                {1, 86400, false, events.OutcomeExpired, time.Hour},
		"with the window, dead endpoint": {1, 86400, true, events.OutcomeExpired, time.Hour},
		"with the policy":                {24, 600, false, events.OutcomeFailed, 10 * time.Minute},
		"with the policy, dead endpoint": {24, 600, true, events.OutcomeFailed, 10 * time.Minute},
		"with the day":                   {48, 86400, false, events.OutcomeFailed, 24 * time.Hour},
		"at once":                        {24, 0, false, events.OutcomeFailed, 0},
		"at once, dead endpoint":         {24, 0, true, events.OutcomeFailed, 0},
	} {
		inWorld(t, func(t *testing.T, w *world) {
			n := 5
			if tt.ends < time.Hour {
				n += events.SliceHomes
			}
			w.homes(n)
			w.endpoint("ep", patience(tt.giveUp))
			w.partner.answers(func(*http.Request, arrival) int { return 500 })
			w.partner.refuses("ep", tt.dead)
			w.worker()
			tr := w.trigger(tt.hours)
			deadline := time.Now().Add(tt.ends)
			for _, d := range w.wants(tr, outcomes{tt.want: n}) {
				down := d.Reason == "the endpoint is down, and the deadline has passed"
				if d.Reason == "" || d.Attempt == 0 && !down || !d.NextAt.IsZero() {
					t.Errorf("%s: delivery ended as %+v", name, d)
					break
				}
			}
			for _, a := range w.partner.got() {
				if late := a.at.Sub(deadline); late > 0 && tt.giveUp > 0 {
					t.Errorf("%s: %s was sent %s after its deadline", name, a.home, late)
					break
				}
			}
			if tt.giveUp == 0 && !tt.dead && len(w.partner.got()) != n {
				t.Errorf("%s: %d attempts, want one for each of %d homes", name, len(w.partner.got()), n)
			}
			if since := time.Since(deadline); since > 2*time.Minute {
				t.Errorf("%s: delivery ended %s after its deadline", name, since)
			}
		})
	}
}

// The policy limits the wait for an endpoint that is down, not for a slow endpoint. Each
// delivery to a slow endpoint has its first attempt under any policy.
func TestReschedule_SlowEndpoint(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		const homes = 16 * events.SliceHomes // more than the slow endpoint accepts at once, in any order
		w.homes(homes)
		w.endpoint("fast")
		w.endpoint("slow", patience(0))
		w.partner.answers(taking(func(a arrival) int {
			if a.host == "slow" {
				<-time.After(time.Second)
			}
			return http.StatusOK
		}))
		w.worker()
		w.wants(w.trigger(2), outcomes{events.OutcomeDelivered: 2 * homes})
		rescheduled := 0
		w.bus.mu.Lock()
		defer w.bus.mu.Unlock()
		for _, r := range w.bus.receipts {
			for _, d := range r.Deliveries {
				if d.Outcome != events.OutcomeRetrying {
					continue
				}
				if rescheduled++; !strings.Contains(d.Reason, "slow") {
					t.Fatalf("waiting delivery is %+v", d)
				}
			}
		}
		if rescheduled == 0 {
			t.Error("no delivery waited for the slow endpoint")
		}
	})
}

// A worker that starts after the window makes no first attempt.
func TestWorker_AfterWindow(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.homes(3)
		w.endpoint("ep")
		tr := w.trigger(1)
		<-time.After(2 * time.Hour)
		w.worker()
		w.wants(tr, outcomes{events.OutcomeExpired: 3})
		if got := w.partner.got(); len(got) != 0 {
			t.Errorf("worker sent %d webhooks", len(got))
		}
	})
}

func TestRetry_RetryAfter(t *testing.T) {
	for header, want := range map[string]time.Duration{"90": 90 * time.Second, "999999": policy.MaxRetryAfter} {
		inWorld(t, func(t *testing.T, w *world) {
			w.homes(1)
			w.endpoint("ep")
			first := true
			w.partner.answers(func(r *http.Request, _ arrival) int {
				if !first {
					return http.StatusOK
				}
				first = false
				return http.StatusTooManyRequests
			})
			w.partner.server.Handler = withHeader(w.partner, "Retry-After", header)
			w.worker()
			w.wants(w.trigger(24), outcomes{events.OutcomeDelivered: 1})
			at := w.partner.attempts("ep", homeID(0))
			if len(at) != 2 || at[1].Sub(at[0]) < want || at[1].Sub(at[0]) > want+gate.LongestBreak {
				t.Errorf("with Retry-After %s attempts came at %v, want a delay of %s", header, at, want)
			}
		})
	}
}

// A delivery that is given up because of a Retry-After says so.
func TestRetry_RetryAfterBeyondDeadline(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.homes(1)
		w.endpoint("ep", patience(60))
		w.partner.answers(func(*http.Request, arrival) int {
			<-time.After(5 * time.Second)
			return http.StatusServiceUnavailable
		})
		w.partner.server.Handler = withHeader(w.partner, "Retry-After", "90")
		w.worker()
		began := time.Now()
		_, list := w.settled(w.trigger(24))
		const want = "the endpoint responded 503 Service Unavailable, and asked to wait beyond the deadline of this signal"
		if len(list) != 1 || list[0].Outcome != events.OutcomeFailed || list[0].Reason != want {
			t.Errorf("the deliveries are %+v, want one that failed because %s", list, want)
		} else if late := list[0].At.Sub(began); late > time.Second {
			t.Errorf("the last attempt is shown %s after its start", late)
		}
	})
}

// The retry of a slice is due after the wait that one of its responses asks for. Another worker
// knows the wait only from there.
func TestRetry_RetryAfterOfOneHome(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		const homes = 3
		w.homes(homes)
		w.endpoint("ep")
		waits := events.MessageID(w.trigger(24).ID, homeID(0), "ep")
		w.partner.hosts("ep", http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
			if r.Header.Get("webhook-id") == waits {
				answer.Header().Set("Retry-After", "90")
			}
			answer.WriteHeader(http.StatusServiceUnavailable)
		}))
		w.worker()
		<-time.After(time.Minute)
		synctest.Wait()
		for _, d := range w.bus.receipts[0].Deliveries {
			if wait := d.NextAt.Sub(d.At.Time); wait < 90*time.Second {
				t.Errorf("%s is due %s after its attempt, want 90 s", d.HomeID, wait)
			}
		}
	})
}

// withHeader adds a header to every response.
func withHeader(h http.Handler, name, value string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(name, value)
		h.ServeHTTP(w, r)
	})
}

// The rate limit may delay an attempt past its deadline. The attempt is then not made, and
// the delivery ends soon.
func TestRateLimit_AfterWindow(t *testing.T) {
	for _, perSecond := range []float64{0.001, 1e-6} { // one per thousand seconds, and one in eleven days
		inWorld(t, func(t *testing.T, w *world) {
			w.homes(10)
			w.endpoint("ep", func(e *storage.WebhookEndpoint) { e.RateLimit = perSecond })
			w.worker()
			tr := w.trigger(1)
			_, list := w.settled(tr)
			if late := time.Since(tr.End.Time); late > 2*time.Minute {
				t.Errorf("at %v/s the trigger is completed %s after its window", perSecond, late)
			}
			for _, a := range w.partner.got() {
				if late := a.at.Sub(tr.End.Time); late >= 0 {
					t.Errorf("%s arrived %s after its window", a.home, late)
				}
			}
			if len(list) != 10 || repeated(list) != "" {
				t.Errorf("%d deliveries have an outcome", len(list))
			}
		})
	}
}
