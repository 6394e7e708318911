package pricing

import (
	"fmt"
	"math"
	"time"
)

const (
	daySeconds = 24 * 60 * 60
	// QuartersADay is the number of quarter hours in a schedule.
	QuartersADay = 96
)

// Date is a day of the civil calendar, without a time zone. The zero value means no date.
type Date struct {
	Year  int
	Month time.Month
	Day   int
}

// ParseDate parses a date in the form 2006-01-02.
func ParseDate(s string) (Date, error) {
	t, err := time.Parse(time.DateOnly, s)
	if err != nil {
		return Date{}, fmt.Errorf("pricing: date %q: %w", s, err)
	}
	return DateOf(t), nil
}

// DateOf returns the day of a time in its own location.
func DateOf(t time.Time) Date {
	year, month, day := t.Date()
	return Date{Year: year, Month: month, Day: day}
}

// IsZero reports whether d is the zero value, which means no date.
func (d Date) IsZero() bool { return d == Date{} }

// String returns the date as 2006-01-02, or an empty string for the zero value.
func (d Date) String() string {
	if d.IsZero() {
		return ""
	}
	return fmt.Sprintf("%04d-%02d-%02d", d.Year, d.Month, d.Day)
}

// MarshalText returns the same text as String.
func (d Date) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText parses the text of MarshalText.
func (d *Date) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*d = Date{}
		return nil
	}
	parsed, err := ParseDate(string(text))
	if err == nil {
		*d = parsed
	}
	return err
}

// Before reports whether d is earlier than other.
func (d Date) Before(other Date) bool { return d.dayNumber() < other.dayNumber() }

// dayNumber returns the days since 1970-01-01. Comparing local days by number involves no
// instants, and so no clock changes.
func (d Date) dayNumber() int64 {
	return floorDiv(time.Date(d.Year, d.Month, d.Day, 0, 0, 0, 0, time.UTC).Unix(), daySeconds)
}

// dateOfDay returns the date of a day number.
func dateOfDay(day int64) Date {
	return DateOf(time.Unix(day*daySeconds, 0).UTC())
}

// StartIn returns the first moment of the day in a location, in steps of an interval. A clock
// change may skip midnight.
func (d Date) StartIn(location *time.Location) time.Time {
	t := time.Date(d.Year, d.Month, d.Day, 0, 0, 0, 0, location)
	for DateOf(t).Before(d) {
		t = t.Add(Interval)
	}
	return t
}

// addMonths adds whole months. The day of the month must be at most 28.
func (d Date) addMonths(n int) Date {
	return DateOf(time.Date(d.Year, d.Month+time.Month(n), d.Day, 0, 0, 0, 0, time.UTC))
}

// localDay is a day of a home's calendar.
type localDay struct {
	number  int64 // counted from 1970-01-01
	date    Date
	month   int // 0 is January
	weekday time.Weekday
	weekend bool
}

func newLocalDay(number int64) localDay {
	t := time.Unix(number*daySeconds, 0).UTC()
	d := localDay{number: number, date: DateOf(t), weekday: t.Weekday()}
	d.month = int(d.date.Month) - 1
	d.weekend = d.weekday == time.Saturday || d.weekday == time.Sunday
	return d
}

// span is an inclusive range of day numbers.
type span struct{ from, to int64 }

// newSpan returns the span between two dates. A zero date leaves its side unbounded.
func newSpan(from, to Date) span {
	s := span{from: math.MinInt64, to: math.MaxInt64}
	if !from.IsZero() {
		s.from = from.dayNumber()
	}
	if !to.IsZero() {
		s.to = to.dayNumber()
	}
	return s
}

func (s span) contains(day int64) bool { return s.from <= day && day <= s.to }

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
