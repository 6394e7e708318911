package signals_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/market"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/signals"
	"github.com/gridhook/gridhook/storage/storagetest"
)

// pacific returns a plan of Pacific Gas & Electric, by its EIA number. Its price
// changes on the hour, or on the quarter hour if the schedule says so.
const pacific = `"name":"EV","utility":"Pacific Gas & Electric Co","eiaid":14328,"energyratestructure":[[{"rate":0.2}]]`

func programs(t *testing.T, b *signals.Pricer, s *storage.Store) map[string]signals.Program {
	t.Helper()
	found := map[string]signals.Program{}
	err := s.View(func(v storage.View) error {
		list, err := b.Reader(v, "org").Programs()
		for _, p := range list {
			found[p.ID] = p
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func encode(t *testing.T, b *signals.Pricer, s *storage.Store, d *signals.DayEvent) (e adrEvent, fingerprint string) {
	t.Helper()
	err := s.View(func(v storage.View) error {
		made, err := b.Reader(v, "org").Encode(d)
		if err != nil {
			return err
		}
		fingerprint = made.Fingerprint
		return json.Unmarshal(made.JSON, &e)
	})
	if err != nil {
		t.Fatal(err)
	}
	return e, fingerprint
}

// TestPrograms_Places checks that a plan with a known place has a program, that an
// organization's plan hides the shared plan, and that a broken plan hides nothing
// else.
func TestPrograms_Places(t *testing.T) {
	s := newStore()
	storagetest.Put(t, s, plan("pge", pacific), plan("flat", flat), plan("nowhere", flat), home("h", "flat", inChicago))
	shared := plan("pge", flat)
	shared.OrganizationID = storage.Shared
	storagetest.Put(t, s, shared)
	found := programs(t, signals.NewPricer(10), s)
	for id, zone := range map[string]string{"pge": "America/Los_Angeles", "flat": "America/Chicago", "MOER-CA": "America/Los_Angeles"} {
		if p, ok := found[id]; !ok || p.Location.String() != zone {
			t.Errorf("the program %s is %+v, want one in %s", id, p, zone)
		}
	}
	if _, ok := found["nowhere"]; ok {
		t.Error("a plan with an unknown place has a program")
	}
	if p := found["pge"]; p.State != "CA" || p.LongName != "EV" {
		t.Errorf("the program is %+v", p)
	}
	long := strings.Repeat("x", storage.MaxIDLength)
	storagetest.Put(t, s, plan(long, pacific))
	for id := range programs(t, signals.NewPricer(10), s) {
		if !storage.ValidID(id + "_20260701") {
			t.Errorf("an event of the program %q would have no valid identifier", id)
		}
	}
}

// TestDays_ClockChange checks that a local day has 23 or 25 hours when clocks change.
func TestDays_ClockChange(t *testing.T) {
	s, b := newStore(), signals.NewPricer(10)
	storagetest.Put(t, s, plan("pge", pacific))
	p := programs(t, b, s)["pge"]
	for moment, want := range map[string]int{"2026-03-08T12:00:00Z": 23, "2026-07-01T12:00:00Z": 24, "2026-11-01T12:00:00Z": 25} {
		at, err := time.Parse(time.RFC3339, moment)
		if err != nil {
			t.Fatal(err)
		}
		days := p.Days(at)
		e, _ := encode(t, b, s, &days[0])
		if len(e.Intervals) != want || e.IntervalPeriod.Duration != "PT1H" || e.ID != "pge_"+moment[:4]+moment[5:7]+moment[8:10] {
			t.Errorf("%s: the event %s has %d intervals of %s, want %d hours", moment, e.ID, len(e.Intervals), e.IntervalPeriod.Duration, want)
		}
		if local := e.IntervalPeriod.Start.In(p.Location); local.Hour() != 0 || len(days) != signals.PublishedDays || !days[1].Window.Start.Equal(days[0].Window.End) {
			t.Errorf("%s: the days begin at %s and %s", moment, local, days[1].Window.Start)
		}
	}
}

// TestDays_SkippedMidnight checks that a day begins at its first moment if a clock change skips
// its midnight.
func TestDays_SkippedMidnight(t *testing.T) {
	havana, err := time.LoadLocation("America/Havana")
	if err != nil {
		t.Fatal(err)
	}
	p := signals.Program{ID: "plan", Location: havana}
	for at := time.Date(2026, 3, 7, 1, 0, 0, 0, havana); at.Before(time.Date(2026, 3, 9, 12, 0, 0, 0, havana)); at = at.Add(time.Hour) {
		days := p.Days(at)
		w, next := days[0].Window, days[1].Window
		if at.Before(w.Start) || !at.Before(w.End) || !next.Start.Equal(w.End) || days[0].ID != "plan_"+at.Format("20060102") {
			t.Errorf("%s: the event %s is from %s to %s, and the next from %s", at, days[0].ID, w.Start.In(havana), w.End.In(havana), next.Start.In(havana))
		}
	}
}

// TestDays_Changed checks that a changed tariff keeps the event's identifier and
// creation time. It changes the values, the fingerprint and the modification time.
func TestDays_Changed(t *testing.T) {
	s, b := newStore(), signals.NewPricer(10)
	storagetest.Put(t, s, plan("pge", pacific))
	p := programs(t, b, s)["pge"]
	days := p.Days(storagetest.Start)
	before, was := encode(t, b, s, &days[0])
	storagetest.Put(t, s, plan("pge", strings.Replace(pacific, "0.2", "0.3", 1)))
	p = programs(t, b, s)["pge"]
	days = p.Days(storagetest.Start)
	after, is := encode(t, b, s, &days[0])
	if before.ID != after.ID || !before.CreatedDateTime.Equal(after.CreatedDateTime.Time) || was == is {
		t.Errorf("the event was %s of %s (%s) and is %s of %s (%s)", before.ID, before.CreatedDateTime, was, after.ID, after.CreatedDateTime, is)
	}
	if v := after.Intervals[0].Payloads[0].Values[0]; v != 0.3 || before.Intervals[0].Payloads[0].Values[0] != 0.2 {
		t.Errorf("the price is %v", v)
	}
}

// TestDays_Quarters checks that a price that changes within an hour divides the day
// into quarter hours.
func TestDays_Quarters(t *testing.T) {
	s, b := newStore(), signals.NewPricer(10)
	from := storage.Time{Time: storagetest.Start.Add(15 * time.Minute)}
	price := 2.0
	events := &storage.PlanEvents{PlanID: "pge", Base: org, Events: []storage.PlanEvent{{
		ID: "peak", Name: "peak", Kind: "CRITICAL_PEAK", From: from, To: storage.Time{Time: from.Add(30 * time.Minute)}, Price: &price,
	}}}
	storagetest.Put(t, s, plan("pge", pacific), events)
	p := programs(t, b, s)["pge"]
	e, _ := encode(t, b, s, &p.Days(storagetest.Start)[0])
	if e.IntervalPeriod.Duration != "PT15M" || len(e.Intervals) != 96 {
		t.Errorf("a day with a peak has %d intervals of %s", len(e.Intervals), e.IntervalPeriod.Duration)
	}
	peaks := 0
	for _, i := range e.Intervals {
		if i.Payloads[0].Values[0] == price {
			peaks++
		}
	}
	if peaks != 2 {
		t.Errorf("%d intervals have the peak's price", peaks)
	}
}

// TestEvents_AlertTimes checks that an alert was created and modified at the write of the
// plan's events, however far ahead it is, and at the latest at the midnight before its day.
func TestEvents_AlertTimes(t *testing.T) {
	s, b := newStore(), signals.NewPricer(10)
	storagetest.Put(t, s, plan("pge", pacific))
	p := programs(t, b, s)["pge"]
	p.Created = storagetest.Start.AddDate(-1, 0, 0)
	for _, c := range []struct{ from, created time.Time }{
		{storagetest.Start.AddDate(0, 0, 7), storagetest.Start},
		{storagetest.Start.Add(time.Hour), time.Date(2026, 6, 30, 7, 0, 0, 0, time.UTC)},
	} {
		storagetest.Put(t, s, &storage.PlanEvents{PlanID: "pge", Base: org, Events: []storage.PlanEvent{{
			ID: "heat", Name: "heat", Kind: pricing.FlexAlert, From: storage.Time{Time: c.from}, To: storage.Time{Time: c.from.Add(time.Hour)},
		}}})
		var e struct{ CreatedDateTime, ModificationDateTime storage.Time }
		err := s.View(func(v storage.View) error {
			r := b.Reader(v, "org")
			list, err := r.Events(&p, storagetest.Start)
			if err != nil || len(list) != signals.PublishedDays+1 {
				return fmt.Errorf("%d events, %w", len(list), err)
			}
			made, err := r.Encode(&list[signals.PublishedDays])
			if err != nil {
				return err
			}
			return json.Unmarshal(made.JSON, &e)
		})
		if err != nil {
			t.Fatal(err)
		}
		if !e.CreatedDateTime.Equal(c.created) || !e.ModificationDateTime.Equal(storagetest.Start) {
			t.Errorf("the alert of %s was created at %s and modified at %s, want %s and %s", c.from, e.CreatedDateTime, e.ModificationDateTime, c.created, storagetest.Start)
		}
	}
}

// TestDays_HomeSignalModified checks that published emissions modify the own signals of the
// homes of their region, and no others.
func TestDays_HomeSignalModified(t *testing.T) {
	now := storagetest.Start
	s, _, _ := storagetest.NewStore(func() time.Time { return now })
	coast := func(h *storage.Home) { h.Zipcode = "94103" }
	storagetest.Put(t, s, plan("flat", flat), home("coast", "flat", coast), home("inland", "flat", inChicago))
	now = now.Add(time.Hour)
	series := storage.MarketSeries{Node: "CA", Market: market.Emissions, Base: org}
	if _, err := s.AddPrices(t.Context(), series, []storage.PricesPart{{Start: day.Start, Prices: []float64{0.25}}}); err != nil {
		t.Fatal(err)
	}
	b := signals.NewPricer(10)
	for id, want := range map[string]time.Time{"coast": now, "inland": storagetest.Start} {
		var own *signals.Program
		err := s.View(func(v storage.View) (err error) {
			own, err = b.Reader(v, "org").HomeSignal(id)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if e, _ := encode(t, b, s, &own.Days(now)[0]); !e.ModificationDateTime.Equal(want) {
			t.Errorf("the signal of %s was modified at %s, want %s", id, e.ModificationDateTime, want)
		}
	}
}

func TestProgramOfEvent_IDs(t *testing.T) {
	for id, want := range map[string]string{"pge_20260701": "pge", "a_b_20260701": "a_b", "pge_2026070": "", "pge": "", "event_01JZ2E6K8M": "", "pge_6a45ae80": "pge"} {
		if got := signals.ProgramOfEvent(id); got != want {
			t.Errorf("%q belongs to %q, want %q", id, got, want)
		}
	}
}
