package signals

import (
	"encoding/hex"
	"errors"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/market"
	"github.com/gridhook/gridhook/storage"
)

// DayEvent is a derived event: the values of a program for one local day, or an alert.
type DayEvent struct {
	ID      string
	Program *Program
	Window  pricing.Window
	Created time.Time
	// Alert is the text of an alert, empty for a day.
	Alert string
}

// PublishedDays is the number of local days that have an event at any time: today and
// tomorrow.
const PublishedDays = 2

// Days returns the events of a program at a time.
func (p *Program) Days(now time.Time) []DayEvent {
	days := make([]DayEvent, PublishedDays)
	for i := range days {
		w := p.day(now, i)
		days[i] = p.event(w, w.Start.In(p.Location).Format("20060102"))
	}
	return days
}

// event returns the event of a window whose identifier ends with eight hexadecimal digits.
// The event appears at the midnight before its first day, or with its program.
func (p *Program) event(w pricing.Window, suffix string) DayEvent {
	created := p.day(p.day(w.Start, 0).Start.Add(-time.Hour), 0).Start
	return DayEvent{ID: p.eventPrefix() + "_" + suffix, Program: p, Window: w, Created: storage.Later(created, p.Created)}
}

// ProgramOfEvent returns the program identifier in a derived event's identifier, empty if
// the identifier has another form.
func ProgramOfEvent(eventID string) string {
	i := strings.LastIndexByte(eventID, '_')
	if suffix, err := hex.DecodeString(eventID[i+1:]); i < 0 || err != nil || len(suffix) != 4 {
		return ""
	}
	return eventID[:i]
}

// These types are the parts of an OpenADR 3.1 event. The API documents them by their tags.
type (
	// OpenADRHead identifies an event.
	OpenADRHead struct {
		ID         string       `json:"id" example:"home_1"`
		Created    storage.Time `json:"createdDateTime"`
		Modified   storage.Time `json:"modificationDateTime"`
		ObjectType string       `json:"objectType" doc:"EVENT."`
		ProgramID  string       `json:"programID" doc:"The home's rate plan."`
		Name       string       `json:"eventName"`
	}
	// OpenADRSeries has the values of an event.
	OpenADRSeries struct {
		Descriptors []OpenADRDescriptor `json:"payloadDescriptors"`
		Period      OpenADRPeriod       `json:"intervalPeriod"`
		Intervals   []OpenADRInterval   `json:"intervals" doc:"The quarter hours in order."`
	}
	// OpenADRDescriptor describes the unit and currency of a kind of payload.
	OpenADRDescriptor struct {
		ObjectType  string `json:"objectType" doc:"EVENT_PAYLOAD_DESCRIPTOR."`
		PayloadType string `json:"payloadType" doc:"PRICE, EXPORT_PRICE or GHG."`
		Units       string `json:"units" doc:"KWH for prices, and GHG for grams of CO2 a kWh."`
		Currency    string `json:"currency,omitempty" doc:"USD for prices." example:"USD"`
	}
	// OpenADRPeriod has the start of the first interval and the duration of each interval.
	OpenADRPeriod struct {
		Start    storage.Time `json:"start"`
		Duration string       `json:"duration"`
	}
	// OpenADRInterval is a quarter hour.
	OpenADRInterval struct {
		ID       int              `json:"id"`
		Payloads []OpenADRPayload `json:"payloads"`
	}
	// OpenADRPayload is a value of an interval.
	OpenADRPayload struct {
		Type   string    `json:"type" doc:"PRICE: the cost of an imported kWh. EXPORT_PRICE: the credit for an exported kWh. GHG: the emissions of one more kWh." example:"NET_METERING"`
		Values []float64 `json:"values"`
	}
	adrProgram struct {
		ID          string              `json:"id"`
		Created     storage.Time        `json:"createdDateTime"`
		Modified    storage.Time        `json:"modificationDateTime"`
		ObjectType  string              `json:"objectType"`
		Name        string              `json:"programName"`
		Descriptors []OpenADRDescriptor `json:"payloadDescriptors"`
		Attributes  []adrAttribute      `json:"attributes"`
	}
	adrAttribute struct {
		Type   string `json:"type"`
		Values []any  `json:"values"`
	}
	adrEvent struct {
		OpenADRHead
		OpenADRSeries
	}
)

// Encode encodes the program in JSON, without targets.
func (p *Program) Encode() ([]byte, error) {
	e := adrProgram{
		ID: p.ID, ObjectType: "PROGRAM", Name: p.Name, Created: storage.Time{Time: p.Created}, Modified: storage.Time{Time: p.Update},
		Descriptors: []OpenADRDescriptor{price("PRICE"), price("EXPORT_PRICE")},
	}
	if p.Region != nil {
		e.Descriptors = []OpenADRDescriptor{emission()}
	}
	for _, a := range []struct{ kind, value string }{
		{"PROGRAM_LONG_NAME", p.LongName}, {"RETAILER_LONG_NAME", p.Utility}, {"PRINCIPAL_SUBDIVISION", p.State},
	} {
		if a.value != "" {
			e.Attributes = append(e.Attributes, adrAttribute{a.kind, []any{cut(a.value)}})
		}
	}
	e.Attributes = append(e.Attributes, adrAttribute{"COUNTRY", []any{"US"}}, adrAttribute{"BINDING_EVENTS", []any{false}})
	return json.Marshal(&e)
}

// cut truncates a text to the maximum length of an attribute.
func cut(text string) string {
	const maxLength = 128
	if r := []rune(text); len(r) > maxLength {
		return string(r[:maxLength])
	}
	return text
}

