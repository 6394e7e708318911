package dispatcher

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/storagetest"
)

type outcomes = map[events.Outcome]int

// checkDelivered checks that the partner accepted each DELIVERED message of a trigger,
// at most a number of times.
func (w *world) checkDelivered(list []events.Delivery, most int) {
	w.t.Helper()
	got := w.partner.checkMessages(nil)
	for _, d := range list {
		n := got[d.HomeID+" at "+d.EndpointID]
		if d.Outcome == events.OutcomeDelivered && n == 0 {
			w.t.Errorf("%s at %s is DELIVERED without an arrival", d.HomeID, d.EndpointID)
		}
		if n > most {
			w.t.Errorf("%s at %s was delivered %d times", d.HomeID, d.EndpointID, n)
		}
	}
}

func TestWalk_EveryHomeOnce(t *testing.T) {
	for _, n := range []int{0, 1, events.SliceHomes, events.SliceHomes + 1, 5*events.SliceHomes - 1} {
		testEveryHomeOnce(t, n, false)
		testEveryHomeOnce(t, 4*n, true)
	}
}

func testEveryHomeOnce(t *testing.T, n int, wide bool) {
	t.Helper()
	inWorld(t, func(t *testing.T, w *world) {
		w.wide = wide
		w.homes(n)
		w.endpoint("ep1")
		w.endpoint("ep2")
		w.worker()
		tr := w.trigger(1)
		want := outcomes{events.OutcomeDelivered: 2 * n}
		if n == 0 {
			want = outcomes{}
		}
		list := w.wants(tr, want)
		w.checkDelivered(list, 1)
		if p, _ := w.seen(tr); p.Walked != n || p.Homes != n || w.bus.redelivered != 0 {
			t.Errorf("of %d homes %d were walked, with %d redeliveries", n, p.Walked, w.bus.redelivered)
		}
		for _, d := range list {
			if d.MessageID != events.MessageID(tr.ID, d.HomeID, d.EndpointID) || d.Attempt != 1 || d.Status != 200 || d.Reason != "" {
				t.Errorf("delivery is %+v", d)
			}
		}
		if slices := max(1, (n+tr.SliceHomes()-1)/tr.SliceHomes()); len(w.bus.receipts) != slices {
			t.Errorf("%d homes have %d receipts, want one for each of %d slices", n, len(w.bus.receipts), slices)
		}
	})
}

// The slices of a group are put at the same time, so a slow message system delays a walk
// by one put per group and not by one per slice.
func TestWalk_GroupPutAtOnce(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		const slices = 2*group + 1
		w.homes(slices * events.SliceHomes)
		w.endpoint("ep")
		w.worker(func(at string) bool {
			if at == "before put slice" {
				<-time.After(100 * time.Millisecond)
			}
			return false
		})
		tr := w.trigger(24)
		w.wants(tr, outcomes{events.OutcomeDelivered: slices * events.SliceHomes})
		for n := 1; n < slices; n++ {
			first := 1 + (n-1)/group*group
			if at, want := w.bus.putAt[sliceName(tr.ID, n)], w.bus.putAt[sliceName(tr.ID, first)]; at != want {
				t.Errorf("slice %d was put %s after slice %d, want at once", n, at.Sub(want), first)
			}
		}
	})
}

