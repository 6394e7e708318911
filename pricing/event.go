package pricing

import "time"

// EventKind is the kind of response that an event asks of a home.
type EventKind string

// The values of EventKind.
const (
	CriticalPeak EventKind = "CRITICAL_PEAK" // energy is more expensive for a few hours of a few days
	PeakRebate   EventKind = "PEAK_REBATE"   // energy saved against normal use is paid
	FlexAlert    EventKind = "FLEX_ALERT"    // the grid operator asks for less use, without a price
)

// Event is a time span with its own price, announced a day or less ahead. It is a
// critical peak, or a peak with a rebate for saved energy. An event covers the intervals
// that start in it.
type Event struct {
	Name string    `json:"name"`
	Kind EventKind `json:"kind"`
	From time.Time `json:"from"` // inclusive
	To   time.Time `json:"to"`   // exclusive
	// Adder is added to the tariff's price, $/kWh. For a rebate, Adder is the payment for
	// one saved kWh. Using that kWh costs the same amount.
	Adder float64 `json:"adder,omitempty"`
	// Price, if not nil, replaces the tariff's price, $/kWh. Adder is then ignored.
	Price *float64 `json:"price,omitempty"`
}

// occasion is an event on the grid: a range of interval starts in Unix seconds.
type occasion struct {
	from, to int64
	event    *Event
}

// occasionsIn returns the events that overlap a window, in the order of the list.
func occasionsIn(events []Event, w Window) (list []occasion) {
	for i := range events {
		e := &events[i]
		if e.From.Before(w.End) && e.To.After(w.Start) {
			list = append(list, occasion{from: ceilInterval(e.From).Unix(), to: ceilInterval(e.To).Unix(), event: e})
		}
	}
	return list
}

// applyEvents returns the price of an interval under the events that cover it. The last
// event with a Price sets the price, and replaced is true. All adders are added.
func applyEvents(list []occasion, at int64, price float64) (imports, rebate float64, replaced bool) {
	adders := 0.0
	for _, o := range list {
		switch {
		case !o.covers(at):
		case o.event.Price != nil:
			price, replaced = *o.event.Price, true
		case o.event.Kind == PeakRebate:
			rebate += o.event.Adder
		default:
			adders += o.event.Adder
		}
	}
	return price + adders + rebate, rebate, replaced
}

func (o *occasion) covers(at int64) bool { return o.from <= at && at < o.to }
