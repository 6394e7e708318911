package signals_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/signals"
	"github.com/gridhook/gridhook/storage/storagetest"
)

func window(start time.Time) pricing.Window {
	return pricing.Window{Start: start, End: start.Add(24 * time.Hour)}
}

var day = window(storagetest.Start)

func newStore() *storage.Store {
	s, _, _ := storagetest.NewStore(func() time.Time { return storagetest.Start })
	return s
}

func signalAt(t *testing.T, b *signals.Pricer, s *storage.Store, id string, w pricing.Window) (signal signals.Signal, err error) {
	t.Helper()
	err = s.View(func(v storage.View) error {
		signal, err = b.HomeSignal(v, "org", id, w)
		return err
	})
	return signal, err
}

func signal(t *testing.T, b *signals.Pricer, s *storage.Store, id string) signals.Signal {
	t.Helper()
	got, err := signalAt(t, b, s, id, day)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestSignal_JSON(t *testing.T) {
	s := newStore()
	storagetest.Put(t, s, storagetest.RatePlan("org", "plan", 0.25), storagetest.Home("org", "h", "plan"))
	got := signal(t, signals.NewPricer(10), s, "h")
	generated := time.Date(2026, 7, 1, 12, 0, 0, 5e6, time.UTC)
	var shown struct {
		HomeID    string
		StartTime storage.Time
		EndTime   storage.Time
		Data      []json.RawMessage
		Import    []float64
		Metadata  struct {
			GeneratedAt        storage.Time
			Sequence           uint64
			ExportCompensation struct{ RatePlanID string }
		}
	}
	text := got.Append([]byte("x"), generated)
	if err := json.Unmarshal(text[1:], &shown); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	m := shown.Metadata
	if shown.HomeID != "h" || !shown.StartTime.Equal(day.Start) || !shown.EndTime.Equal(day.End) || len(shown.Data) != 96 || shown.Import[95] != 0.25 {
		t.Errorf("the signal is %s", text)
	}
	if !m.GeneratedAt.Equal(generated) || m.Sequence != 2 || m.ExportCompensation.RatePlanID != "plan" {
		t.Errorf("the metadata is %+v", m)
	}
	if fields := string(got.AppendFields(nil, generated)); "{"+fields+"}" != string(text[1:]) {
		t.Errorf("the fields are %s, and the signal %s", fields, text[1:])
	}
}

func TestSignal_UnpriceableReason(t *testing.T) {
	s := newStore()
	broken := storagetest.RatePlan("org", "short", 0.1)
	broken.Tariff = []byte(`{"name":"Old","enddate":"2020-12-31","energyratestructure":[[{"rate":0.1}]]}`)
	nowhere := storagetest.Home("org", "nowhere", "plan")
	nowhere.Timezone = ""
	storagetest.Put(t, s, storagetest.RatePlan("org", "plan", 0.1), storagetest.RatePlan("other", "theirs", 0.1), broken, nowhere,
		storagetest.Home("org", "planless", ""), storagetest.Home("org", "lost", "gone"),
		storagetest.Home("org", "foreign", "theirs"), storagetest.Home("org", "late", "short"))
	b := signals.NewPricer(10)
	for id, want := range map[string]struct{ field, reason string }{
		"nowhere":  {"timezone", "no time zone"},
		"planless": {"ratePlanId", "no rate plan"},
		"lost":     {"ratePlanId", `"gone" does not exist`},
		"foreign":  {"ratePlanId", `"theirs" does not exist`},
		"late":     {"startTime", "2020-12-31"},
	} {
		for range 2 { // the second time from the caches
			got, err := signalAt(t, b, s, id, day)
			var why *signals.Unpriceable
			if !errors.As(err, &why) || why.Field != want.field || !strings.Contains(why.Error(), want.reason) || got.Curve != nil {
				t.Errorf("%s: %v (%+v), want %s: ...%s...", id, err, why, want.field, want.reason)
			}
		}
	}
	if _, err := signalAt(t, b, s, "none", day); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("no home: %v", err)
	}
	inForce := window(time.Date(2020, 6, 1, 0, 0, 0, 0, time.UTC))
	if _, err := signalAt(t, b, s, "late", inForce); err != nil {
		t.Errorf("a window in which the plan was in force: %v", err)
	}
}

