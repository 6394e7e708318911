package events

import (
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"github.com/gridhook/gridhook/storage"
)

// The stored form of a receipt is compact, as each receipt covers only 64 homes. It
// writes common values of deliveries once. It leaves out message identifiers, because
// they can be derived.

// receiptOptions are the options of encoding/json, which is slower.
var receiptOptions = jsonv1.DefaultOptionsV1()

// receiptJSON is the stored form of a receipt.
type receiptJSON struct {
	ungrouped
	// Base is the origin of the groups' times, in milliseconds since 1970.
	Base   int64        `json:"base"`
	Groups []*groupJSON `json:"groups"`
}

// ungrouped is a receipt whose JSON form leaves out the deliveries.
type ungrouped Receipt

// groupJSON holds deliveries with common values. Each list has one element per delivery.
type groupJSON struct {
	common
	// Places are the deliveries' indexes in the receipt. Every is the first index and a
	// constant step instead, as each home has a delivery to each endpoint. Both are left out
	// if the receipt has only one group.
	Places []int  `json:"places,omitempty"`
	Every  [2]int `json:"every,omitzero"`
	// Homes is left out if the group before has the same homes.
	Homes []string `json:"homes,omitempty"`
	// At is in milliseconds from the receipt's base. It has one element if all are the same.
	// Took is in microseconds.
	At   []int64 `json:"at"`
	Took []int64 `json:"took,omitempty"`
	// First are the times to the first byte, left out if no delivery has one. Opened
	// holds, for each new connection, the index in Homes and the durations of DNS,
	// connecting and TLS. All durations are in microseconds.
	First  []int64    `json:"first,omitempty"`
	Opened [][4]int64 `json:"opened,omitempty"`
}

// sameAsHome stands for an endpoint that has its home's identifier. So the callbacks of
// OpenADR subscriptions, each an endpoint of its own, share a group.
const sameAsHome = "="

// common holds the common values of a group.
type common struct {
	EndpointID string     `json:"endpointId,omitempty"`
	Outcome    Outcome    `json:"outcome"`
	Attempt    int        `json:"attempt,omitempty"`
	BatchID    string     `json:"batchId,omitempty"`
	Status     int        `json:"status,omitempty"`
	ErrorClass ErrorClass `json:"errorClass,omitempty"`
	Reason     string     `json:"reason,omitempty"`
	Response   string     `json:"answer,omitempty"`
	// Next is in milliseconds since 1970.
	Next int64 `json:"next,omitempty"`
}

// MarshalJSON returns the stored form.
func (r Receipt) MarshalJSON() ([]byte, error) {
	out := receiptJSON{ungrouped: ungrouped(r), Groups: []*groupJSON{}}
	groups := map[common]*groupJSON{}
	for i := range r.Deliveries {
		d := &r.Deliveries[i]
		if i == 0 {
			out.Base = d.At.UnixMilli()
		}
		c := common{
			EndpointID: d.EndpointID, Outcome: d.Outcome, Attempt: d.Attempt, BatchID: d.BatchID,
			Status: d.Status, ErrorClass: d.ErrorClass, Reason: d.Reason, Response: d.Response,
		}
		if d.EndpointID == d.HomeID && d.HomeID != "" {
			c.EndpointID = sameAsHome
		}
		if !d.NextAt.IsZero() {
			c.Next = d.NextAt.UnixMilli()
		}
		g := groups[c]
		if g == nil {
			g = &groupJSON{common: c}
			groups[c] = g
			out.Groups = append(out.Groups, g)
		}
		g.Places = append(g.Places, i)
		g.Homes = append(g.Homes, d.HomeID)
		g.At = append(g.At, d.At.UnixMilli()-out.Base)
		g.Took = append(g.Took, micro(d.Milliseconds))
		g.addTiming(len(g.Homes)-1, &d.Timing)
	}
	for i := len(out.Groups) - 1; i >= 0; i-- {
		out.Groups[i].shorten()
		switch {
		case len(out.Groups) == 1:
			out.Groups[0].Every = [2]int{}
		case i > 0 && slices.Equal(out.Groups[i].Homes, out.Groups[i-1].Homes):
			out.Groups[i].Homes = nil
		}
	}
	return json.Marshal(out, receiptOptions)
}

