package sources

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/feed"
	"github.com/gridhook/gridhook/pricing/market"
	"github.com/gridhook/gridhook/pricing/urdb"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/storagetest"
)

// store stores data as a run of the source would.
func (w *world) store(s storage.Source, data feed.Data) (storage.SourceRun, error) {
	w.t.Helper()
	task := w.due(s)
	state, err := w.record(w.t.Context(), task, &fetched{Data: data}, storage.SourceRun{At: storage.Time{Time: w.now}})
	if err != nil {
		return storage.SourceRun{}, err
	}
	return state.Runs[0], nil
}

func ofPlan(id string) func(*storage.Source) {
	return func(s *storage.Source) { s.PlanID = id }
}

func hourly(node string, kind market.Kind, prices ...float64) feed.Prices {
	p := feed.Prices{Node: node, Kind: kind, Step: time.Hour}
	for i, price := range prices {
		p.Points = append(p.Points, market.Point{Start: storagetest.Start.Truncate(time.Hour).Add(time.Duration(i) * time.Hour), Price: price})
	}
	return p
}

func (w *world) tariff(plan string) *pricing.Tariff {
	w.t.Helper()
	p, err := storage.Get[storage.RatePlan](w.Store, storage.KindRatePlan.Ref(storage.Shared, plan))
	must(w.t, err)
	tariff, err := urdb.Parse(p.Tariff)
	must(w.t, err)
	return tariff
}

// TestStore_CreatesPlan creates the plan of the fetched node once, and does not touch a
// plan that exists.
func TestStore_CreatesPlan(t *testing.T) {
	w := newWorld(t)
	s := w.add(ofPlan("hub-plan"))
	for i, want := range []bool{true, false} {
		run, err := w.store(s, feed.Data{Prices: []feed.Prices{hourly("HUB", market.RealTime, 0.02, 0.03+float64(i))}})
		if err != nil || run.Tariff != want {
			t.Errorf("run %d: %+v, %v", i, run, err)
		}
	}
	if got, ok := w.tariff("hub-plan").Market(); !ok || got != (pricing.Passthrough{Node: "HUB", Kind: market.RealTime, Loss: 1}) {
		t.Errorf("the plan follows %+v", got)
	}
	own := w.add(func(s *storage.Source) { s.ID, s.PlanID = "own", "own-plan" })
	must(t, w.Store.Create(t.Context(), &storage.RatePlan{
		ID: "own-plan", Tariff: json.RawMessage(`{"energyratestructure":[[{"rate":0.1}]]}`), Base: storage.Base{OrganizationID: storage.Shared},
	}))
	if run, err := w.store(own, feed.Data{Prices: []feed.Prices{hourly("HUB", market.RealTime, 0.5)}}); err != nil || run.Tariff {
		t.Errorf("a plan that exists: %+v, %v", run, err)
	}
	two := w.add(func(s *storage.Source) { s.ID, s.PlanID = "two", "two-plan" })
	_, err := w.store(two, feed.Data{Prices: []feed.Prices{hourly("A", market.RealTime, 0.5), hourly("B", market.RealTime, 0.5)}})
	if err == nil || !strings.Contains(err.Error(), "2 nodes") {
		t.Errorf("a plan of two nodes: %v", err)
	}
}

