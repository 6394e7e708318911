package dispatcher

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/storagetest"
)

// subscriptions stores n OpenADR subscriptions of the organization org to events, with
// callbacks to one server.
func (w *world) subscriptions(n int, server string) {
	w.t.Helper()
	key, _ := storage.NewKey("org", time.Now())
	key.Scopes = []storage.Scope{storage.ScopeBusiness}
	list := []storage.Entity{&key}
	for i := range n {
		list = append(list, &storage.OpenADRObject{
			ID: fmt.Sprintf("sub_%04d", i), Type: storage.OpenADRSubscription, ClientID: key.ID, Body: []byte(`{}`), Base: storage.Base{OrganizationID: "org"},
			Callbacks: []storage.Callback{{
				URL: fmt.Sprintf("http://%s/%d", server, i), Objects: []storage.OpenADRType{storage.OpenADREvent}, Operations: []string{events.OperationUpdate},
			}},
		})
	}
	storagetest.Put(w.t, w.store, list...)
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
			change := events.NewTrigger("org", pricing.Window{Start: time.Now(), End: time.Now().Add(24 * time.Hour)}, time.Now())
			change.ID, change.Revision = fmt.Sprintf("trg_change%d", i), w.store.Revision()
			change.Change = &events.Change{ObjectType: storage.OpenADREvent, ObjectID: "event_1", Operation: events.OperationUpdate, Object: []byte(`{}`)}
			w.bus.accept(change)
		}
		<-time.After(15 * time.Second) // the changes wait for the server
		w.neighbor(n)
		began := time.Now()
		tr := w.triggerOf("neighbor", 24)
		w.bus.await(func() bool {
			homes := 0
			for _, r := range w.bus.receipts {
				if r.TriggerID == tr.ID {
					homes += r.Slice.Homes
				}
			}
			return homes == n
		})
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("%d homes of a neighbor took %s", n, took)
		}
	})
}
