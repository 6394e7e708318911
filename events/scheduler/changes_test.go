package scheduler

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/storagetest"
)

// changed returns the objects of the notifications.
func (w *world) changed() (list []string) {
	w.triggers.mu.Lock()
	defer w.triggers.mu.Unlock()
	for i := range w.triggers.list {
		if c := w.triggers.list[i].Change; c != nil {
			list = append(list, c.ObjectID)
			if !bytes.Contains(c.Object, []byte(c.ObjectID)) {
				w.t.Errorf("%s of %s has the object %q", c.Operation, c.ObjectID, c.Object)
			}
		}
	}
	return list
}

func openADR(of storage.OpenADRType, id string) *storage.OpenADRObject {
	return &storage.OpenADRObject{ID: id, Type: of, Body: []byte(`{}`), Base: storage.Base{OrganizationID: "org"}}
}

// subscribe turns OpenADR on and stores a subscription to every operation.
func (w *world) subscribe(objects ...storage.OpenADRType) {
	w.put(subscription("", objects, events.OperationCreate, events.OperationUpdate, events.OperationDelete))
	w.state = w.log
}

// subscription returns a subscription to operations on the objects of a program, "" for all.
func subscription(program string, objects []storage.OpenADRType, operations ...string) *storage.OpenADRObject {
	o := openADR(storage.OpenADRSubscription, "sub")
	o.Parent, o.Callbacks = program, []storage.Callback{{URL: "https://ven.example", Objects: objects, Operations: operations}}
	return o
}

// operations are the operations of the notifications of an object, in order.
func (w *world) operations(id string) (list []string) {
	for _, c := range w.changesOf(id) {
		list = append(list, c.Operation)
	}
	return list
}

// changesOf are the notifications of an object, in order.
func (w *world) changesOf(id string) (list []events.Change) {
	w.triggers.mu.Lock()
	defer w.triggers.mu.Unlock()
	for i := range w.triggers.list {
		if c := w.triggers.list[i].Change; c != nil && c.ObjectID == id {
			list = append(list, *c)
		}
	}
	return list
}

// Subscribers are notified one time of each change of a rate plan, whichever process sees
// it, also if the plan is removed while no process runs. They are not notified of plans
// that did not change for a day or were removed before, and not of the emission programs.
func TestChanges_RatePlans(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := priceWorld(t)
		w.put(storagetest.RatePlan("org", "gone", 0.1))
		if err := w.store.Delete(t.Context(), storage.KindRatePlan.Ref("org", "gone")); err != nil {
			t.Fatal(err)
		}
		pass(48 * time.Hour)
		w.subscribe(storage.OpenADRProgram)
		stop := w.fleet(2)
		pass(minute)
		if got := w.changed(); len(got) != 0 {
			t.Errorf("notifications of %q, want none", got)
		}
		home := storagetest.Home("org", "h6", "new")
		w.put(home)
		w.put(storagetest.RatePlan("org", "new", 0.1))
		pass(minute)
		w.put(storagetest.RatePlan("org", "new", 0.2))
		pass(minute)
		w.peak("new")
		pass(minute)
		stop()
		if err := w.store.Delete(t.Context(), storage.KindRatePlan.Ref("org", "new")); err != nil {
			t.Fatal(err)
		}
		w.put(storagetest.Home("org", "h7", "meanwhile"))
		w.put(storagetest.RatePlan("org", "meanwhile", 0.1))
		stop = w.fleet(2)
		pass(minute)
		w.put(storagetest.RatePlan("org", "new", 0.1))
		pass(minute)
		stop()
		if got := w.operations("new"); !slices.Equal(got, []string{"CREATE", "UPDATE", "DELETE", "CREATE"}) {
			t.Errorf("notifications of %q", got)
		}
		if got := w.operations("meanwhile"); !slices.Equal(got, []string{"CREATE"}) {
			t.Errorf("notifications of %q of a plan created while no process ran", got)
		}
		if got := w.changed(); len(got) != 5 {
			t.Errorf("notifications of %q", got)
		}
		if list := w.changesOf("new"); !bytes.Equal(list[2].Object, list[1].Object) {
			t.Errorf("the deleted program is %s, want its last state %s", list[2].Object, list[1].Object)
		}
	})
}