func TestSignal_SharedCurve(t *testing.T) {
	s := newStore()
	elsewhere := storagetest.Home("org", "elsewhere", "plan")
	elsewhere.Timezone = "America/New_York"
	storagetest.Put(t, s, storagetest.RatePlan("org", "plan", 0.1), storagetest.RatePlan("org", "twin", 0.1),
		storagetest.Home("org", "a", "plan"), storagetest.Home("org", "b", "plan"), storagetest.Home("org", "twin", "twin"), elsewhere,
		storagetest.Home("org", "sunny", "plan"), &storage.Solar{HomeID: "sunny", SizeKw: 5, Base: storage.Base{OrganizationID: "org"}},
		storagetest.Home("org", "sunny2", "plan"), &storage.Solar{HomeID: "sunny2", SizeKw: 5, Base: storage.Base{OrganizationID: "org"}})
	b := signals.NewPricer(10)
	a := signal(t, b, s, "a")
	if other := signal(t, b, s, "b"); other.Curve != a.Curve || other.HomeID != "b" {
		t.Error("two homes with the same plan, zone and window do not share a curve")
	}
	for _, id := range []string{"twin", "elsewhere", "sunny"} {
		if other := signal(t, b, s, id); other.Curve == a.Curve {
			t.Errorf("%s has the curve of a", id)
		}
	}
	if signal(t, b, s, "sunny").Curve != signal(t, b, s, "sunny2").Curve {
		t.Error("two homes with the same solar do not share a curve")
	}
	if later, err := signalAt(t, b, s, "a", window(day.Start.Add(pricing.Interval))); err != nil || later.Curve == a.Curve {
		t.Errorf("another window shares the curve (%v)", err)
	}
}

// TestSignal_RevisionRises checks that every change of a home's signal raises its
// revision.
func TestSignal_RevisionRises(t *testing.T) {
	s := newStore()
	storagetest.Put(t, s, storagetest.RatePlan(storage.Shared, "plan", 0.1), storagetest.Home("org", "h", "plan"))
	b := signals.NewPricer(10)
	solar := func(kw float64) func() {
		return func() {
			storagetest.Put(t, s, &storage.Solar{HomeID: "h", SizeKw: kw, Base: storage.Base{OrganizationID: "org"}})
		}
	}
	remove := func(ref storage.Ref) func() {
		return func() {
			if err := s.Delete(t.Context(), ref); err != nil {
				t.Fatal(err)
			}
		}
	}
	last := signal(t, b, s, "h")
	for _, step := range []struct {
		name   string
		change func()
		price  float64
	}{
		{"the shared plan changes", func() { storagetest.Put(t, s, storagetest.RatePlan(storage.Shared, "plan", 0.2)) }, 0.2},
		{"solar is built", solar(5), 0.2},
		{"solar grows", solar(6), 0.2},
		{"solar is deleted", remove(storage.KindSolar.Ref("org", "h")), 0.2},
		{"solar is built again", solar(5), 0.2},
		{"the organization's own plan hides the shared plan", func() { storagetest.Put(t, s, storagetest.RatePlan("org", "plan", 0.3)) }, 0.3},
		{"the own plan is deleted", remove(storage.KindRatePlan.Ref("org", "plan")), 0.2},
		{"the home changes", func() { h := storagetest.Home("org", "h", "plan"); h.Name = "New"; storagetest.Put(t, s, h) }, 0.2},
	} {
		step.change()
		got := signal(t, b, s, "h")
		if got.Revision <= last.Revision || got.Import[0] != step.price {
			t.Errorf("%s: revision %d after %d, price %v, want %v", step.name, got.Revision, last.Revision, got.Import[0], step.price)
		}
		last = got
	}
	storagetest.Put(t, s, storagetest.Home("org", "another", "plan"))
	if got := signal(t, b, s, "h"); got.Revision != last.Revision || got.Curve != last.Curve {
		t.Errorf("a change of another home raises the revision from %d to %d", last.Revision, got.Revision)
	}
}

// TestPricer_SmallCache checks that a Pricer whose cache is too small computes the
// same curves again.
func TestPricer_SmallCache(t *testing.T) {
	s := newStore()
	storagetest.Put(t, s, storagetest.RatePlan("org", "plan", 0.1), storagetest.Home("org", "h", "plan"))
	b := signals.NewPricer(1)
	for range 2 {
		for i := range 100 {
			w := window(day.Start.Add(time.Duration(i) * time.Hour))
			got, err := signalAt(t, b, s, "h", w)
			if err != nil || !got.Window.Start.Equal(w.Start) || got.Len() != 96 {
				t.Fatalf("window %d: %+v, %v", i, got, err)
			}
		}
	}
}

// TestPricer_EIAID checks that the utilities of more plans than there are cached tariffs are
// not read from the plans again.
func TestPricer_EIAID(t *testing.T) {
	s := newStore()
	const plans = 100
	for i := range plans {
		storagetest.Put(t, s, plan(fmt.Sprintf("p%d", i), fmt.Sprintf(`"name":"P","eiaid":%d,"energyratestructure":[[{"rate":0.2}]]`, i+1)))
	}
	b := signals.NewPricer(10)
	err := s.View(func(v storage.View) error {
		for _, unread := range []bool{false, true} {
			for i := range plans {
				record, err := v.Get(storage.KindRatePlan.Ref("org", fmt.Sprintf("p%d", i)))
				if err != nil {
					return err
				}
				if unread {
					record.Value = nil
				}
				if got := b.EIAID(record); got != i+1 {
					t.Errorf("plan %d, cached: %v: utility %d, want %d", i, unread, got, i+1)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
