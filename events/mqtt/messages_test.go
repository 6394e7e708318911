package mqtt

import (
	"slices"
	"strings"
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

// A VEN gets the objects without targets, the objects with a target that it was granted, and what
// is its own. It sees only the targets that it was granted.
func TestMessages_Topics(t *testing.T) {
	store, _, _ := storagetest.NewStore(time.Now)
	for client, targets := range map[string][]string{"in": {"group"}, "out": {"other"}, "gone": {"group"}} {
		storagetest.Put(t, store, &storage.OpenADRObject{
			ID: storage.VENID(client), Type: storage.OpenADRVEN, ClientID: client, Targets: targets, Removed: client == "gone", Body: []byte(`{}`),
			Base: storage.Base{OrganizationID: "org"},
		})
	}
	storagetest.Put(t, store, &storage.OpenADRObject{ID: "gone", Type: storage.OpenADRProgram, Removed: true, Body: []byte(`{}`), Base: storage.Base{OrganizationID: "org"}})
	in := "vens/" + storage.VENID("in") + "/"
	for _, tt := range []struct {
		name   string
		change events.Change
		want   []string // topics
		retain bool
	}{
		{"event", events.Change{ObjectType: storage.OpenADREvent, Operation: events.OperationCreate, ProgramID: "p"},
			[]string{"all/events/create", "all/programs/p/events/create", "public/events/create", "public/programs/p/events/create"}, true},
		{"event with targets", events.Change{ObjectType: storage.OpenADREvent, Operation: events.OperationUpdate, ProgramID: "p", Targets: []string{"group", "secret"}},
			[]string{"all/events/update", "all/programs/p/events/update", in + "events/update"}, true},
		{"event of a deleted program", events.Change{ObjectType: storage.OpenADREvent, Operation: events.OperationDelete, ProgramID: "gone", Targets: []string{"secret"}},
			[]string{"all/events/delete", "all/programs/gone/events/delete"}, false},
		{"program", events.Change{ObjectType: storage.OpenADRProgram, Operation: events.OperationCreate},
			[]string{"all/programs/create", "public/programs/create"}, false},
		{"changed program", events.Change{ObjectType: storage.OpenADRProgram, Operation: events.OperationUpdate},
			[]string{"all/programs/id/update", "all/programs/update", "public/programs/id/update", "public/programs/update"}, false},
		{"program with targets", events.Change{ObjectType: storage.OpenADRProgram, Operation: events.OperationUpdate, Targets: []string{"group", "secret"}},
			[]string{"all/programs/id/update", "all/programs/update", in + "programs/update"}, false},
		{"VEN", events.Change{ObjectType: storage.OpenADRVEN, Operation: events.OperationCreate}, []string{"all/vens/create"}, false},
		{"changed VEN", events.Change{ObjectType: storage.OpenADRVEN, Operation: events.OperationUpdate}, []string{"all/vens/update", "vens/id/update"}, false},
		{"resource", events.Change{ObjectType: storage.OpenADRResource, Operation: events.OperationCreate, ClientID: "in"},
			[]string{"all/resources/create", in + "resources/create"}, false},
		{"report", events.Change{ObjectType: storage.OpenADRReport, Operation: events.OperationCreate, ClientID: "in"}, []string{"all/reports/create"}, false},
	} {
		tt.change.ObjectID, tt.change.Object = "id", []byte(`{"id":"id"}`)
		list, err := storage.Query(store, func(v storage.View) ([]message, error) { return messages(v, "org", &tt.change) })
		var topics []string
		for _, m := range list {
			topic := strings.TrimPrefix(m.topic, "openadr3/org/")
			topics = append(topics, topic)
			seen := tt.change.Targets
			if strings.HasPrefix(topic, in) {
				seen = slices.DeleteFunc(slices.Clone(seen), func(target string) bool { return target == "secret" })
			}
			if want := tt.change.AppendBody(nil, seen); m.retain != tt.retain || string(m.body) != string(want) {
				t.Errorf("%s: %s is %s, retained %v, want %s", tt.name, topic, m.body, m.retain, want)
			}
		}
		slices.Sort(tt.want)
		if slices.Sort(topics); err != nil || !slices.Equal(topics, tt.want) {
			t.Errorf("%s: topics %q, want %q, error %v", tt.name, topics, tt.want, err)
		}
	}
}
