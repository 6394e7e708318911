package dispatcher

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/dispatcher/send"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

func batchesOf(n int) func(*storage.WebhookEndpoint) {
	return func(e *storage.WebhookEndpoint) { e.BatchSize = n }
}

// wholly sets the function that responds to whole batches.
func (p *partner) wholly(answer func(r *http.Request, size int) (int, string)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.whole = answer
}

// came returns the batches that arrived at a host.
func (p *partner) came(host string) (list []batchArrival) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, b := range p.batches {
		if b.host == host {
			list = append(list, b)
		}
	}
	return list
}

// An endpoint with batches gets the same messages as an endpoint without, in as few
// requests as its batch size allows.
func TestBatch_SameMessages(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		const homes, size = 2*events.SliceHomes + 10, 30
		w.homes(homes)
		w.endpoint("plain")
		w.endpoint("ep", batchesOf(size), gzipped)
		w.worker()
		log := w.wants(w.trigger(24), outcomes{events.OutcomeDelivered: 2 * homes})
		w.checkDelivered(nil, 1)
		bodies := map[string]uint64{}
		for _, a := range w.partner.got() {
			bodies[a.host+a.home] = a.body
		}
		for i := range homes {
			if home := homeID(i); bodies["plain"+home] != bodies["ep"+home] {
				t.Fatalf("message of %s differs in a batch", home)
			}
		}
		ids := map[string]bool{}
		sizes := map[int]int{}
		for _, b := range w.partner.came("ep") {
			ids[b.id] = true
			sizes[b.size]++
		}
		if fmt.Sprint(sizes) != "map[4:2 10:1 30:4]" || len(ids) != 7 || len(w.partner.came("plain")) != 0 {
			t.Errorf("batch sizes are %v, with %d identifiers", sizes, len(ids))
		}
		for _, d := range log {
			if ids[d.BatchID] != (d.EndpointID == "ep") || d.EndpointID == "plain" && d.BatchID != "" {
				t.Fatalf("%s went to %s in batch %q", d.HomeID, d.EndpointID, d.BatchID)
			}
		}
		if got := testutilAttempts(w); got != homes+7 {
			t.Errorf("worker counted %d requests", got)
		}
	})
}

// testutilAttempts returns the number of requests that the first worker counted.
func testutilAttempts(w *world) int { return int(w.nodes[0].Attempts()) }

// A response's result for one message concerns only that message. The message is retried
// or fails, and the endpoint counts as healthy.
func TestBatch_PartialFailure(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.homes(20)
		w.endpoint("ep", batchesOf(10))
		w.partner.answers(func(r *http.Request, a arrival) int {
			switch {
			case a.home == homeID(3) && len(w.partner.attempts("ep", a.home)) < 2:
				return http.StatusServiceUnavailable
			case a.home == homeID(15):
				return http.StatusGone
			}
			return http.StatusOK
		})
		w.worker()
		for _, d := range w.wants(w.trigger(24), outcomes{events.OutcomeDelivered: 19, events.OutcomeFailed: 1}) {
			switch want := map[string]int{homeID(3): 3}[d.HomeID]; {
			case d.Outcome == events.OutcomeFailed && (d.HomeID != homeID(15) || d.Status != 410 || d.Response != "not this one"):
				t.Errorf("failed delivery is %+v", d)
			case d.Attempt != max(1, want):
				t.Errorf("%s needed %d attempts", d.HomeID, d.Attempt)
			case d.HomeID == homeID(3) && d.BatchID != w.partner.came("ep")[3].id:
				t.Errorf("last batch of %s is %s", d.HomeID, d.BatchID)
			}
		}
		if e, err := storage.Get[storage.WebhookEndpoint](w.store, storage.KindWebhookEndpoint.Ref("org", "ep")); err != nil || !e.Enabled {
			t.Errorf("endpoint is disabled: %v", err)
		}
		came := w.partner.came("ep")
		if len(came) != 4 || came[2].size != 1 || came[3].id != came[2].id {
			t.Errorf("batches are %+v", came)
		}
	})
}

