package sources

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/pricing/feed"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/storagetest"
)

// TestRunner_DamagedOrganization checks that an organization whose record does not decode
// keeps neither the sources of others from their runs nor other organizations from alerts. The
// runs of its own sources are skipped.
func TestRunner_DamagedOrganization(t *testing.T) {
	w := newWorld(t)
	shared := storage.Base{OrganizationID: storage.Shared}
	storagetest.Put(t, w.Store, &storage.RatePlan{ID: "home", Tariff: json.RawMessage(`{"energyratestructure":[[{"rate":0.1}]]}`), Base: shared})
	for _, org := range []string{"acme", "bolt"} {
		storagetest.Put(t, w.Store, &storage.Organization{ID: org, Name: org, Base: shared}, storagetest.Home(org, "h1", "home"))
	}
	w.add(func(s *storage.Source) { s.OrganizationID = "acme" })
	s := w.add(ofPlan("home"))
	damaged, err := w.log.Read(t.Context(), storage.OrganizationRef("acme"))
	must(t, err)
	_, err = w.log.Append(t.Context(), storage.Write{Ref: damaged.Ref, Expect: damaged.Revision, At: w.now, Value: []byte(`{"id":7}`)})
	must(t, err)
	must(t, w.Store.CatchUp(t.Context()))

	from := storagetest.Start.Add(time.Hour).Truncate(time.Hour)
	_, err = w.store(s, feed.Data{Alerted: true, Alerts: []feed.Alert{{Name: "x", From: from, To: from.Add(time.Hour)}}})
	must(t, err)
	must(t, w.notify(t.Context(), &s))
	if got := w.notified.list; len(got) != 1 || got[0].OrganizationID != "bolt" {
		t.Errorf("the notices are %+v, want one of bolt", got)
	}
	own, err := w.log.Read(t.Context(), storage.KindSource.Ref("acme", "hub"))
	must(t, err)
	must(t, w.handle(t.Context(), events.Task{TaskName: events.TaskName{Kind: events.TaskSource, OrganizationID: "acme", ID: "hub", Revision: own.Revision}, DueAt: storage.Time{Time: w.now}}, events.Taken{}))
	clear(w.tasks.waiting)
	if must(t, w.plan(t.Context())); len(w.tasks.waiting) != 1 {
		t.Errorf("%d runs are planned, want 1", len(w.tasks.waiting))
	}
}

// TestRunner_DamagedSource checks that the run of a source whose record does not decode ends.
func TestRunner_DamagedSource(t *testing.T) {
	w := newWorld(t)
	s := w.add(nil)
	stored, err := w.log.Read(t.Context(), s.Ref())
	must(t, err)
	_, err = w.log.Append(t.Context(), storage.Write{Ref: s.Ref(), Expect: stored.Revision, At: w.now, Value: []byte(`{"id":7}`)})
	must(t, err)
	must(t, w.Store.CatchUp(t.Context()))
	must(t, w.handle(t.Context(), events.TaskOf(s.Ref(), stored.Revision, w.now), events.Taken{}))
}
