package storage_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/storagetest"
)

// A client sees the targets of its VEN and of the VEN's resources. A damaged resource
// grants nothing and changes nothing for the others.
func TestGranted_DamagedResource(t *testing.T) {
	s, log, _ := storagetest.NewStore(func() time.Time { return storagetest.Start })
	ven := storage.VENID("key_1")
	object := func(of storage.OpenADRType, id, target string) *storage.OpenADRObject {
		return &storage.OpenADRObject{
			ID: id, Type: of, ClientID: "key_1", Targets: []string{target}, Body: []byte(`{}`), Base: storage.Base{OrganizationID: "org"},
		}
	}
	storagetest.Put(t, s, object(storage.OpenADRVEN, ven, "street"), object(storage.OpenADRResource, ven+"_b", "roof"), object(storage.OpenADRResource, ven+"_c", "car"))
	damaged := storage.OpenADRRef(storage.OpenADRResource, "org", ven+"_a")
	if _, err := log.AppendBatch(t.Context(), []storage.Write{{Ref: damaged, At: storagetest.Start, Value: []byte(`{"targets": 7}`)}}); err != nil {
		t.Fatal(err)
	}
	err := s.View(func(v storage.View) error {
		granted, err := storage.Granted(v, "org", "key_1")
		if got := slices.Sorted(maps.Keys(granted)); !slices.Equal(got, []string{"car", "roof", "street"}) {
			t.Errorf("granted are %v", got)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