func TestWalk_UndeliveredOutcomes(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.homes(3)
		off := storagetest.Home("org", "home_off", "plan")
		off.Enabled = false
		storagetest.Put(t, w.store, off, storagetest.Home("org", "home_planless", ""), storagetest.Home("org", "home_lost", "gone"),
			storagetest.Home("other", "home_foreign", "plan"))
		w.endpoint("ep")
		w.endpoint("deaf", func(e *storage.WebhookEndpoint) { e.EventTypes = []string{storage.EventTriggerCompleted} })
		w.endpoint("disabled", func(e *storage.WebhookEndpoint) { e.Enabled = false })
		w.endpoint("deleted")
		w.delete(storage.KindWebhookEndpoint.Ref("org", "deleted"))
		w.worker()
		reasons := map[string]string{}
		for _, d := range w.wants(w.trigger(24), outcomes{events.OutcomeDelivered: 3, events.OutcomeUnpriceable: 3}) {
			reasons[d.HomeID] = d.Reason
			if d.Outcome == events.OutcomeUnpriceable && (d.MessageID != "" || d.EndpointID != "" || d.Attempt != 0) {
				t.Errorf("unpriceable delivery is %+v", d)
			}
		}
		for home, want := range map[string]string{"home_off": "not enabled", "home_planless": "no rate plan", "home_lost": "does not exist"} {
			if !strings.Contains(reasons[home], want) {
				t.Errorf("%s: %q, want %q", home, reasons[home], want)
			}
		}
		for _, a := range w.partner.got() {
			if a.host != "ep" || a.home == "home_foreign" {
				t.Errorf("%s got %s", a.host, a.home)
			}
		}
	})
}

func TestWalk_NoEndpoint(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.homes(2)
		w.endpoint("deaf", func(e *storage.WebhookEndpoint) { e.EventTypes = []string{storage.EventTriggerCompleted} })
		w.worker()
		w.wants(w.trigger(24), outcomes{events.OutcomeNoEndpoint: 2})
	})
}

// A walk covers the homes that existed at its trigger.
func TestWalk_HomesAtRevision(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.homes(4)
		w.endpoint("ep")
		w.delete(storage.KindHome.Ref("org", homeID(0)))
		tr := w.trigger(24) // homes 1, 2 and 3
		w.delete(storage.KindHome.Ref("org", homeID(1)))
		storagetest.Put(t, w.store, storagetest.Home("org", "home_new", "plan"))
		w.delete(storage.KindHome.Ref("org", homeID(2)))
		storagetest.Put(t, w.store, storagetest.Home("org", homeID(2), "plan")) // recreated
		w.worker()
		var got []string
		for _, d := range w.wants(tr, outcomes{events.OutcomeDelivered: 2, events.OutcomeUnpriceable: 1}) {
			got = append(got, fmt.Sprint(d.HomeID, " ", d.Outcome, " ", d.Reason))
		}
		slices.Sort(got)
		if want := []string{"home_00001 UNPRICEABLE the home was deleted after the trigger", "home_00002 DELIVERED ", "home_00003 DELIVERED "}; !slices.Equal(got, want) {
			t.Errorf("walk reached %q, want %q", got, want)
		}
	})
}

// Homes deleted or recreated during a walk do not change the bounds of its slices.
func TestWalk_StableSlices(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		const n = 6 * events.SliceHomes
		w.homes(n)
		w.endpoint("ep")
		for i := range 20 {
			w.delete(storage.KindHome.Ref("org", homeID(7*i)))
		}
		tr := w.trigger(24)
		var puts atomic.Int64
		w.worker(func(at string) bool {
			if at == "before put slice" && puts.Add(1) == 2 { // only the first slice is planned
				for i := range 20 {
					storagetest.Put(t, w.store, storagetest.Home("org", homeID(7*i), "plan"))
				}
			}
			return false
		})
		w.bus.await(w.bus.idleLocked)
		p, list := w.seen(tr)
		if p.Status != events.TriggerCompleted || repeated(list) != "" {
			t.Errorf("trigger is %s, duplicate outcome of %q", p.Status, repeated(list))
		}
		reached := map[string]bool{}
		for _, d := range list {
			reached[d.HomeID] = true
		}
		for i := range n {
			if !reached[homeID(i)] && (i%7 != 0 || i >= 140) {
				t.Errorf("%s was skipped", homeID(i))
			}
		}
		w.checkDelivered(list, 1)
	})
}

