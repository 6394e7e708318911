package catalog

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/gridhook/gridhook/pricing/catalog/internal/form"
)

//go:generate go run ./internal/gen

//go:embed us.txt
var usText []byte

// Updated is the day for which the US catalog has the rates in force.
const Updated = "2026-08-05"

// The confidence in rates of the US catalog. Users fill in the rate database. The
// collection uses the hours of January for the whole year.
const (
	trust         = 0.9 // the hours of January may apply all year
	trustSeasonal = 0.5 // from February on, if some rate applies at no hour of January
)

var usRates = sync.OnceValue(func() []Plan {
	rates, err := form.Decode(usText)
	if err != nil {
		panic(fmt.Sprintf("catalog: embedded us.txt: %v", err)) // the tests read every rate
	}
	plans := make([]Plan, len(rates))
	for i := range rates {
		plans[i] = planOf(&rates[i])
	}
	pointToNewer(plans, append(slices.Clone(plans), sheetPlans()...))
	return plans
})

// US returns the residential rates of the US catalog, by state, utility and name. Do not
// change them.
func US() []Plan { return usRates() }

// planOf converts a rate of the catalog to a plan.
func planOf(r *form.Rate) Plan {
	p := Plan{URDBLabel: r.Label, SourceDate: enteredOn(r.Label), Summary: Summary{
		ID: r.Label, Utility: r.Utility.Name, EIAID: r.Utility.EIAID, State: r.Utility.State, Name: r.Name, Timezone: r.Utility.Timezone,
		Source: "US Utility Rate Database, rate " + r.Label + ", through open-energy-tariffs (updated " + Updated + ")",
	}}
	if r.Daily != 0 {
		p.FixedCharge = Charge{Amount: r.Daily, Unit: "$/day"}
	}
	for i, rate := range r.Rates {
		p.Periods = append(p.Periods, Period{Name: periodName(i), Rate: rate})
	}
	all := Season{Months: []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, Weekday: ranges(r.Weekday)}
	if r.Weekend != r.Weekday {
		all.Weekend = ranges(r.Weekend)
	}
	p.Seasons = []Season{all}
	p.doubt(r)
	return p
}

func periodName(i int) string { return fmt.Sprintf("period %d", i+1) }

// ranges returns a day's periods by hours such as "16-21".
func ranges(day [form.HoursADay]int) map[string]string {
	names := make([]string, len(day))
	for hour, period := range day {
		names[hour] = periodName(period)
	}
	return spans(names)
}

// doubt sets the plan's caveat and confidence. A rate that applies at no hour of January
// belongs to another season with unknown hours.
func (p *Plan) doubt(r *form.Rate) {
	p.Caveat = "The catalog leaves out adjustments, taxes and higher tiers, and takes the hours of January for the whole year."
	reached := map[float64]bool{}
	for h := range form.HoursADay {
		reached[r.Rates[r.Weekday[h]]] = true
		reached[r.Rates[r.Weekend[h]]] = true
	}
	missing := 0
	for _, rate := range r.Rates {
		if !reached[rate] {
			missing++
		}
	}
	p.Confidence = slices.Repeat([]float64{trust}, 12)
	if missing == 0 {
		return
	}
	p.Caveat += fmt.Sprintf(" %d of its %d rates apply at no hour of January: other seasons have other prices.", missing, len(r.Rates))
	for month := 1; month < 12; month++ {
		p.Confidence[month] = trustSeasonal
	}
}

// All returns all plans of the package: first the plans from tariff sheets, then the US
// catalog. Do not change them.
func All() []Plan { return allPlans() }

var allPlans = sync.OnceValue(func() []Plan {
	all := Plans()
	for _, p := range sheetPlans() {
		if !slices.ContainsFunc(all, func(known Plan) bool { return known.ID == p.ID }) {
			all = append(all, p)
		}
	}
	return append(all, US()...)
})

// ByID returns the plan of All with an ID.
func ByID(id string) (Plan, bool) {
	i := slices.IndexFunc(All(), func(p Plan) bool { return p.ID == id })
	if i < 0 {
		return Plan{}, false
	}
	return All()[i], true
}

// Find returns plans by utility and by name. The plan's utility and name must contain
// every word of the query, in any order and case. The utility may also be an EIA number.
// An empty query matches every plan. Plans with exactly the given name come first. Plans
// from tariff sheets come before plans of the US catalog.
func Find(utility, name string) []Plan {
	var exact, others []Plan
	for _, p := range All() {
		switch {
		case !holds(fmt.Sprintf("%s %s %d", p.Utility, p.State, p.EIAID), utility) || !holds(p.Name+" "+p.ID, name):
		case strings.EqualFold(p.Name, strings.TrimSpace(name)):
			exact = append(exact, p)
		default:
			others = append(others, p)
		}
	}
	return append(exact, others...)
}

// holds reports whether text contains every word of a query.
func holds(text, query string) bool {
	text = strings.ToLower(text)
	for word := range strings.FieldsSeq(strings.ToLower(query)) {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

// Place is the location of a utility's customers.
type Place struct{ State, Timezone string }

var placesByEIA = sync.OnceValue(func() map[int]Place {
	places := map[int]Place{}
	for _, p := range All() {
		if _, known := places[p.EIAID]; !known && p.Timezone != "" {
			places[p.EIAID] = Place{p.State, p.Timezone}
		}
	}
	delete(places, 0)
	return places
})

// PlaceOf returns the Place of the utility with an EIA number. ok is false if the
// catalog lacks the utility.
func PlaceOf(eiaID int) (p Place, ok bool) {
	p, ok = placesByEIA()[eiaID]
	return p, ok
}