func price(payload string) OpenADRDescriptor {
	return OpenADRDescriptor{"EVENT_PAYLOAD_DESCRIPTOR", payload, "KWH", "USD"}
}

func emission() OpenADRDescriptor {
	return OpenADRDescriptor{ObjectType: "EVENT_PAYLOAD_DESCRIPTOR", PayloadType: "GHG", Units: "GHG"}
}

// channel is one payload type with its value in each quarter hour.
type channel struct {
	OpenADRDescriptor
	values []float64
}

// EncodedEvent is a derived event in JSON, without targets.
type EncodedEvent struct {
	JSON []byte
	// Fingerprint differs for events with other values.
	Fingerprint string
}

// Encode computes and encodes an event. Errors: *Unpriceable, *HomeError, and errors of the
// store.
func (r *Reader) Encode(d *DayEvent) (EncodedEvent, error) {
	p := d.Program
	head := OpenADRHead{
		ID: d.ID, ObjectType: "EVENT", ProgramID: p.ID, Created: storage.Time{Time: d.Created},
		Name: p.Name + " " + d.Window.Start.In(p.Location).Format(time.DateOnly),
	}
	if d.Alert != "" {
		head.Modified.Time = r.latest(d.Created, r.refs(p))
		return encodeAlert(head, d)
	}
	e := adrEvent{OpenADRHead: head}
	var channels []channel
	changed := d.Created
	if p.Region != nil {
		published, err := r.findSeries(market.Emissions, p.Region.Code)
		if err != nil {
			return EncodedEvent{}, homeError(err)
		}
		values, err := r.prices(published)
		if err != nil {
			return EncodedEvent{}, homeError(err)
		}
		channels = []channel{emissionChannel(emissions(p.Region, values, p.Location, d.Window))}
		changed = r.latest(changed, published.refs())
	} else {
		home := p.home
		if home == nil {
			home = &Home{ID: ".", Enabled: true, RatePlanID: p.RatePlanID, Timezone: p.Location.String()}
		}
		signal, err := r.Signal(home, d.Window)
		if err != nil {
			return EncodedEvent{}, err
		}
		channels = priceChannels(&signal.Curve.Curve)
		if grams := signal.Curve.Emissions(); p.home != nil && grams != nil {
			channels = append(channels, emissionChannel(grams))
		}
		changed = r.latest(changed, r.refs(p))
	}
	e.Modified = storage.Time{Time: changed}
	e.OpenADRSeries = newADRSeries(d.Window, channels, longestStep(channels))
	values, err := json.Marshal(&e.Intervals)
	if err != nil {
		return EncodedEvent{}, err
	}
	text, err := json.Marshal(&e)
	return EncodedEvent{JSON: text, Fingerprint: storage.Hash(values, 8)}, err
}

// refs names a program's inputs: the plan, its events and its market series, and the home
// with its solar system and the emissions of its grid region.
func (r *Reader) refs(of *Program) []storage.Ref {
	p, err := r.plan(of.RatePlanID)
	if err != nil {
		return nil
	}
	refs := p.refs()
	for i := range p.parts {
		refs = append(refs, p.parts[i].refs()...)
	}
	if of.home != nil {
		refs = append(refs, storage.KindHome.Ref(r.org, of.home.ID), storage.KindSolar.Ref(r.org, of.home.ID))
		if grid := r.pricer.place(of.home.Zipcode).grid; grid != nil {
			if published, err := r.findSeries(market.Emissions, grid.Code); err == nil {
				refs = append(refs, published.refs()...)
			}
		}
	}
	return refs
}

// latest returns the time of the last write of entities, or the given time if it is later.
func (r *Reader) latest(at time.Time, refs []storage.Ref) time.Time {
	for _, ref := range refs {
		if record, err := r.view.Get(ref); err == nil {
			at = storage.Later(at, record.At)
		}
	}
	return at
}

func priceChannels(c *pricing.Curve) []channel {
	return []channel{{price("PRICE"), c.Import}, {price("EXPORT_PRICE"), c.Export}}
}

func emissionChannel(grams []float64) channel {
	return channel{emission(), grams}
}

// quarters is the number of quarter hours in an hour.
const quarters = 4

// longestStep returns quarters, or 1 if a value changes within an hour.
func longestStep(channels []channel) int {
	for _, c := range channels {
		for i, v := range c.values {
			if len(c.values)%quarters != 0 || v != c.values[i/quarters*quarters] {
				return 1
			}
		}
	}
	return quarters
}

// newADRSeries returns intervals of step quarter hours, 1 or quarters.
func newADRSeries(w pricing.Window, channels []channel, step int) (s OpenADRSeries) {
	s.Period = OpenADRPeriod{storage.Time{Time: w.Start}, "PT15M"}
	if step == quarters {
		s.Period.Duration = "PT1H"
	}
	for _, c := range channels {
		s.Descriptors = append(s.Descriptors, c.OpenADRDescriptor)
	}
	for i := 0; i < w.Len(); i += step {
		interval := OpenADRInterval{ID: i / step}
		for _, c := range channels {
			interval.Payloads = append(interval.Payloads, OpenADRPayload{c.PayloadType, []float64{c.values[i]}})
		}
		s.Intervals = append(s.Intervals, interval)
	}
	return s
}

// IsDataError reports whether an error concerns the data of a single home, plan or day, and
// not the store.
func IsDataError(err error) bool {
	var unpriceable *Unpriceable
	var broken *HomeError
	return errors.As(err, &unpriceable) || errors.As(err, &broken)
}
