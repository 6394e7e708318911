package signals_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/signals"
	"github.com/gridhook/gridhook/storage/storagetest"
)

// adrEvent is an event of OpenADR 3.1 as receivers read it.
type adrEvent struct {
	ID                                    string
	CreatedDateTime, ModificationDateTime storage.Time
	ObjectType, ProgramID, EventName      string
	Targets                               []string
	PayloadDescriptors                    []struct{ ObjectType, PayloadType, Units, Currency string }
	IntervalPeriod                        struct {
		Start    storage.Time
		Duration string
	}
	Intervals []struct {
		ID       int
		Payloads []struct {
			Type   string
			Values []float64
		}
	}
}

func adrOf(t *testing.T, s signals.Signal, at time.Time) (e adrEvent) {
	t.Helper()
	text := s.AppendOpenADR([]byte("x"), at)
	if err := json.Unmarshal(text[1:], &e); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return e
}

func TestOpenADR_Event(t *testing.T) {
	s := newStore()
	storagetest.Put(t, s, plan("flat", flat), home("h", "flat", inChicago), home("nowhere", "flat", nil))
	b := signals.NewPricer(10)
	got, at := signal(t, b, s, "h"), time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	e := adrOf(t, got, at)
	if e.ObjectType != "EVENT" || e.ProgramID != "flat" || e.EventName != "price signal of h" || !reflect.DeepEqual(e.Targets, []string{"h"}) ||
		!e.CreatedDateTime.Equal(at.Truncate(24*time.Hour)) || !e.ModificationDateTime.Equal(at) || !e.IntervalPeriod.Start.Equal(day.Start) || e.IntervalPeriod.Duration != "PT15M" || len(e.Intervals) != 96 {
		t.Errorf("the event is %+v", e)
	}
	types := []string{"PRICE", "EXPORT_PRICE", "GHG"}
	for i, d := range e.PayloadDescriptors {
		if d.ObjectType != "EVENT_PAYLOAD_DESCRIPTOR" || d.PayloadType != types[i] || (d.PayloadType == "GHG") != (d.Units == "GHG") || (d.PayloadType == "GHG") != (d.Currency == "") {
			t.Errorf("descriptor %d is %+v", i, d)
		}
	}
	grams := got.Emissions()
	for i, interval := range e.Intervals {
		want := []float64{got.Import[i], got.Export[i], grams[i]}
		for j, p := range interval.Payloads {
			if interval.ID != i || p.Type != types[j] || len(p.Values) != 1 || p.Values[0] != want[j] {
				t.Fatalf("interval %d is %+v, want %v", i, interval, want)
			}
		}
	}
	if grams[0] < 300 || grams[0] > 1200 {
		t.Errorf("a kWh emits %v g", grams[0])
	}
	if bare := adrOf(t, signal(t, b, s, "nowhere"), at); len(bare.PayloadDescriptors) != 2 || len(bare.Intervals[0].Payloads) != 2 || bare.ID == e.ID {
		t.Errorf("at an unknown place the event is %+v", bare)
	}
}

// TestOpenADR_SameDay checks that the event of a day has the same identifier and
// creation time on each call, and that another day has another event.
func TestOpenADR_SameDay(t *testing.T) {
	s := newStore()
	storagetest.Put(t, s, plan("flat", flat), home("h", "flat", inChicago))
	b := signals.NewPricer(10)
	event := func(start time.Time) adrEvent {
		var made signals.Signal
		err := s.View(func(v storage.View) (err error) {
			made, err = b.HomeSignal(v, "org", "h", pricing.Window{Start: start, End: start.Add(time.Hour)})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return adrOf(t, made, start)
	}
	first, later, tomorrow := event(day.Start), event(day.Start.Add(2*time.Hour)), event(day.Start.Add(24*time.Hour))
	if first.ID != later.ID || !first.CreatedDateTime.Equal(later.CreatedDateTime.Time) || later.ModificationDateTime.Equal(first.ModificationDateTime.Time) {
		t.Errorf("the day's event was %s of %s, and later %s of %s", first.ID, first.CreatedDateTime, later.ID, later.CreatedDateTime)
	}
	if tomorrow.ID == first.ID {
		t.Error("another day has the same event")
	}
}

// TestOpenADR_Deterministic checks that a signal gives the same event when its curve
// is restored from runs.
func TestOpenADR_Deterministic(t *testing.T) {
	s := newStore()
	storagetest.Put(t, s, plan("flat", flat), home("h", "flat", inChicago))
	got, at := signal(t, signals.NewPricer(10), s, "h"), time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	c, err := pricing.CurveFromRuns(got.Window, got.Runs(), got.ExportCompensation, got.ImportSource)
	if err != nil {
		t.Fatal(err)
	}
	again := signals.Signal{HomeID: "h", Curve: signals.NewCurve(*c, got.RatePlanID).WithEmissions(got.Emissions()), Revision: got.Revision}
	if a, b := got.AppendOpenADR(nil, at), again.AppendOpenADR(nil, at); string(a) != string(b) {
		t.Errorf("the event was\n%s\nand is\n%s", a, b)
	}
	for _, format := range storage.SignalFormats() {
		if got.Fingerprint(format) != again.Fingerprint(format) {
			t.Errorf("the fingerprint in the format %s differs", format)
		}
	}
}

// The event of a plan with a long identifier names the program that the OpenADR operations have.
func TestOpenADR_LongPlan(t *testing.T) {
	s, id := newStore(), strings.Repeat("p", storage.MaxIDLength)
	storagetest.Put(t, s, plan(id, flat), home("h", id, inChicago))
	b := signals.NewPricer(10)
	e := adrOf(t, signal(t, b, s, "h"), day.Start)
	err := s.View(func(v storage.View) error {
		program, err := b.Reader(v, "org").HomeProgram("h")
		if e.ProgramID != program || len(program) >= len(id) {
			t.Errorf("the event's program is %s, want %s", e.ProgramID, program)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
