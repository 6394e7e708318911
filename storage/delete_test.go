package storage_test

import (
	"errors"
	"strconv"
	"testing"

	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/storagetest"
)

func device(home, id string) *storage.HVACDevice {
	d := storage.NewHVACDevice("org")
	d.HomeID, d.ID = home, id
	return &d
}

// TestDeleteHome_Devices checks that a later home with the same identifier has no device
// of the deleted home, whatever number of devices that was.
func TestDeleteHome_Devices(t *testing.T) {
	for _, n := range []int{1, storage.MaxBatch} {
		s, _, _, _ := newStore(t)
		storagetest.Put(t, s, home("h", ""), home("other", ""), device("other", "kept"))
		for i := range n {
			id := "d" + strconv.Itoa(i)
			d, preferences := device("h", id), storage.NewUserPreferences("org", id)
			d.Deleted = i == 1
			storagetest.Put(t, s, d, &preferences)
		}
		if err := s.DeleteHome(t.Context(), "org", "h"); err != nil {
			t.Fatalf("%d devices: %v", n, err)
		}
		err := s.View(func(v storage.View) error {
			if devices, preferences := v.Count(storage.KindHVACDevice, "org"), v.Count(storage.KindUserPreferences, "org"); devices != 1 || preferences != 0 {
				t.Errorf("%d devices and %d preferences remain of %d, want the device of the other home", devices, preferences, n)
			}
			_, err := v.Get(storage.KindHVACDevice.Ref("org", "kept"))
			return err
		})
		if _, gone := storage.Get[storage.Home](s, storage.KindHome.Ref("org", "h")); err != nil || !errors.Is(gone, storage.ErrNotFound) {
			t.Errorf("%v, the home: %v", err, gone)
		}
	}
}
