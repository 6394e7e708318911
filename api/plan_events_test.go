package api

import (
	"errors"
	"testing"
	"time"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/storagetest"
)

// TestSetEvents_DeletedPlan checks that no events are stored for a plan that was deleted
// after the request was checked.
func TestSetEvents_DeletedPlan(t *testing.T) {
	store, _, _ := storagetest.NewStore(func() time.Time { return storagetest.Start })
	s, plan := &server{Deps: Deps{Deps: rest.Deps{Store: store}}}, storage.KindRatePlan.Ref(storage.Shared, "p")
	if _, err := s.setEvents(t.Context(), plan, []storage.PlanEvent{{ID: "e"}}); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("the events returned %v, want that there is no plan", err)
	}
	if all, err := storage.Query(store, func(v storage.View) (storage.PlanEvents, error) { return storage.ReadPlanEvents(v, plan) }); err != nil || len(all.Events) != 0 {
		t.Errorf("the plan has %d events, %v", len(all.Events), err)
	}
}