// A failed batch is retried as a whole, with the same identifier. Other batches of its
// slice do not wait for it.
func TestBatch_Failed(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		answer string
		class  events.ErrorClass
	}{
		"a status":     {503, "busy", events.ErrorStatus},
		"no results":   {200, `{"results":[{"webhookId":"x"}]}`, events.ErrorResponse},
		"broken off":   {200, `{"results":[{"webhookId":"x","status":2`, events.ErrorResponse},
		"other kinds":  {200, `{"results":{"x":200}}`, events.ErrorResponse},
		"too much":     {200, `{"results":[` + strings.Repeat(" ", 64<<10-13) + `]}`, events.ErrorResponse},
		"not a status": {200, `{"results":[{"webhookId":"x","status":0}]}`, events.ErrorResponse},
	} {
		inWorld(t, func(t *testing.T, w *world) {
			w.homes(30)
			w.endpoint("ep", batchesOf(10))
			failed := ""
			w.partner.wholly(func(r *http.Request, _ int) (int, string) {
				w.partner.mu.Lock()
				defer w.partner.mu.Unlock()
				if failed == "" {
					failed = r.Header.Get("Webhook-Id")
					return c.status, c.answer
				}
				return 0, ""
			})
			w.worker()
			tr := w.trigger(24)
			attempts := map[int]int{}
			for _, d := range w.wants(tr, outcomes{events.OutcomeDelivered: 30}) {
				attempts[d.Attempt]++
			}
			if fmt.Sprint(attempts) != "map[1:20 2:10]" || len(w.bus.retryPuts) != 1 || len(w.bus.retryPuts[0].Homes) != 10 {
				t.Errorf("%s: attempts %v, and %d retries", name, attempts, len(w.bus.retryPuts))
			}
			if came := w.partner.came("ep"); len(came) != 4 || came[3].id != failed {
				t.Errorf("%s: batches are %+v, failed batch is %s", name, came, failed)
			}
			w.bus.mu.Lock()
			defer w.bus.mu.Unlock()
			for _, r := range w.bus.receipts {
				for _, d := range r.Deliveries {
					if d.Outcome == events.OutcomeRetrying && d.ErrorClass != c.class {
						t.Errorf("%s: waiting delivery is %+v", name, d)
					}
				}
			}
		})
	}
}

// A response of 64 KiB is read whole.
func TestBatch_LongestResponse(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.homes(10)
		w.endpoint("ep", batchesOf(10))
		w.partner.wholly(func(*http.Request, int) (int, string) {
			return http.StatusOK, `{"results":[` + strings.Repeat(" ", 64<<10-14) + `]}`
		})
		w.worker()
		for _, d := range w.wants(w.trigger(24), outcomes{events.OutcomeDelivered: 10}) {
			if d.Attempt != 1 {
				t.Errorf("delivery after %d attempts: %+v", d.Attempt, d)
			}
		}
	})
}

// A long response that echoes the batch delivers it. An undecodable result is still a
// response, so it does not open the breaker as silence does.
func TestBatch_LongResponses(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		const homes = events.SliceHomes
		w.homes(homes)
		w.endpoint("ep", batchesOf(1+homes/20))
		echo, _ := json.Marshal(map[string]string{"received": strings.Repeat("x", send.MaxResponse)})
		w.partner.wholly(func(*http.Request, int) (int, string) { return http.StatusOK, string(echo) })
		n := w.worker()
		w.wants(w.trigger(24), outcomes{events.OutcomeDelivered: homes})
		if came := len(w.partner.came("ep")); came != homes/4 {
			t.Errorf("endpoint got %d requests, want %d", came, homes/4)
		}
		w.partner.wholly(func(*http.Request, int) (int, string) { return http.StatusOK, `{"results":[` })
		w.trigger(24)
		<-time.After(time.Second)
		if came, open := len(w.partner.came("ep"))-homes/4, n.OpenBreakers(); came < 12 || len(open) != 0 {
			t.Errorf("after %d undecodable responses the breakers %+v are open", came, open)
		}
		w.partner.wholly(nil)
		w.bus.await(w.bus.idleLocked)
	})
}

// A rate limit counts homes, not requests. Failed batches to a dead endpoint open its
// breaker.
func TestBatch_Limits(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.homes(events.SliceHomes)
		w.endpoint("ep", batchesOf(8), func(e *storage.WebhookEndpoint) { e.RateLimit = 8 })
		w.worker()
		began := time.Now()
		w.wants(w.trigger(1), outcomes{events.OutcomeDelivered: events.SliceHomes})
		if took := time.Since(began); took < 7*time.Second || took > 8*time.Second {
			t.Errorf("64 homes at 8/s took %s", took)
		}
	})
	inWorld(t, func(t *testing.T, w *world) {
		const homes = 30 * events.SliceHomes
		w.homes(homes)
		w.endpoint("ep", batchesOf(events.SliceHomes))
		w.partner.wholly(func(*http.Request, int) (int, string) { return 500, "" })
		w.worker()
		tr := w.trigger(1)
		<-time.After(10 * time.Second)
		if came, waits := len(w.partner.came("ep")), w.waiting(); came > 40 || waits > 40 {
			t.Errorf("endpoint got %d requests, %d messages wait", came, waits)
		}
		w.partner.wholly(nil)
		w.wants(tr, outcomes{events.OutcomeDelivered: homes})
	})
}

// A newer trigger supersedes the waiting deliveries of a batch. The end of the window
// expires them. Both apply to each home.
func TestBatch_SupersededAndExpired(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.homes(20)
		w.endpoint("ep", batchesOf(10))
		w.partner.answers(failing(500, 2, ""))
		w.worker()
		first := w.trigger(24)
		<-time.After(time.Second)
		second := w.trigger(24)
		w.settled(second)
		w.wants(first, outcomes{events.OutcomeDelivered: 18, events.OutcomeSuperseded: 2})
		w.wants(second, outcomes{events.OutcomeDelivered: 20})
		w.partner.wholly(func(*http.Request, int) (int, string) { return 500, "" })
		w.wants(w.trigger(1), outcomes{events.OutcomeExpired: 20})
	})
}
