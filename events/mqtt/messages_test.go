package mqtt

import (
	"slices"
	"testing"
	"time"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/storagetest"
)

// The broker retains prices. An alert displaces no retained price.
func TestMessages_Retained(t *testing.T) {
	store, _, _ := storagetest.NewStore(time.Now)
	for _, c := range []struct {
		change events.Change
		retain bool
	}{
		{events.Change{ObjectType: storage.OpenADREvent, ObjectID: "p_20260701"}, true},
		{events.Change{ObjectType: storage.OpenADREvent, ObjectID: "p_6a45ae80", Alert: true}, false},
		{events.Change{ObjectType: storage.OpenADRProgram, ObjectID: "p"}, false},
	} {
		c.change.ProgramID, c.change.Operation, c.change.Object = "p", events.OperationCreate, []byte(`{}`)
		err := store.View(func(v storage.View) error {
			list, err := messages(v, "org", &c.change)
			if len(list) == 0 {
				t.Errorf("%s has no messages", c.change.ObjectID)
			}
			for _, m := range list {
				if m.retain != c.retain {
					t.Errorf("%s on %s: retained %v, want %v", c.change.ObjectID, m.topic, m.retain, c.retain)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// The end of a program removes the retained messages of its events, for every VEN also if the
// program has targets: its events need not have any.
func TestMessages_RemovedProgram(t *testing.T) {
	store, _, _ := storagetest.NewStore(time.Now)
	for _, targets := range [][]string{nil, {"group"}} {
		c := events.Change{ObjectType: storage.OpenADRProgram, ObjectID: "p", ProgramID: "p", Operation: events.OperationDelete, Targets: targets, Object: []byte(`{}`)}
		var removed []string
		err := store.View(func(v storage.View) error {
			list, err := messages(v, "org", &c)
			for _, m := range list {
				if m.retain && m.body == nil {
					removed = append(removed, m.topic)
				}
			}
			return err
		})
		var want []string
		for _, prefix := range []string{"all", "public"} {
			for _, operation := range []string{"create", "update", "delete"} {
				want = append(want, "openadr3/org/"+prefix+"/programs/p/events/"+operation)
			}
		}
		if err != nil || !slices.Equal(removed, want) {
			t.Errorf("with the targets %v the messages of %v are removed, error %v", targets, removed, err)
		}
	}
}
