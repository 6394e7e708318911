package storage_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/storage"
)

var eventStart = time.Date(2026, time.July, 1, 21, 0, 0, 0, time.UTC)

func criticalPeak() storage.PlanEvent {
	e := storage.PlanEvent{
		Kind: pricing.CriticalPeak, From: storage.Time{Time: eventStart}, To: storage.Time{Time: eventStart.Add(4 * time.Hour)}, Adder: ptr(0.6),
	}
	e.SetDefaults()
	return e
}

// eventProblems returns the event's wrong fields.
func eventProblems(e storage.PlanEvent) string {
	err, _ := storage.Validate(&e).(*storage.InvalidError) //nolint:errorlint // Validate does not wrap it
	if err == nil {
		return ""
	}
	var fields []string
	for _, f := range err.Fields {
		fields = append(fields, f.Field)
	}
	return strings.Join(fields, " ")
}

func TestPlanEvent_Check(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*storage.PlanEvent)
		wrong  string
	}{
		{"as it is", func(*storage.PlanEvent) {}, ""},
		{"a price", func(e *storage.PlanEvent) { e.Adder, e.Price = nil, ptr(0.9) }, ""},
		{"a price of nothing", func(e *storage.PlanEvent) { e.Adder, e.Price = nil, ptr(0.0) }, ""},
		{"both", func(e *storage.PlanEvent) { e.Price = ptr(0.9) }, "adder"},
		{"neither", func(e *storage.PlanEvent) { e.Adder = nil }, "price"},
		{"a rebate", func(e *storage.PlanEvent) { e.Kind = pricing.PeakRebate }, ""},
		{"a rebate that costs", func(e *storage.PlanEvent) { e.Kind, e.Adder = pricing.PeakRebate, ptr(-0.6) }, "adder"},
		{"a rebate with a price", func(e *storage.PlanEvent) { e.Kind, e.Adder, e.Price = pricing.PeakRebate, nil, ptr(0.6) }, "price"},
		{"an alert", func(e *storage.PlanEvent) { e.Kind, e.Adder = pricing.FlexAlert, nil }, ""},
		{"an alert with a price", func(e *storage.PlanEvent) { e.Kind, e.Adder, e.Price = pricing.FlexAlert, nil, ptr(0.6) }, "price"},
		{"an alert with an adder", func(e *storage.PlanEvent) { e.Kind = pricing.FlexAlert }, "adder"},
		{"no start", func(e *storage.PlanEvent) { e.From = storage.Time{} }, "from"},
		{"no end", func(e *storage.PlanEvent) { e.To = storage.Time{} }, "to"},
		{"an end before its start", func(e *storage.PlanEvent) { e.To = e.From }, "to"},
		{"a week", func(e *storage.PlanEvent) { e.To.Time = e.From.AddDate(0, 0, 7) }, ""},
		{"longer than a week", func(e *storage.PlanEvent) { e.To.Time = e.From.AddDate(0, 0, 7).Add(time.Millisecond) }, "to"},
		{"a month", func(e *storage.PlanEvent) { e.To.Time = e.To.AddDate(0, 1, 0) }, "to"},
		{"no identifier", func(e *storage.PlanEvent) { e.ID = "a b" }, "id"},
	} {
		e := criticalPeak()
		tt.change(&e)
		if got := eventProblems(e); got != tt.wrong {
			t.Errorf("%s: the invalid fields are %q, want %q", tt.name, got, tt.wrong)
		}
	}
}

func TestPlanEvent_Defaults(t *testing.T) {
	e := criticalPeak()
	if e.ID != "CRITICAL_PEAK-20260701T210000Z" || e.Name != "critical peak" {
		t.Errorf("the identifier and name are %q, %q", e.ID, e.Name)
	}
	if got := e.Pricing(); got.Adder != 0.6 || got.Price != nil || !got.From.Equal(eventStart) || got.Kind != pricing.CriticalPeak {
		t.Errorf("the event of package pricing is %+v", got)
	}
}

// TestPlanEvents_MatchesMap checks that events behave like a map by identifier in the
// order of their starts.
func TestPlanEvents_MatchesMap(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		events, want := storage.PlanEvents{PlanID: "plan"}, map[string]storage.PlanEvent{}
		rt.Repeat(map[string]func(*rapid.T){
			"set": func(rt *rapid.T) {
				e := criticalPeak()
				e.ID = rapid.SampledFrom([]string{"a", "b", "c"}).Draw(rt, "id")
				e.From.Time = eventStart.Add(time.Duration(rapid.IntRange(0, 3).Draw(rt, "hours")) * time.Hour)
				e.Adder = ptr(rapid.SampledFrom([]float64{0.1, 0.2}).Draw(rt, "adder"))
				was, there := want[e.ID]
				expected := storage.Updated
				switch {
				case !there:
					expected = storage.Created
				case was.From.Equal(e.From.Time) && *was.Adder == *e.Adder:
					expected = storage.Unchanged
				}
				want[e.ID] = e
				if got := events.Set(e); got != expected {
					rt.Fatalf("setting %s: %s, want %s", e.ID, got, expected)
				}
			},
			"remove": func(rt *rapid.T) {
				id := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(rt, "id")
				_, there := want[id]
				delete(want, id)
				if events.Remove(id) != there {
					rt.Fatalf("removing %s", id)
				}
			},
			"": func(rt *rapid.T) {
				ordered := slices.IsSortedFunc(events.Events, func(a, b storage.PlanEvent) int { return a.From.Compare(b.From.Time) })
				if len(events.Events) != len(want) || !ordered {
					rt.Fatalf("there are %v, want %v", events.Events, want)
				}
				for _, e := range events.Events {
					if was := want[e.ID]; !was.From.Equal(e.From.Time) || *was.Adder != *e.Adder {
						rt.Fatalf("%s is %v, want %v", e.ID, e, was)
					}
				}
			},
		})
	})
}

func TestPlanEvents_Limit(t *testing.T) {
	events := storage.PlanEvents{PlanID: "plan", Events: make([]storage.PlanEvent, storage.MaxPlanEvents+1)}
	if got := problems(t, &events); len(got) != 1 || got[0] != "planId" {
		t.Errorf("the invalid fields are %v", got)
	}
}
