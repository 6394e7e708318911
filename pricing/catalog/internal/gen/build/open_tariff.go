package build

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gridhook/gridhook/pricing/catalog"
)

// entry is the used part of the collection's object: a flat rate, or bands and their hours.
type entry struct {
	State, Utility, Plan, URDB, TZ string
	EIAID                          string `json:"eia_id"`
	Tariff                         struct {
		Kind   string
		Import struct {
			FlatRate *float64
			Bands    []struct {
				ID   string
				Rate *float64
			}
			Schedule []hours
		}
		Supply struct{ Daily float64 }
	}
}

// hours is one line of a schedule.
type hours struct{ Days, From, To, Band string }

// updated is the day for which the collection has the rates in force.
const updated = "2026-08-05"

// ErrOpen is wrapped by every error of OpenTariff.
var ErrOpen = errors.New("not a rate of open-energy-tariffs")

// OpenTariff reads a plan from a line of the open-energy-tariffs collection. The error
// wraps ErrOpen and names the problem.
func OpenTariff(line []byte) (Plan, error) {
	var e entry
	err := json.Unmarshal(line, &e)
	var p Plan
	if err == nil {
		p, err = e.plan()
	}
	if err != nil {
		return Plan{}, fmt.Errorf("%w: %w", ErrOpen, err)
	}
	return p, nil
}

func (e *entry) plan() (p Plan, err error) {
	if e.Plan == "" || e.Utility == "" || e.URDB == "" {
		return p, errors.New("utility, plan and urdb must be given")
	}
	if strings.ContainsAny(e.Plan+e.Utility+e.URDB, "\t\n\r") {
		return p, errors.New("utility, plan and urdb must be one line each")
	}
	p = Plan{Label: e.URDB, Plan: catalog.Plan{SourceDate: enteredOn(e.URDB), Summary: catalog.Summary{
		ID: e.URDB, Utility: e.Utility, State: e.State, Name: e.Plan, Timezone: e.TZ,
		Source: "US Utility Rate Database, rate " + e.URDB + ", through open-energy-tariffs (updated " + updated + ")",
	}}}
	if p.EIAID, err = strconv.Atoi(e.EIAID); err != nil {
		return p, fmt.Errorf("eia_id: %w", err)
	}
	if daily := e.Tariff.Supply.Daily; daily != 0 {
		p.FixedChargeFirstMeter, p.FixedChargeUnits = daily, "$/day"
	}
	weekday, weekend, err := e.days(&p)
	if err != nil {
		return p, err
	}
	for month := 1; month <= 12; month++ {
		p.setMonth(month, weekday, weekend)
	}
	doubt(&p, slices.Concat(weekday, weekend))
	return p, nil
}

// days adds the periods of a rate to the plan, and returns the period of each hour.
func (e *entry) days(p *Plan) (weekday, weekend []int, err error) {
	add := func(rate float64) int {
		return p.addPeriod(fmt.Sprintf("period %d", len(p.EnergyTOULabels)+1), rate, 0)
	}
	in := e.Tariff.Import
	switch {
	case e.Tariff.Kind == "flat" && in.FlatRate != nil:
		day := slices.Repeat([]int{add(*in.FlatRate)}, hoursADay)
		return day, day, nil
	case e.Tariff.Kind == "tou" && len(in.Bands) > 0:
	default:
		return nil, nil, fmt.Errorf("tariff.kind: %q has unknown rates", e.Tariff.Kind)
	}
	bands := map[string]int{}
	for i, band := range in.Bands {
		if _, twice := bands[band.ID]; twice || band.Rate == nil {
			return nil, nil, fmt.Errorf("tariff.import.bands[%d]: %q has no rate or comes twice", i, band.ID)
		}
		bands[band.ID] = add(*band.Rate)
	}
	return schedule(in.Schedule, bands)
}

// The confidence in rates of the US catalog. Users fill in the rate database. The
// collection uses the hours of January for the whole year.
const (
	trust         = 0.9 // the hours of January may apply all year
	trustSeasonal = 0.5 // from February on, if some rate applies at no hour of January
)

// doubt sets the plan's caveat and confidence. A rate that applies at none of the hours of
// January belongs to another season with unknown hours.
func doubt(p *Plan, hours []int) {
	p.Caveat = "The catalog leaves out adjustments, taxes and higher tiers, and takes the hours of January for the whole year."
	reached, missing := map[float64]bool{}, 0
	for _, period := range hours {
		reached[p.EnergyRateStructure[period][0].Rate] = true
	}
	for _, tiers := range p.EnergyRateStructure {
		if !reached[tiers[0].Rate] {
			missing++
		}
	}
	p.Confidence = slices.Repeat([]float64{trust}, 12)
	if missing == 0 {
		return
	}
	p.Caveat += fmt.Sprintf(" %d of its %d rates apply at no hour of January: other seasons have other prices.", missing, len(p.EnergyRateStructure))
	for month := 1; month < 12; month++ {
		p.Confidence[month] = trustSeasonal
	}
}

// schedule returns the period of each hour. The lines must cover every hour exactly once.
func schedule(lines []hours, bands map[string]int) (weekday, weekend []int, err error) {
	days := map[string][]int{"weekday": make([]int, hoursADay), "weekend": make([]int, hoursADay)}
	covered := map[string]*[hoursADay]int{"weekday": {}, "weekend": {}} // number of times
	for i, line := range lines {
		period, ok := bands[line.Band]
		from, err1 := hour(line.From)
		to, err2 := hour(line.To)
		if !ok || err1 != nil || err2 != nil {
			return nil, nil, fmt.Errorf("tariff.import.schedule[%d]: band %q from %q to %q is not a known band between full hours", i, line.Band, line.From, line.To)
		}
		kinds := []string{line.Days}
		if line.Days == "all" {
			kinds = []string{"weekday", "weekend"}
		}
		for _, kind := range kinds {
			if days[kind] == nil {
				return nil, nil, fmt.Errorf("tariff.import.schedule[%d].days: %q is not known", i, line.Days)
			}
			for h := from; h < to; h++ {
				days[kind][h] = period
				covered[kind][h]++
			}
		}
	}
	for h := range hoursADay {
		if on, off := covered["weekday"][h], covered["weekend"][h]; on != 1 || off != 1 {
			return nil, nil, fmt.Errorf("tariff.import.schedule: %d:00 is covered %d times on weekdays and %d times on weekends", h, on, off)
		}
	}
	return days["weekday"], days["weekend"], nil
}

// hour parses a full hour of the day such as "17:00".
func hour(s string) (int, error) {
	digits, minutes, _ := strings.Cut(s, ":")
	h, err := strconv.Atoi(digits)
	if err != nil || minutes != "00" || h < 0 || h > hoursADay {
		return 0, fmt.Errorf("%q is not a full hour", s)
	}
	return h, nil
}