// TestStore_AllOrNothing has one node with good prices and one with bad prices.
func TestStore_AllOrNothing(t *testing.T) {
	w := newWorld(t)
	s := w.add(nil)
	before := w.Store.Revision()
	for name, bad := range map[string]feed.Prices{
		"absurd": hourly("BAD", market.DayAhead, 51), "no step": {Node: "BAD", Kind: market.DayAhead, Step: 7 * time.Minute, Points: hourly("", "", 1).Points},
		"no node": hourly("", market.DayAhead, 0.1), "no market": hourly("BAD", "", 0.1), "no points": {Node: "BAD", Kind: market.DayAhead},
	} {
		if _, err := w.store(s, feed.Data{Prices: []feed.Prices{hourly("HUB", market.DayAhead, 0.02), bad}}); !isAboutData(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if after := w.Store.Revision(); after != before || len(w.prices()) != 0 {
		t.Errorf("%d writes", after-before)
	}
}

// TestStore_Merges joins the pages of a node. A correction on a later page wins.
func TestStore_Merges(t *testing.T) {
	w := newWorld(t)
	s := w.add(nil)
	run, err := w.store(s, feed.Data{Prices: []feed.Prices{hourly("HUB", market.DayAhead, 0.01, 0.02), hourly("HUB", market.DayAhead, 0.01, 0.05, 0.03)}})
	if got := w.prices(); err != nil || run.Added != 3 || len(got) != 3 || got[1] != 50 {
		t.Errorf("%v, %+v, %v", got, run, err)
	}
}

// TestStore_Timezone gives a new series the time zone of the source, and leaves the time
// zone of a series that exists.
func TestStore_Timezone(t *testing.T) {
	w := newWorld(t)
	zoned := func(id, zone string) storage.Source {
		return w.add(func(s *storage.Source) { s.ID, s.Timezone = id, zone })
	}
	for i, s := range []storage.Source{zoned("one", "America/Chicago"), zoned("two", "America/Denver")} {
		_, err := w.store(s, feed.Data{Prices: []feed.Prices{hourly("HUB", market.DayAhead, 0.01+float64(i))}})
		must(t, err)
		series, err := storage.Get[storage.MarketSeries](w.Store, storage.MarketSeriesRef(storage.Shared, market.DayAhead, "HUB"))
		if must(t, err); series.Timezone != "America/Chicago" {
			t.Errorf("after the source %s the series has the time zone %s", s.ID, series.Timezone)
		}
	}
}

// TestStore_Steps adds prices to a series of 30 minutes. A price of an hour counts for both
// halves. Prices of an unknown step have the step of the series.
func TestStore_Steps(t *testing.T) {
	prices := func(step time.Duration, points ...market.Point) feed.Prices {
		return feed.Prices{Node: "HUB", Kind: market.DayAhead, Step: step, Points: points}
	}
	at := func(minutes int, price float64) market.Point {
		return market.Point{Start: storagetest.Start.Truncate(time.Hour).Add(time.Duration(minutes) * time.Minute), Price: price}
	}
	half, hour := 30*time.Minute, time.Hour
	for _, tt := range []struct {
		name string
		runs [][]feed.Prices
		want []float64 // $/MWh
	}{
		{"one price of an unknown step", [][]feed.Prices{{prices(half, at(0, 0.01), at(30, 0.02))}, {prices(0, at(60, 0.03))}}, []float64{10, 20, 30}},
		{"a run of hours", [][]feed.Prices{{prices(half, at(0, 0.01), at(30, 0.02))}, {prices(hour, at(60, 0.03))}}, []float64{10, 20, 30, 30}},
		{"pages of halves and hours", [][]feed.Prices{{prices(half, at(0, 0.01), at(30, 0.02)), prices(hour, at(60, 0.03))}}, []float64{10, 20, 30, 30}},
		{"pages of hours and halves", [][]feed.Prices{{prices(hour, at(0, 0.01)), prices(half, at(30, 0.02), at(60, 0.03))}}, []float64{10, 20, 30}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			s := w.add(nil)
			for _, run := range tt.runs {
				_, err := w.store(s, feed.Data{Prices: run})
				must(t, err)
			}
			if got := w.prices(); !slices.Equal(got, tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

// TestStore_Tariff replaces the plan's tariff by each new version, and only then.
func TestStore_Tariff(t *testing.T) {
	w := newWorld(t)
	s := w.add(ofPlan("ev"))
	for i, tt := range []struct {
		tariff string
		writes bool
	}{
		{`{"name":"EV","energyratestructure":[[{"rate":0.1}]]}`, true},
		{`{ "energyratestructure": [[{"rate": 0.1}]], "name": "EV" }`, false},
		{`{"name":"EV","energyratestructure":[[{"rate":0.2}]]}`, true},
	} {
		if run, err := w.store(s, feed.Data{Tariff: json.RawMessage(tt.tariff)}); err != nil || run.Tariff != tt.writes {
			t.Errorf("version %d: %+v, %v", i, run, err)
		}
	}
	if _, err := w.store(s, feed.Data{Tariff: json.RawMessage(`{"energyratestructure":"none"}`)}); !isAboutData(err) {
		t.Errorf("a tariff that is none: %v", err)
	}
	if name := w.tariff("ev").Info().Name; name != "EV" {
		t.Errorf("the plan is %q", name)
	}
	aimless := w.add(func(s *storage.Source) { s.ID = "aimless" })
	if _, err := w.store(aimless, feed.Data{Tariff: json.RawMessage(`{}`)}); err == nil || !strings.Contains(err.Error(), "planId") {
		t.Errorf("without a plan: %v", err)
	}
}

// TestStore_Alerts makes alerts events of the plan, and removes the future ones that are
// not listed any more. Events of others stay.
func TestStore_Alerts(t *testing.T) {
	w := newWorld(t)
	s := w.add(ofPlan("home"))
	alert := func(name string, in time.Duration) feed.Alert {
		from := storagetest.Start.Add(in).Truncate(time.Hour)
		return feed.Alert{Name: name, From: from, To: from.Add(2 * time.Hour)}
	}
	if _, err := w.store(s, feed.Data{Alerted: true, Alerts: []feed.Alert{alert("x", time.Hour)}}); !isAboutData(err) {
		t.Errorf("without the plan: %v", err)
	}
	plan := storage.RatePlan{ID: "home", Tariff: json.RawMessage(`{"energyratestructure":[[{"rate":0.1}]]}`), Base: storage.Base{OrganizationID: storage.Shared}}
	must(t, w.Store.Create(t.Context(), &plan))
	price := 0.5
	others := storage.PlanEvents{PlanID: "home", Base: plan.Base}
	others.Set(storage.PlanEvent{
		ID: "own", Kind: pricing.CriticalPeak, Price: &price, From: storage.Time{Time: storagetest.Start.Add(90 * time.Hour)}, To: storage.Time{Time: storagetest.Start.Add(91 * time.Hour)},
	})
	must(t, w.Store.Create(t.Context(), &others))
	for _, org := range []string{"acme", "bolt", "idle"} {
		storagetest.Put(t, w.Store, &storage.Organization{ID: org, Name: org, Suspended: org == "idle", Base: plan.Base},
			storagetest.Home(org, "h1", map[string]string{"acme": "home", "bolt": "other", "idle": "home"}[org]))
	}
	for i, tt := range []struct {
		alerts []feed.Alert
		events int
		want   string
	}{
		{[]feed.Alert{alert("today", -time.Hour), alert("tomorrow", 24*time.Hour)}, 2, "today tomorrow own"},
		{[]feed.Alert{alert("today", -time.Hour), alert("tomorrow", 24*time.Hour)}, 0, "today tomorrow own"},
		{[]feed.Alert{alert("later", 26*time.Hour)}, 2, "today later own"}, // today's alert has begun
		{nil, 1, "today own"},
	} {
		run, err := w.store(s, feed.Data{Alerted: true, Alerts: tt.alerts})
		must(t, err)
		must(t, w.notify(t.Context(), &s))
		w.now = storagetest.Start // runs of the same day
		stored, err := storage.Get[storage.PlanEvents](w.Store, storage.KindPlanEvent.Ref(storage.Shared, "home"))
		must(t, err)
		var names []string
		for _, e := range stored.Events {
			name := e.Name
			if e.ID == "own" {
				name = "own"
			} else if e.Kind != pricing.FlexAlert || e.Price != nil || e.Adder != nil {
				t.Errorf("the event is %+v", e)
			}
			names = append(names, name)
		}
		if got := strings.Join(names, " "); got != tt.want || run.Events != tt.events {
			t.Errorf("run %d: %q and %d changed, want %q and %d", i, got, run.Events, tt.want, tt.events)
		}
	}
	var told []string
	for _, n := range w.notified.list {
		var a events.FlexAlert
		must(t, json.Unmarshal(n.Data, &a))
		told = append(told, n.OrganizationID+" "+a.RatePlanID+" "+a.Name)
	}
	if got := strings.Join(told, ", "); got != "acme home today, acme home tomorrow, acme home later" {
		t.Errorf("the notices are %s", got)
	}
}

// TestStore_AlertsOfOthers keeps a person's future alerts, and the alerts of a source whose
// name begins alike.
func TestStore_AlertsOfOthers(t *testing.T) {
	w := newWorld(t)
	plan := storage.RatePlan{ID: "home", Tariff: json.RawMessage(`{"energyratestructure":[[{"rate":0.1}]]}`), Base: storage.Base{OrganizationID: storage.Shared}}
	must(t, w.Store.Create(t.Context(), &plan))
	from := storagetest.Start.Add(24 * time.Hour).Truncate(time.Hour)
	others := storage.PlanEvents{PlanID: "home", Base: plan.Base}
	others.Set(storage.PlanEvent{ID: "flex-summer", Kind: pricing.FlexAlert, From: storage.Time{Time: from}, To: storage.Time{Time: from.Add(time.Hour)}})
	must(t, w.Store.Create(t.Context(), &others))
	named := func(id string) storage.Source {
		return w.add(func(s *storage.Source) { s.ID, s.PlanID = id, "home" })
	}
	one, two := named("flex"), named("flex-2")
	data := feed.Data{Alerted: true, Alerts: []feed.Alert{{Name: "x", From: from, To: from.Add(time.Hour)}}}
	for _, s := range []storage.Source{one, two} {
		if run, err := w.store(s, data); err != nil || run.Events != 1 {
			t.Fatalf("%s: %+v, %v", s.ID, run, err)
		}
	}
	w.now = storagetest.Start
	if run, err := w.store(one, feed.Data{Alerted: true}); err != nil || run.Events != 1 {
		t.Errorf("without alerts: %+v, %v", run, err)
	}
	stored, err := storage.Get[storage.PlanEvents](w.Store, storage.KindPlanEvent.Ref(storage.Shared, "home"))
	must(t, err)
	if len(stored.Events) != 2 {
		t.Errorf("the events are %+v", stored.Events)
	}
}

// TestStore_AlertsOfYears removes the oldest ended alerts of a source when the plan has too
// many events, and none of a person.
func TestStore_AlertsOfYears(t *testing.T) {
	w := newWorld(t)
	plan := storage.RatePlan{ID: "home", Tariff: json.RawMessage(`{"energyratestructure":[[{"rate":0.1}]]}`), Base: storage.Base{OrganizationID: storage.Shared}}
	must(t, w.Store.Create(t.Context(), &plan))
	s := w.add(ofPlan("home"))
	event := func(id string, in time.Duration) storage.PlanEvent {
		from := storagetest.Start.Add(in).Truncate(time.Hour)
		if id == "" {
			id = eventID(&s, from)
		}
		return storage.PlanEvent{ID: id, Kind: pricing.FlexAlert, From: storage.Time{Time: from}, To: storage.Time{Time: from.Add(time.Hour)}}
	}
	all := storage.PlanEvents{PlanID: "home", Base: plan.Base}
	all.Set(event("a-person's", -2*storage.MaxPlanEvents*time.Hour))
	for i := range storage.MaxPlanEvents - 1 {
		all.Set(event("", -time.Duration(storage.MaxPlanEvents-i)*time.Hour))
	}
	must(t, w.Store.Create(t.Context(), &all))
	w.now = storagetest.Start
	next := event("", 24*time.Hour)
	run, err := w.store(s, feed.Data{Alerted: true, Alerts: []feed.Alert{{Name: "x", From: next.From.Time, To: next.To.Time}}})
	must(t, err)
	stored, err := storage.Get[storage.PlanEvents](w.Store, storage.KindPlanEvent.Ref(storage.Shared, "home"))
	must(t, err)
	last := len(stored.Events) - 1
	if run.Events != 1 || len(stored.Events) != storage.MaxPlanEvents || stored.Events[0].ID != "a-person's" || stored.Events[1].ID != all.Events[2].ID || stored.Events[last].ID != next.ID {
		t.Errorf("%d changed; %d events from %s, %s to %s", run.Events, len(stored.Events), stored.Events[0].ID, stored.Events[1].ID, stored.Events[last].ID)
	}
}

// TestHandle_NoticeFails checks that a run whose notices could not be stored is repeated, also
// if it is recorded. An alert that has ended has no notice.
func TestHandle_NoticeFails(t *testing.T) {
	w := newWorld(t)
	shared := storage.Base{OrganizationID: storage.Shared}
	storagetest.Put(t, w.Store, &storage.RatePlan{ID: "home", Tariff: json.RawMessage(`{"energyratestructure":[[{"rate":0.1}]]}`), Base: shared})
	storagetest.Put(t, w.Store, &storage.Organization{ID: "acme", Name: "Acme", Base: shared}, storagetest.Home("acme", "h1", "home"))
	s := w.add(ofPlan("home"))
	from := storagetest.Start.Add(time.Hour)
	_, err := w.store(s, feed.Data{Alerted: true, Alerts: []feed.Alert{{Name: "ended", From: from.AddDate(0, 0, -1), To: from.Add(-time.Hour)}, {Name: "x", From: from, To: from.Add(time.Hour)}}})
	must(t, err)
	recorded := events.TaskOf(s.Ref(), w.revision(s), w.state(s).DueAt.Time)
	for _, failure := range []error{storage.ErrUnavailable, nil} {
		w.notified.err = failure
		if err := w.handle(t.Context(), recorded, events.Taken{}); !errors.Is(err, failure) || (len(w.tasks.waiting) > 0) != (failure == nil) {
			t.Errorf("%v: the run returned %v, %d runs are pending", failure, err, len(w.tasks.waiting))
		}
	}
	if len(w.notified.list) != 1 || len(w.asked) != 0 {
		t.Errorf("%d notices, %d requests", len(w.notified.list), len(w.asked))
	}
}

// TestHasHome_Plan finds the homes that have the prices of a shared plan.
func TestHasHome_Plan(t *testing.T) {
	w := newWorld(t)
	tariff := json.RawMessage(`{"energyratestructure":[[{"rate":0.1}]]}`)
	shared := storage.Base{OrganizationID: storage.Shared}
	parts := []pricing.PlanPart{{PlanID: "tou", Role: pricing.RoleDelivery}, {PlanID: "supply", Role: pricing.RoleGeneration}}
	plan := func(org, id string) *storage.RatePlan {
		return &storage.RatePlan{ID: id, Tariff: tariff, Base: storage.Base{OrganizationID: org}}
	}
	storagetest.Put(t, w.Store, plan(storage.Shared, "tou"), plan(storage.Shared, "supply"), &storage.RatePlan{ID: "both", Parts: parts, Base: shared})
	for _, tt := range []struct {
		org, on string
		own     bool
		want    bool
	}{
		{"direct", "tou", false, true}, {"hidden", "tou", true, false}, {"composed", "both", false, true},
		{"other", "supply", false, false}, {"missing", "none", false, false}, {"without", "", false, false},
	} {
		storagetest.Put(t, w.Store, &storage.Organization{ID: tt.org, Name: tt.org, Base: shared}, storagetest.Home(tt.org, "h1", tt.on))
		if tt.own {
			storagetest.Put(t, w.Store, plan(tt.org, "tou"))
		}
		must(t, w.Store.View(func(v storage.View) error {
			got, err := hasHome(v, tt.org, storage.KindRatePlan.Ref(storage.Shared, "tou"))
			if got != tt.want {
				t.Errorf("%s has a home: %v", tt.org, got)
			}
			return err
		}))
	}
}

// TestStore_Emissions stores emissions as a series of their region. They make no plan.
func TestStore_Emissions(t *testing.T) {
	w := newWorld(t)
	data := feed.Data{Prices: []feed.Prices{hourly("CA", market.Emissions, 0.25, 0.3)}}
	run, err := w.store(w.add(nil), data)
	series, missing := storage.Get[storage.MarketSeries](w.Store, storage.MarketSeriesRef(storage.Shared, market.Emissions, "CA"))
	if err != nil || missing != nil || run.Added != 2 || series.Prices != 2 {
		t.Errorf("%+v, %+v, %v, %v", run, series, err, missing)
	}
	planned := w.add(func(s *storage.Source) { s.ID, s.PlanID = "planned", "new-plan" })
	if _, err := w.store(planned, data); err == nil || !strings.Contains(err.Error(), "planId") {
		t.Errorf("a plan of emissions: %v", err)
	}
	if _, err := w.store(w.add(func(s *storage.Source) { s.ID = "nowhere" }), feed.Data{Prices: []feed.Prices{hourly("HUB", market.Emissions, 0.3)}}); err == nil {
		t.Error("emissions of no region are stored")
	}
}
