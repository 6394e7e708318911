package scheduler

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/storagetest"
)

// A client that subscribes to one program after another takes little memory. No change that a
// subscription wants is left out.
func TestInterest_ManyPrograms(t *testing.T) {
	const programs = 10_000
	i := interest{byOrg: map[string]map[wanted]bool{}}
	for n := range programs {
		o := openADR(storage.OpenADRSubscription, "sub")
		o.Parent = fmt.Sprint("program", n)
		o.Callbacks = []storage.Callback{{Objects: []storage.OpenADRType{storage.OpenADREvent}, Operations: []string{events.OperationUpdate}}}
		i.note(o)
		if n < 100 && i.has("org", storage.OpenADREvent, events.OperationUpdate, "another") {
			t.Fatalf("a change that none of %d subscriptions wants is not left out", n+1)
		}
	}
	for n := range programs {
		if !i.has("org", storage.OpenADREvent, events.OperationUpdate, fmt.Sprint("program", n)) {
			t.Fatalf("the change of program %d is left out", n)
		}
	}
	if i.has("org", storage.OpenADREvent, events.OperationDelete, "program1") || i.has("other", storage.OpenADREvent, events.OperationUpdate, "program1") {
		t.Error("a change that no subscription wants is not left out")
	}
	if got := len(i.byOrg["org"]); got > 2000 {
		t.Errorf("%d entries after %d subscriptions", got, programs)
	}
}

// A program selects events alone. A subscription of a program wants all its other objects, also
// those that belong to no program.
func TestInterest_OtherObjects(t *testing.T) {
	i := interest{byOrg: map[string]map[wanted]bool{}}
	i.note(subscription("program", storage.OpenADRTypes(), events.OperationUpdate))
	for _, of := range storage.OpenADRTypes() {
		for program, want := range map[string]bool{"program": true, "other": of != storage.OpenADREvent, "": of != storage.OpenADREvent} {
			if got := i.has("org", of, events.OperationUpdate, program); got != want {
				t.Errorf("a change of a %s of the program %q is wanted: %v, want %v", of, program, got, want)
			}
		}
	}
}

// A change says what a subscription selects by: the type, the program, the client and the
// targets of the object.
func TestChanges_Fields(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := priceWorld(t)
		w.subscribe(storage.OpenADREvent, storage.OpenADRProgram)
		stop := w.fleet(1)
		pass(minute)
		event := openADR(storage.OpenADREvent, "event")
		event.Parent, event.ClientID, event.Targets = "program", "client", []string{"group"}
		w.put(event)
		w.put(storagetest.Home("org", "h6", "new"))
		w.put(storagetest.RatePlan("org", "new", 0.1))
		pass(minute)
		stop()
		if list := w.changesOf("event"); len(list) != 1 || list[0].ObjectType != storage.OpenADREvent || list[0].ProgramID != "program" ||
			list[0].ClientID != "client" || !slices.Equal(list[0].Targets, []string{"group"}) {
			t.Errorf("the changes of the event are %+v", list)
		}
		if list := w.changesOf("new"); len(list) != 1 || list[0].ObjectType != storage.OpenADRProgram || list[0].ProgramID != "new" {
			t.Errorf("the changes of the program are %+v", list)
		}
		days := 0
		w.triggers.mu.Lock()
		defer w.triggers.mu.Unlock()
		for _, tr := range w.triggers.list {
			if c := tr.Change; c != nil && c.ObjectType == storage.OpenADREvent && c.ObjectID != "event" && c.ProgramID == "new" {
				days++
			}
		}
		if days == 0 {
			t.Error("no event of the new program has its program")
		}
	})
}

// A subscription counts from its creation on, and only for its program. With MQTT, every change
// counts without any subscription.
func TestChanges_Wanted(t *testing.T) {
	for _, mqtt := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			w := priceWorld(t)
			w.state, w.everyChange = w.log, mqtt
			stop := w.fleet(1)
			pass(minute)
			write := func(id, program string) {
				t.Helper()
				event := openADR(storage.OpenADREvent, id)
				event.Parent = program
				w.put(event)
				pass(minute)
			}
			write("before", "program")
			if !mqtt {
				w.put(subscription("program", []storage.OpenADRType{storage.OpenADREvent}, events.OperationCreate))
				pass(minute)
			}
			write("after", "program")
			write("elsewhere", "other")
			stop()
			for id, want := range map[string]bool{"before": mqtt, "after": true, "elsewhere": mqtt} {
				if got := w.operations(id); (len(got) == 1) != want {
					t.Errorf("MQTT %v: notifications %q of the event %q, want %v", mqtt, got, id, want)
				}
			}
		})
	}
}

// A subscription to one operation gets all changes of that operation, and no other.
func TestChanges_OneOperation(t *testing.T) {
	for _, operation := range []string{events.OperationCreate, events.OperationUpdate, events.OperationDelete} {
		synctest.Test(t, func(t *testing.T) {
			w := priceWorld(t)
			w.put(subscription("", []storage.OpenADRType{storage.OpenADRProgram}, operation))
			pass(48 * time.Hour)
			w.state = w.log
			stop := w.fleet(1)
			pass(minute)
			w.put(storagetest.Home("org", "h6", "new"))
			w.put(storagetest.RatePlan("org", "new", 0.1))
			pass(minute)
			w.put(storagetest.RatePlan("org", "new", 0.2))
			pass(minute)
			if err := w.store.Delete(t.Context(), storage.KindRatePlan.Ref("org", "new")); err != nil {
				t.Fatal(err)
			}
			pass(minute)
			stop()
			if got := w.operations("new"); !slices.Equal(got, []string{operation}) {
				t.Errorf("notifications of %q, want %s", got, operation)
			}
		})
	}
}
