package dispatcher

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gridhook/gridhook/dispatcher/send"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/storagetest"
)

// subscriptions stores n OpenADR subscriptions of the organization org to events, with
// callbacks to one server, and returns the client of the subscriptions. A * in the server's name stands for the number of the
// subscription.
func (w *world) subscriptions(n int, server string) (key string) {
	w.t.Helper()
	client, _ := storage.NewKey("org", time.Now())
	client.Scopes = []storage.Scope{storage.ScopeBusiness}
	list := []storage.Entity{&client}
	for i := range n {
		list = append(list, &storage.OpenADRObject{
			ID: fmt.Sprintf("sub_%04d", i), Type: storage.OpenADRSubscription, ClientID: client.ID, Body: []byte(`{}`), Base: storage.Base{OrganizationID: "org"},
			Callbacks: []storage.Callback{{
				URL: fmt.Sprintf("http://%s/%d", strings.ReplaceAll(server, "*", strconv.Itoa(i)), i), Objects: []storage.OpenADRType{storage.OpenADREvent}, Operations: []string{events.OperationUpdate},
			}},
		})
	}
	storagetest.Put(w.t, w.store, list...)
	return client.ID
}

// eventChanged accepts a trigger with a change of an OpenADR event with targets.
func (w *world) eventChanged(id string, targets ...string) events.Trigger {
	t := events.NewTrigger("org", pricing.Window{Start: time.Now(), End: time.Now().Add(24 * time.Hour)}, time.Now())
	t.ID, t.Revision = id, w.store.Revision()
	t.Change = &events.Change{ObjectType: storage.OpenADREvent, ObjectID: "event_1", Operation: events.OperationUpdate, Object: []byte(`{}`), Targets: targets}
	return w.bus.accept(t)
}

// Each subscription has one callback of each change. A newer change supersedes none.
func TestNotify_EveryChange(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		const subscriptions, changes = 2*events.SliceHomes + 3, 3
		w.subscriptions(subscriptions, "callbacks.example")
		var arrived sync.Map // by path, a count
		w.partner.server.Handler = http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			n, _ := arrived.LoadOrStore(r.URL.Path, new(atomic.Int64))
			n.(*atomic.Int64).Add(1)
		})
		w.worker()
		for i := range changes {
			w.eventChanged(fmt.Sprint("trg_change", i))
		}
		w.bus.await(w.bus.idleLocked)
		for i := range subscriptions {
			if n, ok := arrived.Load(fmt.Sprint("/", i)); !ok || n.(*atomic.Int64).Load() != changes {
				t.Errorf("subscription %d has no callback, or not %d", i, changes)
			}
		}
		if n := len(w.bus.positions); n > 0 {
			t.Errorf("%d positions are stored of walks that supersede nothing", n)
		}
	})
}

// A callback server that is slow delays no other organization, however many changes wait
// for it.
func TestNotify_SlowServer(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		const n, changes = 8 * events.SliceHomes, 600
		w.subscriptions(events.SliceHomes, "callbacks.example")
		w.partner.server.Handler = http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
			if r.Host == "callbacks.example" { // a callback has no signature
				<-time.After(1500 * time.Millisecond)
				return
			}
			w.partner.ServeHTTP(out, r)
		})
		w.worker()
		for i := range changes {
			w.eventChanged(fmt.Sprint("trg_change", i))
		}
		<-time.After(15 * time.Second) // the changes wait for the server
		w.neighbor(n)
		w.neighborIsFast(n, 10*time.Second)
	})
}

// slowCallbacks accepts twenty changes for subscriptions at a slow server, and waits until most
// of their slices wait for it. It returns the number of callbacks that arrive from then on,
// and how many of them arrive again.
func (w *world) slowCallbacks() (arrived, again *atomic.Int64) {
	arrived, again = new(atomic.Int64), new(atomic.Int64)
	w.subscriptions(events.SliceHomes, "callbacks.example")
	var seen sync.Map
	w.partner.server.Handler = http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		arrived.Add(1)
		if _, was := seen.LoadOrStore(r.Header.Get("Webhook-Id"), true); was {
			again.Add(1)
		}
		<-time.After(1500 * time.Millisecond)
	})
	w.worker()
	for i := range 20 {
		w.eventChanged(fmt.Sprint("trg_change", i))
	}
	<-time.After(15 * time.Second)
	arrived.Store(0)
	return arrived, again
}

// begun is more than the number of slow slices of one server in a world.
const begun = 4

// A subscription that is deleted while slices of callbacks wait gets none of them.
func TestNotify_DeletedWhileWaiting(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		arrived, _ := w.slowCallbacks()
		for i := range events.SliceHomes {
			w.delete(storage.KindOpenADRSubscription.Ref("org", fmt.Sprintf("sub_%04d", i)))
		}
		w.bus.await(w.bus.idleLocked)
		if n := arrived.Load(); n > begun*events.SliceHomes {
			t.Errorf("%d callbacks arrived after the deletion", n)
		}
	})
}

// NATS hands slices of callbacks that wait to another worker, if this worker was paused. This
// worker does not repeat them.
func TestNotify_DoneWhileWaiting(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		_, again := w.slowCallbacks()
		w.bus.mu.Lock()
		for _, m := range slices.Concat(w.bus.slices, w.bus.surplus)[10:] {
			m.holder, m.readyAt = nil, time.Now()
		}
		w.bus.wakeLocked()
		w.bus.mu.Unlock()
		w.worker()
		w.bus.await(w.bus.idleLocked)
		<-time.After(5 * time.Minute)
		if n := again.Load(); n > begun*events.SliceHomes {
			t.Errorf("%d callbacks were repeated", n)
		}
	})
}

