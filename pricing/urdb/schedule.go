package urdb

import (
	"fmt"
	"math"

	"github.com/gridhook/gridhook/pricing"
)

// schedules reads the schedules of weekdays and of weekends.
func (r *reader) schedules(weekdayKey, weekendKey string, periods int) (s pricing.Schedules) {
	switch {
	case r.has(weekdayKey):
		s.Weekday = r.schedule(weekdayKey, periods)
	case periods > 1 || r.has(weekendKey):
		r.problem(weekdayKey, "is missing: it says which period applies when")
	}
	if s.Weekend = s.Weekday; r.has(weekendKey) {
		s.Weekend = r.schedule(weekendKey, periods)
	}
	return s
}

// schedule reads twelve rows, one row per month. If periods is 0, schedule does not check
// the range of the indexes, as another problem already names the missing periods.
func (r *reader) schedule(key string, periods int) pricing.Schedule {
	var s pricing.Schedule
	rows, ok := as[[]any](r, key, r.doc[key], "an array of twelve months")
	switch {
	case !ok:
		return s
	case len(rows) != len(s):
		r.problem(key, "must have 12 rows, one a month; it has %d", len(rows))
		return s
	}
	for month, row := range rows {
		r.scheduleRow(fmt.Sprintf("%s[%d]", key, month), row, periods, &s[month])
	}
	return s
}

// scheduleRow expands a day of hours, half hours or quarter hours.
func (r *reader) scheduleRow(path string, v any, periods int, day *[pricing.QuartersADay]uint16) {
	columns, ok := as[[]any](r, path, v, "an array of period indexes")
	switch n := len(columns); {
	case !ok:
		return
	case n != 24 && n != 48 && n != 96:
		r.problem(path, "must have 24, 48 or 96 columns; it has %d", n)
		return
	}
	width := pricing.QuartersADay / len(columns)
	for i, v := range columns {
		index, wrong := periodIndex(v, periods)
		if wrong != "" {
			r.problem(fmt.Sprintf("%s[%d]", path, i), "%s", wrong)
		}
		for quarter := i * width; quarter < (i+1)*width; quarter++ {
			day[quarter] = index
		}
	}
}

// periodIndex reads one entry of a schedule, or returns its problem. It has no path
// parameter, because a document has hundreds of entries and nearly all are valid.
func periodIndex(v any, periods int) (index uint16, wrong string) {
	if absent(v) {
		return 0, "has no period"
	}
	f, err := parseNumber(v)
	switch {
	case err != nil:
		return 0, err.Error()
	case math.IsNaN(f) || math.IsInf(f, 0):
		return 0, "must be a finite number"
	case f != math.Trunc(f):
		return 0, fmt.Sprintf("must be a whole number, not %v", f)
	case periods == 0:
		return 0, ""
	case f < 0 || f >= float64(periods):
		return 0, fmt.Sprintf("there is no period %v: energyratestructure has %d, counted from 0", f, periods)
	}
	return uint16(f), ""
}