// A rate plan may become a program long after its last write: with the first home on a plan
// of unknown place, or with its utility's number. Subscribers are notified of a created
// program one time.
func TestChanges_LateProgram(t *testing.T) {
	placeless := storagetest.RatePlan("org", "placeless", 0.1)
	common := storagetest.RatePlan(storage.Shared, "common", 0.1)
	placed := storagetest.RatePlan("org", "placeless", 0.1)
	placed.Tariff = bytes.Replace(placed.Tariff, []byte("{"), []byte(`{"eiaid":14328,`), 1)
	for _, tt := range []struct {
		name  string
		plan  *storage.RatePlan
		later func(w *world)
	}{
		{"first home", placeless, func(w *world) { w.put(storagetest.Home("org", "h6", "placeless")) }},
		{"first home on a shared plan", common, func(w *world) { w.put(storagetest.Home("org", "h6", "common")) }},
		{"a home that changes its plan", placeless, func(w *world) { w.put(storagetest.Home("org", "h2", "placeless")) }},
		{"the utility's number", placeless, func(w *world) { w.put(placed) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := priceWorld(t)
				w.put(tt.plan)
				pass(48 * time.Hour)
				w.subscribe(storage.OpenADRProgram)
				stop := w.fleet(2)
				pass(minute)
				tt.later(w)
				pass(minute)
				w.put(storagetest.Home("org", "h7", tt.plan.ID))
				pass(10 * minute)
				stop()
				stop = w.fleet(2)
				pass(10 * minute)
				stop()
				if got := w.operations(tt.plan.ID); !slices.Equal(got, []string{"CREATE"}) || len(w.changed()) != 1 {
					t.Errorf("notifications of %q, and of the plan %q", w.changed(), got)
				}
			})
		})
	}
}

// A change that the log refuses for good, such as one that is too large, does not hold up
// the changes of other objects. One that the log cannot store now is not lost.
func TestChanges_Refused(t *testing.T) {
	for _, tt := range []struct {
		name   string
		failed error
		want   []string
	}{
		{"permanently", errors.New("too large"), []string{"second"}},
		{"temporarily", storage.ErrUnavailable, []string{"first", "second"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := priceWorld(t)
				w.subscribe(storage.OpenADRReport)
				stop := w.fleet(1)
				pass(minute)
				refused := false
				w.triggers.fail = func(what string) error {
					if what != "accept" || refused {
						return nil
					}
					refused = true
					return tt.failed
				}
				w.put(openADR(storage.OpenADRReport, "first"))
				w.put(openADR(storage.OpenADRReport, "second"))
				pass(minute)
				stop()
				if got := w.changed(); !slices.Equal(got, tt.want) || !refused {
					t.Errorf("notifications of %q, want %q", got, tt.want)
				}
			})
		})
	}
}

// A subscriber of long ago is notified of what was written in the last day while no process
// ran, also if NATS does not accept the first trigger.
func TestChanges_WhileStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := priceWorld(t)
		w.subscribe(storage.OpenADRReport)
		w.put(openADR(storage.OpenADRReport, "before"))
		pass(changesFor)
		w.put(openADR(storage.OpenADRReport, "first"))
		w.put(openADR(storage.OpenADRReport, "second"))
		refused := false
		w.triggers.fail = func(what string) error {
			if what != "accept" || refused {
				return nil
			}
			refused = true
			return storage.ErrUnavailable
		}
		stop := w.fleet(1)
		pass(minute)
		stop()
		got := w.changed()
		if slices.Sort(got); !slices.Equal(got, []string{"first", "second"}) || !refused {
			t.Errorf("notifications of %q", got)
		}
	})
}

// A program whose last trigger cannot be read does not hold up the changes of other programs.
func TestChanges_UnreadableTrigger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := priceWorld(t)
		w.subscribe(storage.OpenADRProgram)
		stop := w.fleet(1)
		pass(minute)
		before := w.changed()
		w.triggers.fail = func(what string) error {
			if strings.HasSuffix(what, "first") {
				return errors.New("it does not decode")
			}
			return nil
		}
		for _, id := range []string{"first", "second"} {
			w.put(storagetest.Home("org", "on-"+id, id))
			w.put(storagetest.RatePlan("org", id, 0.1))
		}
		pass(minute)
		stop()
		if got := w.changed()[len(before):]; !slices.Equal(got, []string{"second"}) {
			t.Errorf("notifications of %q, want of the second program", got)
		}
	})
}