// Callbacks to thousands of servers that hang do not delay the webhooks of another
// organization, although its endpoint has not responded yet.
func TestNotify_ManyHangingServers(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		const homes = 100
		w.options = Options{Slices: 16, Concurrency: 256, EndpointConcurrency: 64, DrainTimeout: 30 * time.Second, Guard: send.Guard{AllowPrivate: true}}
		w.subscriptions(1500, "hangs*.callbacks.example")
		w.partner.server.Handler = http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.Host, "hangs") {
				_, _ = io.Copy(io.Discard, r.Body) // then the end of the connection ends the context
				<-r.Context().Done()
				return
			}
			w.partner.ServeHTTP(out, r)
		})
		n := w.worker()
		w.eventChanged("trg_change")
		<-time.After(3 * time.Second)
		w.neighbor(homes)
		w.neighborIsFast(homes, time.Second)
		n.conn.kill()
	})
}

// neighborIsFast checks how long the walk of the neighbor's homes takes.
func (w *world) neighborIsFast(homes int, limit time.Duration) {
	w.t.Helper()
	began := time.Now()
	tr := w.triggerOf("neighbor", 24)
	w.bus.await(func() bool {
		done := 0
		for _, r := range w.bus.receipts {
			if r.TriggerID == tr.ID {
				done += r.Slice.Homes
			}
		}
		return done == homes
	})
	if took := time.Since(began); took > limit {
		w.t.Errorf("%d homes of a neighbor took %s", homes, took)
	}
}

// The same holds for servers that have responded to an earlier callback.
func TestNotify_ManyServersThatTurnHanging(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		const homes = 100
		w.options = Options{Slices: 16, Concurrency: 256, EndpointConcurrency: 64, DrainTimeout: 30 * time.Second, Guard: send.Guard{AllowPrivate: true}}
		w.subscriptions(1500, "hangs*.callbacks.example")
		w.neighbor(homes)
		var hang atomic.Bool
		w.partner.server.Handler = http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
			switch {
			case !strings.HasPrefix(r.Host, "hangs"):
				w.partner.ServeHTTP(out, r)
			case hang.Load():
				_, _ = io.Copy(io.Discard, r.Body) // then the end of the connection ends the context
				<-r.Context().Done()
			}
		})
		n := w.worker()
		w.eventChanged("trg_first")
		w.wants(w.triggerOf("neighbor", 24), outcomes{events.OutcomeDelivered: homes})
		hang.Store(true)
		w.eventChanged("trg_change")
		<-time.After(3 * time.Second)
		w.neighborIsFast(homes, time.Second)
		n.conn.kill()
	})
}

// A client with a revoked key receives no notifications, and no retries of them either.
func TestNotify_RevokedDuringRetry(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		key := w.subscriptions(3, "callbacks.example")
		var arrived atomic.Int64
		w.partner.server.Handler = http.HandlerFunc(func(out http.ResponseWriter, _ *http.Request) {
			arrived.Add(1)
			out.WriteHeader(http.StatusInternalServerError)
		})
		w.worker()
		w.eventChanged("trg_change")
		<-time.After(500 * time.Millisecond)
		_, err := storage.Update(t.Context(), w.store, storage.KindKey.Ref("org", key), func(k *storage.Key) error {
			k.Revoke(time.Now())
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		arrived.Store(0)
		w.bus.await(w.bus.idleLocked)
		if n := arrived.Load(); n > 0 {
			t.Errorf("%d callbacks arrived after the key was revoked", n)
		}
	})
}

// The notifications of a client whose key, or whose VEN, does not decode are lost. The other
// clients get theirs.
func TestNotify_DamagedClient(t *testing.T) {
	for _, kind := range []storage.Kind{storage.KindKey, storage.KindOpenADRVEN} {
		inWorld(t, func(t *testing.T, w *world) {
			w.subscriptions(3, "callbacks.example")
			client, _ := storage.NewKey("org", time.Now())
			client.Scopes = []storage.Scope{storage.ScopeVEN}
			ven := storage.OpenADRObject{ID: storage.VENID(client.ID), Type: storage.OpenADRVEN, ClientID: client.ID, Body: []byte(`{}`), Base: storage.Base{OrganizationID: "org"}}
			storagetest.Put(t, w.store, &client, &ven, &storage.OpenADRObject{
				ID: "sub_damaged", Type: storage.OpenADRSubscription, ClientID: client.ID, Body: []byte(`{}`), Targets: []string{"group"}, Base: storage.Base{OrganizationID: "org"},
				Callbacks: []storage.Callback{{URL: "http://callbacks.example", Objects: []storage.OpenADRType{storage.OpenADREvent}, Operations: []string{events.OperationUpdate}}},
			})
			w.overwrite(kind.Ref("org", map[storage.Kind]string{storage.KindKey: client.ID, storage.KindOpenADRVEN: ven.ID}[kind]), "{")
			var arrived atomic.Int64
			w.partner.server.Handler = http.HandlerFunc(func(http.ResponseWriter, *http.Request) { arrived.Add(1) })
			n := w.worker()
			w.eventChanged("trg_change", "group")
			w.bus.await(w.bus.idleLocked)
			if got := arrived.Load(); got != 3 || len(w.bus.dead) != 0 || n.metrics(t)["gridhook_homes_failed_total"] != 1 {
				t.Errorf("%s: %d callbacks arrived, want 3; %d dead letters", kind, got, len(w.bus.dead))
			}
		})
	}
}