// A slice that is walked again ends where its successor begins, although the replica
// forgot deleted homes of the slice meanwhile.
func TestWalk_ForgottenHomes(t *testing.T) {
	const slices = 6
	for again := range slices {
		for _, deleted := range []int{1, 20, events.SliceHomes - 1} {
			inWorld(t, func(t *testing.T, w *world) {
				w.homes(slices * events.SliceHomes)
				w.endpoint("ep", onChange)
				gone := make([]storage.Ref, deleted)
				for i := range gone {
					gone[i] = storage.KindHome.Ref("org", homeID((again+1)*events.SliceHomes-1-i))
					w.delete(gone[i])
				}
				workers := make(chan *node, 1)
				forget := sync.OnceValue(func() error { (<-workers).replica.Forget(gone...); return errors.New("bad") })
				var asks atomic.Int64
				w.bus.refuse = func(name, detail string) error {
					if name == "known" && strings.HasSuffix(detail, fmt.Sprint(".", again)) && asks.Add(1) == 1 {
						return forget()
					}
					return nil
				}
				tr := w.trigger(1)
				workers <- w.worker()
				const homes = slices * events.SliceHomes
				w.checkDelivered(w.wants(tr, outcomes{events.OutcomeDelivered: homes - deleted}), 1)
				if p, _ := w.seen(tr); p.Walked != homes-deleted || len(w.bus.receipts) != slices {
					t.Errorf("slice %d: %d homes were walked, in %d slices", again, p.Walked, len(w.bus.receipts))
				}
			})
		}
	}
}

// A slice that queues the next ones sends no webhook before all of them are queued. Another
// worker may have delivered some of them by then.
func TestSlice_SuccessorsFirst(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		const slices = 9
		w.homes(slices * events.SliceHomes)
		w.endpoint("ep")
		var tr events.Trigger
		w.partner.answers(func(_ *http.Request, a arrival) int {
			var i int
			_, _ = fmt.Sscanf(a.home, "home_%d", &i)
			w.bus.mu.Lock()
			defer w.bus.mu.Unlock()
			slice := i / events.SliceHomes
			if next := slice + group; slice%group == 0 && next < slices && w.bus.everPut[sliceName(tr.ID, next)] == 0 {
				t.Errorf("%s arrived before slice %d was queued", a.home, next)
			}
			return http.StatusOK
		})
		tr = w.trigger(24)
		w.worker()
		w.wants(tr, outcomes{events.OutcomeDelivered: slices * events.SliceHomes})
		for key, n := range w.bus.everPut {
			if n != 1 {
				t.Errorf("slice %s was queued %d times", key, n)
			}
		}
	})
}

// A worker waits until its replica has the trigger's revision.
func TestSlice_WaitsForReplica(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.endpoint("ep")
		n := w.worker()
		release := n.replica.Hold()
		w.homes(2)
		tr := w.trigger(24)
		<-time.After(3 * catchUpTimeout)
		if got := w.partner.got(); len(got) != 0 {
			t.Errorf("worker without the homes sent %d webhooks", len(got))
		}
		release()
		w.wants(tr, outcomes{events.OutcomeDelivered: 2})
	})
}

// dieAt makes a worker die at the n-th pass of a point.
func dieAt(point string, n int) func(string) bool {
	var passed atomic.Int64
	return func(at string) bool { return at == point && passed.Add(1) == int64(n) }
}

// At whatever point a worker dies, the next worker continues the walk. The walk does not
// fork, and only deliveries in flight are repeated.
func TestWorker_Dies(t *testing.T) {
	const n = 7*events.SliceHomes - 10
	for _, point := range []string{
		"before put slice", "after put slice", "before put receipt", "after put receipt", "before ack trigger", "before ack slice",
	} {
		for _, times := range []int{1, 2, 6} {
			if times > 1 && point == "before ack trigger" {
				continue
			}
			inWorld(t, func(t *testing.T, w *world) {
				w.homes(n)
				w.endpoint("ep")
				dying := w.worker(dieAt(point, times))
				tr := w.trigger(1)
				w.bus.await(func() bool { return dying.conn.isDead() })
				w.worker()
				list := w.wants(tr, outcomes{events.OutcomeDelivered: n})
				w.checkDelivered(list, 2)
				again := 0
				for _, times := range w.partner.checkMessages(nil) {
					again += times - 1
				}
				if most := w.options.Slices * events.SliceHomes; again > most {
					t.Errorf("%s, %d: repeated %d deliveries, at most %d were in flight", point, times, again, most)
				}
				if point == "after put receipt" && times == 1 && again > (w.options.Slices-1)*events.SliceHomes {
					t.Errorf("slice with a receipt was repeated: %d homes", again)
				}
				for key, n := range w.bus.everPut {
					if n != 1 {
						t.Errorf("%s, %d: walk forked, slice %s was queued %d times", point, times, key, n)
					}
				}
				if len(w.bus.receipts) != 7 {
					t.Errorf("%s, %d: %d receipts for 7 slices", point, times, len(w.bus.receipts))
				}
			})
		}
	}
}

