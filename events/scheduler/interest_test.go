package scheduler

import (
	"fmt"
	"testing"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
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
