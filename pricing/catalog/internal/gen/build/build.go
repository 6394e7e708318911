package build

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
)

// Plans makes all plans of the catalog in their order: checked plans, other schedules of PG&E
// and the US catalog. collection has the rates of open-energy-tariffs, one a line, pge the
// schedules of PG&E, and written the plans written by hand.
func Plans(collection, pge, written []byte) ([]Plan, error) {
	var us, checked, others []Plan
	for i, line := range bytes.Split(bytes.TrimSpace(collection), []byte("\n")) {
		plan, err := OpenTariff(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		us = append(us, plan)
	}
	slices.SortFunc(us, func(a, b Plan) int {
		return cmp.Or(cmp.Compare(a.State, b.State), cmp.Compare(a.Utility, b.Utility), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Label, b.Label))
	})
	sheets, err := pgeSheets(pge)
	if err != nil {
		return nil, err
	}
	pointToNewer(us, append(slices.Clone(us), sheets...))
	for _, p := range sheets {
		if p.Checked = p.ID == "pge-e-elec" || p.ID == "pge-ev2-a"; p.Checked { // the schedules for homes with much electric load
			checked = append(checked, p)
		} else {
			others = append(others, p)
		}
	}
	byHand, err := handWritten(written, us)
	return slices.Concat(checked, byHand, others, us), err
}

// handWritten returns the plans written by hand, whose seasons have the hours of each period,
// such as "16-21". A plan that is also in the US catalog has the catalog's confidence.
func handWritten(text []byte, us []Plan) (plans []Plan, err error) {
	var written []struct {
		Plan
		Periods []struct {
			Name string
			Rate float64
		}
		Seasons []struct {
			Months           []int
			Weekday, Weekend map[string]string // Weekend is nil if it is the same
		}
	}
	if err := json.Unmarshal(text, &written); err != nil {
		return nil, err
	}
	for _, w := range written {
		p := w.Plan
		p.Checked = true
		for _, period := range w.Periods {
			p.addPeriod(period.Name, period.Rate, 0)
		}
		for _, s := range w.Seasons {
			weekday, err := p.hourly(s.Weekday)
			weekend := weekday
			if err == nil && s.Weekend != nil {
				weekend, err = p.hourly(s.Weekend)
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", p.ID, err)
			}
			for _, month := range s.Months {
				p.setMonth(month, weekday, weekend)
			}
		}
		p.SourceDate = p.StartDate
		for _, twin := range us {
			if twin.Label == p.Label {
				p.SourceDate, p.Confidence, p.Caveat = twin.SourceDate, twin.Confidence, twin.Caveat
			}
		}
		plans = append(plans, p)
	}
	return plans, nil
}

const hoursADay = 24

// hourly returns the period of each hour. Every reader of a schedule rejects the -1 of an hour
// or a period that is missing.
func (t *terms) hourly(ranges map[string]string) ([]int, error) {
	day := slices.Repeat([]int{-1}, hoursADay)
	for hours, name := range ranges {
		var from, to int
		if _, err := fmt.Sscanf(hours, "%d-%d", &from, &to); err != nil || from < 0 || to > hoursADay {
			return nil, fmt.Errorf("hours %q are not such as 16-21", hours)
		}
		fillHours(day, [][2]int{{from, to}}, slices.Index(t.EnergyTOULabels, name))
	}
	return day, nil
}

// fillHours sets the period of ranges of hours, the last excluded.
func fillHours(day []int, ranges [][2]int, period int) {
	for _, r := range ranges {
		for hour := r[0]; hour < r[1]; hour++ {
			day[hour] = period
		}
	}
}
