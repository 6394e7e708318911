package scheduler

import (
	"slices"
	"testing"
	"testing/synctest"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// changed returns the objects of the notifications.
func (w *world) changed() (list []string) {
	w.triggers.mu.Lock()
	defer w.triggers.mu.Unlock()
	for i := range w.triggers.list {
		if c := w.triggers.list[i].Change; c != nil {
			list = append(list, c.ObjectID)
		}
	}
	return list
}

func openADR(of storage.OpenADRType, id string) *storage.OpenADRObject {
	return &storage.OpenADRObject{ID: id, Type: of, Body: []byte(`{}`), Base: storage.Base{OrganizationID: "org"}}
}

// The subscribers of a suspended organization get no notification of objects and prices.
// After the resumption they are notified of the prices that changed meanwhile.
func TestChanges_SuspendedOrganization(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := priceWorld(t)
		subscription := openADR(storage.OpenADRSubscription, "sub")
		subscription.Callbacks = []storage.Callback{{
			URL: "https://ven.example", Objects: []storage.OpenADRType{storage.OpenADRProgram, storage.OpenADREvent},
			Operations: []string{events.OperationCreate, events.OperationUpdate},
		}}
		w.put(subscription)
		w.state = w.log
		stop := w.fleet(2)
		pass(minute)
		w.put(openADR(storage.OpenADRProgram, "one"))
		pass(minute)
		before := w.changed()
		if !slices.Contains(before, "one") || len(before) < 2 {
			t.Fatalf("notifications of %q, want derived events and the program one", before)
		}
		w.suspend(true)
		w.put(openADR(storage.OpenADRProgram, "two"))
		w.peak("p")
		pass(10 * minute)
		if got := w.changed(); len(got) != len(before) {
			t.Errorf("suspended: notifications of %q", got[len(before):])
		}
		w.suspend(false)
		pass(minute)
		if got := w.changed(); len(got) == len(before) || slices.Contains(got, "two") {
			t.Errorf("resumed: notifications of %q, want only the changed prices", got[len(before):])
		}
		stop()
	})
}
