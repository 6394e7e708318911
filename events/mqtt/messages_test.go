package mqtt

import (
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
