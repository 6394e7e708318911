package pricing

import (
	"slices"
	"time"
)

// EventKind says what an event asks of a home.
type EventKind string

// The kinds of events.
const (
	CriticalPeak EventKind = "CRITICAL_PEAK" // energy is dearer for a few hours of a few days
	PeakRebate   EventKind = "PEAK_REBATE"   // energy not used is paid for
)

// Event is a stretch of time with a price of its own, announced a day or less
// ahead: a critical peak, or a peak for whose avoidance a rebate is paid. It
// covers the intervals that start in it.
type Event struct {
	Name string    `json:"name"`
	Kind EventKind `json:"kind"`
	From time.Time `json:"from"` // part of the event
	To   time.Time `json:"to"`   // not part of it
	// Adder comes on top of the tariff's price, $/kWh. For a rebate it is what a
	// kWh not used earns, which is what using it costs.
	Adder float64 `json:"adder,omitempty"`
	// Price, where given, replaces the tariff's price, $/kWh. Adder is then not
	// added.
	Price *float64 `json:"price,omitempty"`
}

// occasion is an event on the grid: a range of interval starts in Unix seconds.
type occasion struct {
	from, to int64
	event    *Event
}

// occasionsIn keeps the events that touch a window, in the order of the list.
func occasionsIn(events []Event, w Window) []occasion {
	if len(events) == 0 {
		return nil
	}
	var list []occasion
	for i := range events {
		e := &events[i]
		if e.From.Before(w.End) && e.To.After(w.Start) {
			list = append(list, occasion{from: ceilInterval(e.From).Unix(), to: ceilInterval(e.To).Unix(), event: e})
		}
	}
	return slices.Clip(list)
}

// apply gives the price of an interval under the events that cover it. Of
// several prices the last one counts; adders come on top of it and of each other.
func applyEvents(list []occasion, at int64, price float64) (imports, rebate float64) {
	imports = price
	for _, o := range list {
		if o.covers(at) && o.event.Price != nil {
			imports = *o.event.Price
		}
	}
	for _, o := range list {
		if !o.covers(at) || o.event.Price != nil {
			continue
		}
		imports += o.event.Adder
		if o.event.Kind == PeakRebate {
			rebate += o.event.Adder
		}
	}
	return imports, rebate
}

func (o *occasion) covers(at int64) bool { return o.from <= at && at < o.to }