// A slice that waited for long may have been processed by another worker meanwhile.
func TestWalkSlice_DoneMeanwhile(t *testing.T) {
	for waited, want := range map[time.Duration]int{0: 2 * events.SliceHomes, longWait: events.SliceHomes} {
		inWorld(t, func(t *testing.T, w *world) {
			w.homes(events.SliceHomes)
			w.endpoint("ep")
			n := w.worker()
			tr := w.trigger(24)
			w.settled(tr)
			taken := events.Taken{At: time.Now().Add(-waited), Free: func() {}}
			if err := n.walkSlice(t.Context(), &events.Slice{Trigger: tr}, taken); err != nil {
				t.Error(err)
			}
			if got := len(w.partner.got()); got != want {
				t.Errorf("after a wait of %s, %d webhooks were sent, want %d", waited, got, want)
			}
		})
	}
}

// An unavailable bus delays the work, and loses none of it.
func TestWorker_BusUnavailable(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.homes(3 * events.SliceHomes)
		w.endpoint("ep")
		w.worker()
		down := false
		w.partner.answers(func(*http.Request, arrival) int {
			w.bus.mu.Lock()
			defer w.bus.mu.Unlock()
			if !down {
				down, w.bus.down = true, true
			}
			return http.StatusOK
		})
		tr := w.trigger(24)
		<-time.After(time.Minute)
		w.bus.mu.Lock()
		w.bus.down = false
		w.bus.wakeLocked()
		w.bus.mu.Unlock()
		w.checkDelivered(w.wants(tr, outcomes{events.OutcomeDelivered: 3 * events.SliceHomes}), 3)
	})
}

// A graceful stop finishes the current messages. No message is redelivered.
func TestWorker_GracefulStop(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		const n = 40 * events.SliceHomes
		w.homes(n)
		w.endpoint("ep")
		w.partner.answers(func(*http.Request, arrival) int { <-time.After(time.Millisecond); return http.StatusOK })
		first := w.worker()
		tr := w.trigger(1)
		<-time.After(30 * time.Millisecond)
		first.stop()
		if got := len(w.partner.got()); got == 0 || got == n {
			t.Fatalf("%d webhooks before the stop: the stop came too early or too late", got)
		}
		w.worker()
		w.checkDelivered(w.wants(tr, outcomes{events.OutcomeDelivered: n}), 1)
		if w.bus.redelivered != 0 {
			t.Errorf("%d redeliveries, want none", w.bus.redelivered)
		}
	})
}

// A stopping worker requeues messages that a hanging partner delays.
func TestWorker_DrainTimeout(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		const n = 3 * events.SliceHomes
		w.options.DrainTimeout = 2 * time.Second
		w.homes(n)
		w.endpoint("ep", func(e *storage.WebhookEndpoint) { e.TimeoutSeconds = 60 })
		hanging := true
		w.partner.answers(func(r *http.Request, _ arrival) int {
			if hanging {
				<-r.Context().Done()
				return 0
			}
			return http.StatusOK
		})
		first := w.worker()
		tr := w.trigger(24)
		<-time.After(time.Second)
		began := time.Now()
		first.stop()
		if took := time.Since(began); took > w.options.DrainTimeout+100*time.Millisecond {
			t.Errorf("stop took %s", took)
		}
		synctest.Wait()
		hanging = false
		w.worker()
		list := w.wants(tr, outcomes{events.OutcomeDelivered: n})
		w.checkDelivered(list, 1)
		if w.bus.redelivered != 0 {
			t.Errorf("%d redeliveries, want none", w.bus.redelivered)
		}
		for _, d := range list {
			if d.Attempt > 1 {
				t.Errorf("%s needed %d attempts: a requeued delivery counts as an attempt", d.HomeID, d.Attempt)
			}
		}
	})
}

