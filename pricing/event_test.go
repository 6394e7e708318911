package pricing_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/internal/tarifftest"
)

func TestEvents_ChangePrice(t *testing.T) {
	dear := 1.25
	critical := pricing.Event{Name: "smart day", Kind: pricing.CriticalPeak, Adder: 0.6,
		From: instant("2026-07-10T16:00:00Z"), To: instant("2026-07-10T21:00:00Z")}
	rebate := pricing.Event{Name: "save", Kind: pricing.PeakRebate, Adder: 0.75,
		From: instant("2026-07-10T17:05:00Z"), To: instant("2026-07-10T18:05:00Z")}
	fixed := pricing.Event{Name: "emergency", Kind: pricing.CriticalPeak, Price: &dear, Adder: 99,
		From: instant("2026-07-10T18:00:00Z"), To: instant("2026-07-10T18:30:00Z")}
	tariff := flat(0.2).With("dgrules", "Net Metering").Parse(t)
	in := pricing.Input{Tariff: tariff, Location: time.UTC, Events: []pricing.Event{critical, rebate, fixed}}
	c := price(t, in, window("2026-07-10T15:00:00Z", "2026-07-10T22:00:00Z"))
	for _, tt := range []struct {
		at              string
		imports, export float64
	}{
		{"15:45", 0.2, 0.2},
		{"16:00", 0.8, 0.8},
		{"17:00", 0.8, 0.8}, // the rebate starts within this interval
		{"17:15", 1.55, 0.8},
		{"18:00", 2.6, 1.85}, // the other price, and both adders on top of it
		{"18:15", 1.85, 1.85},
		{"20:45", 0.8, 0.8},
		{"21:00", 0.2, 0.2},
	} {
		i := int(instant("2026-07-10T"+tt.at+":00Z").Sub(c.Window.Start) / pricing.Interval)
		if !sameRate(c.Import[i], tt.imports) || !sameRate(c.Export[i], tt.export) {
			t.Errorf("%s: import %v, export %v; want %v and %v", tt.at, c.Import[i], c.Export[i], tt.imports, tt.export)
		}
	}
}

// An event at another time changes nothing.
func TestEvents_OutsideWindow(t *testing.T) {
	w := window("2026-07-10T00:00:00Z", "2026-07-11T00:00:00Z")
	in := pricing.Input{Tariff: flat(0.2).Parse(t), Location: time.UTC}
	want := curveText(price(t, in, w))
	in.Events = []pricing.Event{
		{Adder: 1, From: instant("2026-07-09T00:00:00Z"), To: w.Start},
		{Adder: 1, From: w.End, To: instant("2026-07-12T00:00:00Z")},
		{Adder: 1, From: instant("2026-07-10T10:01:00Z"), To: instant("2026-07-10T10:14:00Z")}, // no interval starts in it
		{Adder: 1, From: instant("2026-07-10T12:00:00Z"), To: instant("2026-07-10T11:00:00Z")}, // ends before it starts
	}
	if got := curveText(price(t, in, w)); string(got) != string(want) {
		t.Error("an event outside the window changed the signal")
	}
}

// The announced price of an event is certain, whatever the doubt in the tariff's price. An adder
// keeps the doubt, and so does a home that is paid for its exports by the tariff.
func TestEvents_PriceIsCertain(t *testing.T) {
	w := window("2026-07-10T16:00:00Z", "2026-07-10T17:00:00Z")
	event := pricing.Event{Name: "peak", Kind: pricing.CriticalPeak, From: w.Start, To: w.End, Price: new(1.25)}
	old := flat(0.2).With("sourcedate", "2014-03-01")
	selling := []any{[]any{map[string]any{"rate": 0.2, "sell": 0.05}}}
	for _, tt := range []struct {
		name   string
		tariff tarifftest.Doc
		solar  *pricing.Solar
		sure   bool
	}{
		{"an old source", old, nil, true},
		{"a caveat", flat(0.2).With("confidence", 0.5).With("caveat", "only January's hours"), nil, true},
		{"unknown usage", flat(0.2).With("energyratestructure", []any{[]any{map[string]any{"rate": 0.1, "max": 100}, map[string]any{"rate": 0.3}}}), nil, true},
		{"net metering", old.With("dgrules", "Net Metering"), &pricing.Solar{}, true},
		{"exports at an old sell rate", old.With("dgrules", "Net Billing Instantaneous").With("energyratestructure", selling), &pricing.Solar{}, false},
	} {
		in := pricing.Input{Tariff: tt.tariff.Parse(t), Location: time.UTC, Solar: tt.solar}
		plain := price(t, in, w)
		in.Events = []pricing.Event{event}
		c, reason := price(t, in, w), explain(t, in, w)[0]
		if plain.Confidence[0] == 1 || (c.Confidence[0] == 1) != tt.sure || (reason.Doubt == "") != tt.sure {
			t.Errorf("%s: confidence %v (%s), %v without the event", tt.name, c.Confidence[0], reason.Doubt, plain.Confidence[0])
		}
		in.Events[0].Price, in.Events[0].Adder = nil, 0.6
		if c := price(t, in, w); c.Confidence[0] != plain.Confidence[0] {
			t.Errorf("%s: confidence %v with an adder, %v without", tt.name, c.Confidence[0], plain.Confidence[0])
		}
	}
}

// An alert changes no price. The reasons name it.
func TestEvents_Alert(t *testing.T) {
	w := window("2026-07-01T00:00:00Z", "2026-07-01T06:00:00Z")
	in := pricing.Input{Tariff: flat(0.2).Parse(t), Location: time.UTC}
	plain := price(t, in, w)
	in.Events = []pricing.Event{{Name: "flex alert", Kind: pricing.FlexAlert, From: w.Start.Add(time.Hour), To: w.Start.Add(2 * time.Hour)}}
	alerted := price(t, in, w)
	if !slices.Equal(plain.Import, alerted.Import) || !slices.Equal(plain.Price, alerted.Price) || !slices.Equal(plain.Confidence, alerted.Confidence) {
		t.Errorf("the prices are %v with the alert, %v without", alerted.Import, plain.Import)
	}
	reasons, err := pricing.Explain(in, w)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(reasons[4].Import); !strings.Contains(got, "flex alert") {
		t.Errorf("the reasons of the alert are %s", got)
	}
}
