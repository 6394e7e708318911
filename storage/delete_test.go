package storage_test

import (
	"errors"
	"fmt"
	"slices"
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

// TestDelete_HomeDevices checks that a later home with the same identifier has no device
// of the deleted home, whatever number of devices that was.
func TestDelete_HomeDevices(t *testing.T) {
	for _, n := range []int{1, storage.MaxBatch} {
		s, _, _, _ := newStore(t)
		storagetest.Put(t, s, home("h", ""), home("other", ""), device("other", "kept"))
		for i := range n {
			id := "d" + strconv.Itoa(i)
			d, preferences := device("h", id), storage.NewUserPreferences("org", id)
			d.Deleted = i == 1
			storagetest.Put(t, s, d, &preferences)
		}
		if err := s.Delete(t.Context(), storage.KindHome.Ref("org", "h")); err != nil {
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

// TestDelete_ConcurrentCreation checks that a home, a plan or a source with the identifier of
// a deleted one inherits nothing that was created during the deletion.
func TestDelete_ConcurrentCreation(t *testing.T) {
	solar := &storage.Solar{HomeID: "h", SizeKw: 5, Base: storage.Base{OrganizationID: "org"}}
	flow := &storage.Onboarding{ID: "h", HomeID: "h", Status: storage.OnboardingInProgress, EligibilityStatus: storage.Eligible, Base: storage.Base{OrganizationID: "org"}}
	events := &storage.PlanEvents{PlanID: "p", Base: storage.Base{OrganizationID: "org"}}
	source := &storage.Source{ID: "s", Base: storage.Base{OrganizationID: "org"}, SourceSettings: storage.SourceSettings{
		Adapter: "csv", URL: "https://example.com", Parameters: map[string]string{"node": "HUB"}, EverySeconds: 60, Timezone: "UTC",
	}}
	state := &storage.SourceState{ID: "s", Base: storage.Base{OrganizationID: "org"}}
	rewrite := func(s *storage.Store, e storage.Entity) error {
		return s.Rewrite(t.Context(), revised(storage.Revised{Put: []storage.Entity{e}}))
	}
	tests := []struct {
		name   string
		child  storage.Entity
		create func(*storage.Store, storage.Entity) error
	}{
		{"solar", solar, func(s *storage.Store, e storage.Entity) error { return s.Replace(t.Context(), e) }},
		{"onboarding", flow, func(s *storage.Store, e storage.Entity) error { return s.Create(t.Context(), e) }},
		{"device", device("h", "d"), func(s *storage.Store, e storage.Entity) error { return s.Create(t.Context(), e) }},
		{"events", events, rewrite},
		{"state", state, rewrite},
	}
	for _, tt := range tests {
		for _, deletedFirst := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, deleted first: %t", tt.name, deletedFirst), func(t *testing.T) {
				s, log, _, _ := newStore(t)
				storagetest.Put(t, s, home("h", ""), storagetest.RatePlan("org", "p", 0.1), source)
				create := func() error { return tt.create(s, tt.child) }
				remove := func() error {
					switch tt.child.Ref().Kind {
					case storage.KindPlanEvent:
						return s.Delete(t.Context(), storage.KindRatePlan.Ref("org", "p"))
					case storage.KindSourceState:
						return s.Delete(t.Context(), storage.KindSource.Ref("org", "s"))
					}
					return s.Delete(t.Context(), storage.KindHome.Ref("org", "h"))
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

// TestDelete_HomeDeviceInFlight checks that a device whose home is deleted while the device is
// written is removed with its preferences, also if the device was deleted with the home.
func TestDelete_HomeDeviceInFlight(t *testing.T) {
	for name, stored := range map[string]bool{"new": false, "updated": true} {
		t.Run(name, func(t *testing.T) {
			s, log, _, _ := newStore(t)
			storagetest.Put(t, s, home("h", ""))
			late := device("h", "d")
			if stored {
				storagetest.Put(t, s, device("h", "d"))
				late.Linked = false
			}
			log.Intercept(func(w storage.Write) error {
				if w.Kind != storage.KindHVACDevice {
					return nil
				}
				log.Intercept(nil)
				return s.Delete(t.Context(), storage.KindHome.Ref("org", "h"))
			})
			preferences := storage.NewUserPreferences("org", "d")
			for i, r := range s.Upsert(t.Context(), []storage.Entity{late, &preferences}) {
				if !errors.Is(r.Err, storage.ErrNotFound) {
					t.Errorf("entity %d: %s, %v, want not found", i, r.Change, r.Err)
				}
			}
			for _, kind := range []storage.Kind{storage.KindHVACDevice, storage.KindUserPreferences} {
				if r, err := log.Read(t.Context(), kind.Ref("org", "d")); err != nil || !r.Deleted || r.Expires.IsZero() {
					t.Errorf("the log has %+v, %v, want a deletion that expires", r, err)
				}
			}
		})
	}
}

// countedReplica counts the scans of devices.
type countedReplica struct {
	storage.Replica
	scans int
}

type countedView struct {
	storage.View
	replica *countedReplica
}

func (r *countedReplica) View(fn func(storage.View) error) error {
	return r.Replica.View(func(v storage.View) error { return fn(countedView{v, r}) })
}

func (v countedView) Scan(kind storage.Kind, org, after string, fn func(storage.Record) bool) error {
	if kind == storage.KindHVACDevice {
		v.replica.scans++
	}
	return v.View.Scan(kind, org, after, fn)
}

// TestDevicesOf_ReadsOneHome checks that reading and deleting the devices of a home does not
// scan the organization's devices.
func TestDevicesOf_ReadsOneHome(t *testing.T) {
	_, log, replica, c := newStore(t)
	counted := &countedReplica{Replica: replica}
	s := storage.NewStore(log, counted, c.Now)
	storagetest.Put(t, s, home("h", ""), device("h", "d"), device("other", "e"))
	var found []string
	err := s.View(func(v storage.View) error {
		for d, err := range storage.DevicesOf(v, "org", "h", "") {
			if err != nil {
				return err
			}
			found = append(found, d.ID)
		}
		return nil
	})
	if err := errors.Join(err, s.Delete(t.Context(), storage.KindHome.Ref("org", "h"))); err != nil || counted.scans != 0 || !slices.Equal(found, []string{"d"}) {
		t.Errorf("devices %q, %d scans, %v, want d and no scan", found, counted.scans, err)
	}
}