// addTiming adds the timing of the delivery at an index.
func (g *groupJSON) addTiming(place int, t *Timing) {
	if t.DNS != 0 || t.Connect != 0 || t.TLS != 0 {
		g.Opened = append(g.Opened, [4]int64{int64(place), micro(t.DNS), micro(t.Connect), micro(t.TLS)})
	}
	if t.FirstByte != 0 {
		for len(g.First) < place {
			g.First = append(g.First, 0)
		}
		g.First = append(g.First, micro(t.FirstByte))
	}
}

// micro converts milliseconds to microseconds.
func micro(ms float64) int64 { return int64(ms*1000 + 0.5) }

// shorten removes values that can be derived.
func (g *groupJSON) shorten() {
	every := [2]int{g.Places[0], 1}
	if len(g.Places) > 1 {
		every[1] = g.Places[1] - g.Places[0]
	}
	constant := true
	for i, place := range g.Places {
		constant = constant && place == every[0]+i*every[1]
	}
	if constant {
		g.Places, g.Every = nil, every
	}
	if at := slices.Compact(slices.Clone(g.At)); len(at) == 1 {
		g.At = at
	}
	if g.Attempt == 0 && g.ErrorClass != ErrorStopping { // without a request there is no duration
		g.Took = nil
	}
}

// place returns the index of a group's delivery in the receipt.
func (g *groupJSON) place(i int) int {
	switch {
	case g.Places != nil:
		return g.Places[i]
	case g.Every[1] > 0:
		return g.Every[0] + i*g.Every[1]
	}
	return i
}

// UnmarshalJSON reads the stored form. It returns an error if the lists differ in length.
func (r *Receipt) UnmarshalJSON(b []byte) error {
	var in receiptJSON
	if err := json.Unmarshal(b, &in, receiptOptions); err != nil {
		return err
	}
	*r = Receipt(in.ungrouped)
	total := 0
	for i, g := range in.Groups {
		if len(g.Homes) == 0 && i > 0 {
			g.Homes = in.Groups[i-1].Homes
		}
		total += len(g.Homes)
	}
	r.Deliveries = make([]Delivery, total)
	for _, g := range in.Groups {
		if err := g.spread(r, in.Base); err != nil {
			return err
		}
	}
	return nil
}

// spread writes a group's deliveries to their indexes.
func (g *groupJSON) spread(r *Receipt, base int64) error {
	if !g.fits() {
		return fmt.Errorf("the receipt %s of %s has lists of different lengths", r.Key, r.TriggerID)
	}
	for i, home := range g.Homes {
		place := g.place(i)
		if place < 0 || place >= len(r.Deliveries) {
			return fmt.Errorf("the receipt %s of %s has no place %d", r.Key, r.TriggerID, place)
		}
		d := Delivery{
			EventType: r.EventType, HomeID: home, EndpointID: g.EndpointID, Outcome: g.Outcome, Attempt: g.Attempt, BatchID: g.BatchID, Status: g.Status,
			ErrorClass: g.ErrorClass, Reason: g.Reason, Response: g.Response, At: moment(base + g.At[min(i, len(g.At)-1)]),
		}
		if i < len(g.First) {
			d.Timing.FirstByte = float64(g.First[i]) / 1000
		}
		if d.EndpointID == sameAsHome {
			d.EndpointID = home
		}
		if d.EndpointID != "" {
			d.MessageID = MessageID(r.TriggerID, home, d.EndpointID)
		}
		if g.Next != 0 {
			d.NextAt = moment(g.Next)
		}
		if g.Took != nil {
			d.Milliseconds = float64(g.Took[i]) / 1000
		}
		r.Deliveries[place] = d
	}
	for _, o := range g.Opened {
		t := &r.Deliveries[g.place(int(o[0]))].Timing
		t.DNS, t.Connect, t.TLS = float64(o[1])/1000, float64(o[2])/1000, float64(o[3])/1000
	}
	return nil
}

// fits reports whether the lengths of the lists agree.
func (g *groupJSON) fits() bool {
	n := len(g.Homes)
	for _, opened := range g.Opened {
		if opened[0] < 0 || opened[0] >= int64(n) {
			return false
		}
	}
	return (len(g.At) == n || len(g.At) == 1) && (g.Places == nil || len(g.Places) == n) && (g.Took == nil || len(g.Took) == n) && len(g.First) <= n
}

func moment(ms int64) storage.Time { return storage.Time{Time: time.UnixMilli(ms).UTC()} }
