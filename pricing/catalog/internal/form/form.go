// Package form reads the compact form of the catalog. The form is lines of text, so
// that people can read its changes. A line that starts with "@" names a utility with its
// number, state and time zone. The lines after it are the utility's rates. Tabs separate
// the fields of a rate:
//
//	name  label  fixed charge $/day  rates $/kWh  weekday  weekend
//
// Spaces separate the rates. A day consists of runs of hours. For example, "7x0 12x1 5x0"
// means seven hours of the first rate, twelve of the second and five of the first. "="
// means that the weekend is the same as the weekdays. "#" starts a comment.
//
// The package may import only the standard library and does no I/O.
package form

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// HoursADay is the length of a day's schedule.
const HoursADay = 24

// Utility is the seller of a rate.
type Utility struct {
	Name     string
	EIAID    int
	State    string
	Timezone string // IANA name
}

// Rate is a residential rate by hour of the day.
type Rate struct {
	Utility Utility
	Name    string
	Label   string    // in the US Utility Rate Database
	Daily   float64   // fixed charge, $/day
	Rates   []float64 // $/kWh
	Weekday [HoursADay]int
	Weekend [HoursADay]int // index of the rate by hour
}

// ErrForm is wrapped by every error of this package.
var ErrForm = errors.New("form")

// Decode parses rates. The error wraps ErrForm and names the line.
func Decode(text []byte) ([]Rate, error) {
	var rates []Rate
	var utility Utility
	for i, line := range slices.Collect(strings.SplitSeq(string(text), "\n")) {
		var err error
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '@':
			utility, err = decodeUtility(line[1:])
		default:
			var rate Rate
			rate, err = decodeRate(line)
			rate.Utility = utility
			rates = append(rates, rate)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: line %d: %w", ErrForm, i+1, err)
		}
	}
	return rates, nil
}

func decodeUtility(line string) (u Utility, err error) {
	fields := strings.Split(line, "\t")
	if len(fields) != 4 {
		return u, fmt.Errorf("%d fields of a utility, want 4", len(fields))
	}
	u = Utility{Name: fields[0], State: fields[2], Timezone: fields[3]}
	u.EIAID, err = strconv.Atoi(fields[1])
	return u, err
}

func decodeRate(line string) (r Rate, err error) {
	fields := strings.Split(line, "\t")
	if len(fields) != 6 {
		return r, fmt.Errorf("%d fields of a rate, want 6", len(fields))
	}
	r.Name, r.Label = fields[0], fields[1]
	if r.Daily, err = strconv.ParseFloat(fields[2], 64); err != nil {
		return r, err
	}
	for word := range strings.FieldsSeq(fields[3]) {
		rate, err := strconv.ParseFloat(word, 64)
		if err != nil {
			return r, err
		}
		r.Rates = append(r.Rates, rate)
	}
	if r.Weekday, err = decodeDay(fields[4], len(r.Rates)); err != nil {
		return r, err
	}
	r.Weekend = r.Weekday
	if fields[5] != "=" {
		r.Weekend, err = decodeDay(fields[5], len(r.Rates))
	}
	return r, err
}

func decodeDay(text string, rates int) (day [HoursADay]int, err error) {
	hour := 0
	for word := range strings.FieldsSeq(text) {
		var hours, rate int
		if _, err := fmt.Sscanf(word, "%dx%d", &hours, &rate); err != nil {
			return day, fmt.Errorf("hours %q: %w", word, err)
		}
		if hours < 1 || hour+hours > HoursADay || rate < 0 || rate >= rates {
			return day, fmt.Errorf("hours %q: beyond the day or the %d rates", word, rates)
		}
		for range hours {
			day[hour] = rate
			hour++
		}
	}
	if hour != HoursADay {
		return day, fmt.Errorf("a day of %d hours", hour)
	}
	return day, nil
}