// The subscribers of a suspended organization are notified of no object and of no changed
// price. Once it is resumed, they are notified of the prices that changed meanwhile.
func TestChanges_SuspendedOrganization(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := priceWorld(t)
		w.subscribe(storage.OpenADRProgram, storage.OpenADREvent)
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

// What changes remember does not grow with the days and the alerts that have passed.
func TestChanges_Bounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := priceWorld(t)
		w.subscribe(storage.OpenADREvent)
		c := w.scheduler(0).newChanges()
		c.interest.all = true
		c.interest.complete.Store(true)
		check := func() {
			t.Helper()
			for range 2 { // two checks must agree
				pass(daysEvery)
				if err := c.checkDerived(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
		}
		check()
		first := len(c.seen)
		for range 5 {
			w.flexAlert("p", time.Now().Add(time.Hour), time.Hour)
			check()
			w.flexAlert("p", time.Now().Add(2*time.Hour), time.Hour) // the former alert is removed
			check()
			if len(c.alerts) != 1 {
				t.Errorf("%d alerts, want 1", len(c.alerts))
			}
			pass(24 * time.Hour)
			check()
		}
		if len(c.seen) > first+1 || len(c.alerts) != 0 {
			t.Errorf("%d fingerprints, first %d, and %d alerts", len(c.seen), first, len(c.alerts))
		}
	})
}

// The subscriptions of a deleted organization take no memory.
func TestChanges_DeletedOrganization(t *testing.T) {
	c := &changes{interest: interest{byOrg: map[string]map[wanted]bool{}}}
	for _, org := range []string{"leaving", "staying"} {
		s := openADR(storage.OpenADRSubscription, "sub")
		s.OrganizationID = org
		c.interest.note(s)
	}
	if err := c.announce(t.Context(), storage.Record{Ref: storage.ErasureRef("leaving"), Deleted: true}); err != nil {
		t.Fatal(err)
	}
	if got := slices.Collect(maps.Keys(c.interest.byOrg)); !slices.Equal(got, []string{"staying"}) {
		t.Errorf("subscriptions of %q, want of the organization that stays", got)
	}
}

// A critical peak and new market hours update the days of their plan under the same
// identifiers. The days of other plans stay as they are.
func TestChanges_Days(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := priceWorld(t)
		days := func() { w.addHoursFrom("COMED", began.Add(-24*time.Hour), 72) }
		days()
		w.subscribe(storage.OpenADREvent)
		stop := w.fleet(2)
		pass(minute)
		if created := w.operations("hourly_19991231"); !slices.Equal(created, []string{"CREATE"}) {
			t.Errorf("the day began with %q", created)
		}
		for _, c := range []struct {
			plan   string
			change func()
		}{{"p", func() { w.peak("p") }}, {"hourly", days}} {
			before := w.changed()
			c.change()
			pass(minute)
			after := w.changed()[len(before):]
			if len(after) == 0 || slices.ContainsFunc(after, func(id string) bool { return !strings.HasPrefix(id, c.plan+"_") }) {
				t.Errorf("a change of %s notifies of %q", c.plan, after)
			}
			for _, id := range after {
				if got := w.operations(id); got[len(got)-1] != events.OperationUpdate {
					t.Errorf("%s: %q", id, got)
				}
			}
		}
		stop()
		before := w.changed()
		w.peak("p")
		stop = w.fleet(2)
		pass(minute)
		stop()
		for _, id := range w.changed()[len(before):] {
			if got := w.operations(id); got[len(got)-1] != events.OperationUpdate {
				t.Errorf("after a restart, %s: %q", id, got)
			}
		}
		if got := w.changed(); len(got) == len(before) {
			t.Error("no notification of a peak created while no process ran")
		}
	})
}

// flexAlert makes an alert the only event of a plan, or removes it if its length is 0. It
// returns the identifier of the OpenADR event.
func (w *world) flexAlert(plan string, from time.Time, length time.Duration) string {
	list := &storage.PlanEvents{PlanID: plan, Events: []storage.PlanEvent{}, Base: storage.Base{OrganizationID: "org"}}
	if length > 0 {
		e := storage.PlanEvent{Kind: pricing.FlexAlert, From: storage.Time{Time: from}, To: storage.Time{Time: from.Add(length)}}
		e.SetDefaults()
		list.Events = append(list.Events, e)
	}
	w.put(list)
	return fmt.Sprintf("%s_%08x", plan, from.Unix())
}

