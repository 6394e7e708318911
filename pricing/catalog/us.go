package catalog

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/gridhook/gridhook/pricing/catalog/internal/form"
	"github.com/gridhook/gridhook/pricing/catalog/internal/open"
)

//go:generate go run ./internal/gen

//go:embed us.txt
var usText []byte

// Updated is the day on which the rates of the US catalogue were in force.
const Updated = "2026-08-05"

// What is thought of a rate of the US catalogue. The rate database is filled in
// by its users, and the collection takes the hours of January for the whole year.
const (
	trust         = 0.9 // where the hours of January may hold all year
	trustSeasonal = 0.5 // from February on, where some rate applies at no hour of January
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
	return plans
})

// US are the residential rates of the US catalogue, by state, utility and name.
// The slice and its plans are the caller's own.
func US() []Plan { return clonePlans(usRates()) }

// ReadOpenTariff reads a plan from one line of the open-energy-tariffs
// collection, such as the US catalogue is made of. The error says what is wrong.
func ReadOpenTariff(line []byte) (Plan, error) {
	rate, err := open.Parse(line)
	if err != nil {
		return Plan{}, fmt.Errorf("catalog: %w", err)
	}
	return planOf(&rate), nil
}

// planOf spells a rate of the catalogue as a plan.
func planOf(r *form.Rate) Plan {
	p := Plan{
		ID: r.Label, Utility: r.Utility.Name, EIAID: r.Utility.EIAID, State: r.Utility.State, Name: r.Name,
		Timezone: r.Utility.Timezone, URDBLabel: r.Label,
		Source: "US Utility Rate Database, rate " + r.Label + ", through open-energy-tariffs (updated " + Updated + ")",
	}
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

// ranges spells a day as hours such as "16-21".
func ranges(day [form.HoursADay]int) map[string]string {
	hours := map[string]string{}
	for from := 0; from < len(day); {
		to := from
		for to < len(day) && day[to] == day[from] {
			to++
		}
		hours[fmt.Sprintf("%02d-%02d", from, to)] = periodName(day[from])
		from = to
	}
	return hours
}

// doubt says what the catalogue does not know of a rate. A rate that applies at
// no hour of January belongs to another season, whose hours are not known.
func (p *Plan) doubt(r *form.Rate) {
	p.Caveat = "The catalogue leaves out adjustments, taxes and higher tiers, and takes the hours of January for the whole year."
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

// All are the plans of the package: those read from tariff sheets first, then
// the US catalogue.
func All() []Plan {
	all := Plans()
	for _, p := range clonePlans(sheetPlans()) {
		if !slices.ContainsFunc(all, func(known Plan) bool { return known.ID == p.ID }) {
			all = append(all, p)
		}
	}
	return append(all, US()...)
}

// ByID finds a plan of All.
func ByID(id string) (Plan, bool) {
	for _, p := range All() {
		if p.ID == id {
			return p, true
		}
	}
	return Plan{}, false
}

// Find looks up plans by utility and by name. A plan is found when its utility
// and its name hold every word that is asked for, in any order and case; the
// utility may also be its EIA number, and nothing asked for fits anything. Plans
// whose name is exactly the one asked for come first, plans from tariff sheets
// before those of the US catalogue.
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

// holds reports whether text has every word of a query.
func holds(text, query string) bool {
	text = strings.ToLower(text)
	for word := range strings.FieldsSeq(strings.ToLower(query)) {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}
