package storage_test

import (
	"errors"
	"fmt"
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

// TestDelete_ConcurrentCreation checks that a home or a plan with the identifier of a deleted
// home or plan inherits nothing that was created during the deletion.
func TestDelete_ConcurrentCreation(t *testing.T) {
	solar := &storage.Solar{HomeID: "h", SizeKw: 5, Base: storage.Base{OrganizationID: "org"}}
	flow := &storage.Onboarding{ID: "h", HomeID: "h", Status: storage.OnboardingInProgress, EligibilityStatus: storage.Eligible, Base: storage.Base{OrganizationID: "org"}}
	events := &storage.PlanEvents{PlanID: "p", Base: storage.Base{OrganizationID: "org"}}
	tests := []struct {
		name   string
		child  storage.Entity
		create func(*storage.Store, storage.Entity) error
	}{
		{"solar", solar, func(s *storage.Store, e storage.Entity) error { return s.Replace(t.Context(), e) }},
		{"onboarding", flow, func(s *storage.Store, e storage.Entity) error { return s.Create(t.Context(), e) }},
		{"events", events, func(s *storage.Store, e storage.Entity) error {
			return s.Rewrite(t.Context(), revised(storage.Revised{Put: []storage.Entity{e}}))
		}},
	}
	for _, tt := range tests {
		for _, deletedFirst := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, deleted first: %t", tt.name, deletedFirst), func(t *testing.T) {
				s, log, _, _ := newStore(t)
				storagetest.Put(t, s, home("h", ""), storagetest.RatePlan("org", "p", 0.1))
				create := func() error { return tt.create(s, tt.child) }
				remove := func() error {
					if tt.child.Ref().Kind == storage.KindPlanEvent {
						return s.DeleteRatePlan(t.Context(), "org", "p")
					}
					return s.DeleteHome(t.Context(), "org", "h")
				}
				later, earlier, want := remove, create, error(nil)
				if deletedFirst {
					later, earlier, want = create, remove, storage.ErrNotFound
				}
				log.Intercept(func(storage.Write) error {
					log.Intercept(nil)
					return earlier()
				})
				if err := later(); !errors.Is(err, want) {
					t.Errorf("the later write returned %v, want %v", err, want)
				}
				if r, err := log.Read(t.Context(), tt.child.Ref()); err != nil || !r.Deleted || r.Expires.IsZero() {
					t.Errorf("the log has %+v, %v, want a deletion that expires", r, err)
				}
			})
		}
	}
}
