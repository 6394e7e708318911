package storagetest_test

import (
	"testing"

	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/storagetest"
)

func TestModel_Conformance(t *testing.T) {
	log := storagetest.NewLog()
	storagetest.Conformance(t, log, log.Replica())
}

func TestReplica_Held(t *testing.T) {
	log := storagetest.NewLog()
	replica := log.Replica()
	release := replica.Hold()
	log.Append(t.Context(), write("a"))
	if replica.Revision() != 0 {
		t.Fatalf("the held replica is at %d, want 0", replica.Revision())
	}
	release()
	log.Append(t.Context(), write("b"))
	if replica.Revision() != 2 {
		t.Fatalf("the released replica is at %d, want 2", replica.Revision())
	}
	if late := log.Replica(); late.Revision() != 2 {
		t.Fatalf("a new replica is at %d, want 2", late.Revision())
	}
}

func write(id string) storage.Write {
	return storage.Write{Ref: storage.KindHome.Ref("org", id), At: storagetest.Start, Value: []byte(`{}`)}
}