// Subscribers are notified of an alert, of its new end, and of its removal before its end.
// They are not notified when it ends. The days of the plan stay as they are.
func TestChanges_FlexAlerts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := priceWorld(t)
		w.subscribe(storage.OpenADREvent)
		stop := w.fleet(2)
		pass(minute)
		before := len(w.changed())
		from := began.Add(4 * time.Hour)
		removed := w.flexAlert("p", from, time.Hour)
		pass(minute)
		w.flexAlert("p", from, 2*time.Hour)
		pass(minute)
		w.flexAlert("p", from, 0)
		pass(minute)
		w.flexAlert("p", from, time.Hour)
		pass(minute)
		w.flexAlert("p", from, 0)
		pass(minute)
		if got := w.operations(removed); !slices.Equal(got, []string{"CREATE", "UPDATE", "DELETE", "CREATE", "DELETE"}) {
			t.Errorf("notifications of %q", got)
		}
		w.triggers.mu.Lock()
		for _, made := range w.triggers.list {
			if c := made.Change; c != nil && c.Alert != (c.ObjectID == removed) {
				t.Errorf("%s of %s: alert is %v", c.Operation, c.ObjectID, c.Alert)
			}
		}
		w.triggers.mu.Unlock()
		ended := w.flexAlert("p", began.Add(15*time.Minute), 15*time.Minute)
		pass(30 * time.Minute)
		w.flexAlert("p", from, 0)
		pass(minute)
		if got := w.operations(ended); !slices.Equal(got, []string{"CREATE"}) {
			t.Errorf("an alert that ends notifies of %q", got)
		}
		if got := w.changed()[before:]; len(got) != 6 {
			t.Errorf("notifications of %q", got)
		}
		stop()
	})
}

// Subscribers are notified of an alert and of its removal also while the prices of another
// plan change at each check.
func TestChanges_FlexAlertAmongChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := priceWorld(t)
		w.subscribe(storage.OpenADREvent)
		stop := w.fleet(1)
		pass(minute)
		from, alert := began.Add(4*time.Hour), ""
		for i := range 20 {
			w.put(storagetest.RatePlan("org", "flat", 0.2+float64(i)/100))
			switch i {
			case 5:
				alert = w.flexAlert("p", from, time.Hour)
			case 10:
				w.flexAlert("p", from, 0)
			}
			pass(pricesEvery)
		}
		if got := w.operations(alert); !slices.Equal(got, []string{"CREATE", "DELETE"}) {
			t.Errorf("notifications of %q", got)
		}
		if got := w.operations("flat_19991231"); !slices.Equal(got, []string{"CREATE"}) {
			t.Errorf("the plan was not pending throughout: %q", got)
		}
		stop()
	})
}

// Reports are deleted after their retention.
func TestChanges_ReportRetention(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.state = w.log
		stop := w.fleet(1)
		w.put(openADR(storage.OpenADRReport, "report"))
		listed := func() (n int) {
			_ = w.store.View(func(v storage.View) error { // the function returns no error
				n = v.Count(storage.KindOpenADRReport, "org")
				return nil
			})
			return n
		}
		pass(59 * minute)
		if listed() != 1 {
			t.Error("the report is gone before its retention")
		}
		pass(2 * time.Hour)
		if listed() != 0 {
			t.Error("the report outlives its retention")
		}
		stop()
	})
}

// A client may create a VEN again while the deletion of the old VEN is announced. The new
// VEN stays.
func TestChanges_CreatedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.subscribe(storage.OpenADRVEN)
		w.triggers.fail = func(what string) error {
			if what == "accept, unanswered" {
				<-time.After(50 * time.Millisecond)
			}
			return nil
		}
		ven := openADR(storage.OpenADRVEN, "ven")
		w.put(ven)
		stop := w.fleet(1)
		defer stop()
		pass(minute)
		removed := *ven
		removed.Removed = true
		w.put(&removed)
		pass(10 * time.Millisecond)
		w.put(ven)
		pass(minute)
		if o, err := storage.Get[storage.OpenADRObject](w.store, ven.Ref()); err != nil || o.Removed {
			t.Errorf("new VEN is removed: %t, %v", o.Removed, err)
		}
		if got := w.operations("ven"); !slices.Equal(got, []string{"CREATE", "DELETE", "UPDATE"}) {
			t.Errorf("notifications of %q", got)
		}
		w.put(&removed)
		pass(minute)
		if _, err := storage.Get[storage.OpenADRObject](w.store, ven.Ref()); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("removed VEN: %v, want it deleted", err)
		}
	})
}
