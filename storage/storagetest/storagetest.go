package storagetest

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/gridhook/gridhook/storage"
)

// Start is a fixed time for the clocks of tests.
var Start = time.Date(2026, time.July, 1, 12, 0, 0, 0, time.UTC)

// NewStore returns a store on a new in-memory log and a replica of the log.
func NewStore(now func() time.Time) (*storage.Store, *Log, *Replica) {
	log := NewLog()
	replica := log.Replica()
	return storage.NewStore(log, replica, now), log, replica
}

// Put stores entities and fails the test if the store refuses an entity.
func Put(t testing.TB, s *storage.Store, entities ...storage.Entity) {
	t.Helper()
	for i, r := range s.Upsert(t.Context(), entities) {
		if r.Err != nil {
			t.Fatalf("store %s: %v", entities[i].Ref(), r.Err)
		}
	}
}

// Home returns an enabled home in Chicago on a rate plan.
func Home(org, id, plan string) *storage.Home {
	h := storage.NewHome(org)
	h.ID, h.RatePlanID, h.Timezone = id, plan, "America/Chicago"
	return &h
}

// RatePlan returns a plan of an organization with one price, in $/kWh, at all times.
func RatePlan(org, id string, price float64) *storage.RatePlan {
	tariff, err := json.Marshal(map[string]any{
		"name": "Flat " + id, "energyratestructure": []any{[]any{map[string]any{"rate": price, "unit": "kWh"}}},
	})
	if err != nil {
		panic(err) // numbers and texts always encode
	}
	p := &storage.RatePlan{ID: id, Tariff: tariff}
	p.OrganizationID = org
	return p
}
