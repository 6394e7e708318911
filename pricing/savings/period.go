package savings

import (
	"slices"
	"time"

	"github.com/gridhook/gridhook/pricing"
)

// month is a calendar month, or its part in the period.
type month struct {
	year       int
	name       time.Month
	start, end time.Time // local midnights, in UTC
	first      int       // index in the conditions of the month's first quarter hour
	count      int       // number of quarter hours
}

// run is a sequence of consecutive months.
type run []month

// runs returns the selected months of the period, or a *pricing.InvalidError if the selection is
// empty.
func (in *Input) runs() ([]run, error) {
	start := in.start()
	end := start.AddDate(0, 1, 0) // as many days as the first month has
	switch {
	case in.Request.Days != nil:
		end = start.AddDate(0, 0, *in.Request.Days)
	case in.Request.Type == Annual:
		end = start.AddDate(1, 0, 0)
	}
	var all []run
	counted := false // the month before
	for day := start; day.Before(end); {
		next := time.Date(day.Year(), day.Month()+1, 1, 0, 0, 0, 0, time.UTC)
		if next.After(end) {
			next = end
		}
		counts := len(in.Request.Months) == 0 || slices.Contains(in.Request.Months, int(day.Month()))
		if counts && !counted {
			all = append(all, run{})
		}
		if counts {
			last := &all[len(all)-1]
			*last = last.add(month{year: day.Year(), name: day.Month(), start: in.midnight(day), end: in.midnight(next)})
		}
		counted, day = counts, next
	}
	if len(all) == 0 {
		return nil, pricing.Invalid("months", "leave nothing of the period from %s to %s", start.Format(time.DateOnly), end.AddDate(0, 0, -1).Format(time.DateOnly))
	}
	return all, nil
}

func (r run) add(m month) run {
	m.first = warmUp
	if n := len(r); n > 0 {
		m.first = r[n-1].first + r[n-1].count
	}
	m.count = int(m.end.Sub(m.start) / pricing.Interval)
	return append(r, m)
}

// start returns the first day, as a date in UTC.
func (in *Input) start() time.Time {
	s := in.Request.Start
	if s.Date != nil {
		return time.Date(s.Date.Year, s.Date.Month, s.Date.Day, 0, 0, 0, 0, time.UTC)
	}
	year, name := in.Today.Year, in.Today.Month
	if s.Month != nil {
		if time.Month(*s.Month) < name {
			year++
		}
		name = time.Month(*s.Month)
	}
	return time.Date(year, name, 1, 0, 0, 0, 0, time.UTC)
}

// midnight returns the start of a local day, on the grid of quarter hours.
func (in *Input) midnight(day time.Time) time.Time {
	return pricing.DateOf(day).StartIn(in.Location).UTC().Truncate(pricing.Interval)
}

// moment is the position of a quarter hour on the home's wall clock.
type moment struct {
	day     int32 // local day, counted from 1970-01-01
	weekday uint8 // 0 is Sunday
	quarter uint8 // of the day
	week    uint8 // of the year, in steps of 7 days from New Year, 0 to 51
}

// moments returns the moments of n quarter hours from an instant.
func moments(start time.Time, n int, location *time.Location) []moment {
	all := make([]moment, 0, n)
	w := pricing.Window{Start: start, End: start.Add(time.Duration(n) * pricing.Interval)}
	for s := range pricing.Stretches(w, location) {
		at := calendar(s.Day)
		for i := range s.Count {
			at.quarter = uint8(s.Quarter + i) //nolint:gosec // 0 to 95
			all = append(all, at)
		}
	}
	return all
}

func calendar(day int64) moment {
	t := time.Unix(day*24*60*60, 0).UTC()
	return moment{
		day:     int32(day),                                  //nolint:gosec // dates are checked to lie before 2200
		weekday: uint8(t.Weekday()),                          //nolint:gosec // 0 to 6
		week:    uint8(min((t.YearDay()-1)/7, weeksAYear-1)), //nolint:gosec // 0 to 51
	}
}