// A request canceled by a worker's stop is no failure of the endpoint. It uses up no
// attempt, even if the policy allows only one. Health and breaker stay unchanged. The
// delivery log shows the canceled request.
func TestWorker_StopIsNoFailure(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.options.DrainTimeout = time.Second
		w.homes(20)
		w.endpoint("ep", patience(0))
		w.endpoint("batches", patience(0), func(e *storage.WebhookEndpoint) { e.BatchSize = 20 })
		hanging := true
		w.partner.answers(func(r *http.Request, _ arrival) int {
			if hanging {
				<-r.Context().Done()
				return 0
			}
			return http.StatusOK
		})
		first := w.worker()
		tr := w.trigger(24)
		<-time.After(time.Second)
		first.stop()
		synctest.Wait()
		if open := first.OpenBreakers(); len(open) != 0 {
			t.Errorf("open breakers are %+v", open)
		}
		for _, name := range []string{"gridhook_attempts_total", "gridhook_deliveries_total"} {
			if counted := first.metrics(t)[name]; counted != 0 {
				t.Errorf("%s is %g after the stop, want 0", name, counted)
			}
		}
		_, list := w.seen(tr)
		cut := 0
		for _, d := range list {
			if d.ErrorClass == events.ErrorStopping {
				cut++
			}
			if d.Attempt != 0 || d.Outcome != events.OutcomeRetrying {
				t.Errorf("delivery of %s after the stop is %+v", d.HomeID, d)
			}
		}
		for _, ep := range []string{"ep", "batches"} {
			if h, err := w.ledger.Health("org", ep); h.State != events.HealthUnknown || err != nil {
				t.Errorf("health of %s is %+v, %v", ep, h, err)
			}
		}
		hanging = false
		w.worker()
		logged := 0
		for _, d := range w.wants(tr, outcomes{events.OutcomeDelivered: 40}) {
			log, err := w.ledger.Delivery("org", d.MessageID)
			if err != nil {
				t.Fatal(err)
			}
			logged += len(log.Attempts)
		}
		if cut == 0 || logged != 40+cut {
			t.Errorf("%d requests were canceled, %d of 40 are logged", cut, logged)
		}
	})
}

// The queue of slices is not synced. The resumer puts lost slices again from the ledger.
func TestResumer_LostSlices(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		const n = 12 * events.SliceHomes
		w.homes(n)
		w.endpoint("ep")
		w.partner.answers(func(*http.Request, arrival) int { <-time.After(5 * time.Millisecond); return http.StatusOK })
		first := w.worker()
		tr := w.trigger(24)
		w.bus.await(func() bool { return len(w.bus.receipts) >= 3 })
		first.conn.kill()
		first.stop()
		w.bus.lose()
		n2 := w.worker()
		stop := w.resumer(n2)
		defer stop()
		w.bus.await(func() bool { return len(w.bus.receipts) == 12 })
		list := w.wants(tr, outcomes{events.OutcomeDelivered: n})
		w.checkDelivered(list, 2)
		for _, r := range w.bus.retryPuts {
			if r.Walk != nil { // a parked walk is put again
				w.bus.everPut[sliceName(r.Trigger.ID, r.Walk.Number)]--
			}
		}
		for key, times := range w.bus.everPut {
			if times > 2 {
				t.Errorf("slice %s was queued %d times", key, times)
			}
		}
	})
}
