package pricing

import (
	"slices"
	"strings"
	"time"
)

// holidaySet is a set of US federal holidays, one bit each.
type holidaySet uint16

const (
	newYearsDay holidaySet = 1 << iota
	kingDay
	presidentsDay
	memorialDay
	juneteenth
	independenceDay
	laborDay
	columbusDay
	veteransDay
	thanksgivingDay
	christmasDay

	federalHolidays = 1<<11 - 1
)

// juneteenthSince is the first year of the youngest holiday.
const juneteenthSince = 2021

// holidayNames are the spellings that a plan may use, in lower case and letters
// only.
var holidayNames = map[string]holidaySet{
	"federal": federalHolidays, "usfederal": federalHolidays, "federalholidays": federalHolidays,
	"newyear": newYearsDay, "newyears": newYearsDay, "newyearsday": newYearsDay,
	"mlk": kingDay, "mlkday": kingDay, "martinlutherkingday": kingDay, "martinlutherkingjrday": kingDay, "birthdayofmartinlutherkingjr": kingDay,
	"presidentsday": presidentsDay, "washingtonsbirthday": presidentsDay,
	"memorialday":     memorialDay,
	"juneteenth":      juneteenth,
	"independenceday": independenceDay, "fourthofjuly": independenceDay, "julyfourth": independenceDay,
	"laborday":    laborDay,
	"columbusday": columbusDay, "indigenouspeoplesday": columbusDay,
	"veteransday":  veteransDay,
	"thanksgiving": thanksgivingDay, "thanksgivingday": thanksgivingDay,
	"christmas": christmasDay, "christmasday": christmasDay,
}

// fixedHolidays fall on a date of the year.
var fixedHolidays = []struct {
	month time.Month
	day   int
	name  holidaySet
}{
	{time.January, 1, newYearsDay},
	{time.June, 19, juneteenth},
	{time.July, 4, independenceDay},
	{time.November, 11, veteransDay},
	{time.December, 25, christmasDay},
}

// holidayNamed finds a federal holiday by name.
func holidayNamed(name string) (holidaySet, bool) {
	letters := strings.Map(func(r rune) rune {
		if r < 'a' || r > 'z' {
			return -1
		}
		return r
	}, strings.ToLower(name))
	set, ok := holidayNames[letters]
	return set, ok
}

// holidays are the days that a plan prices as a weekend.
type holidays struct {
	federal holidaySet // on the day they are observed
	// saturdaysStay means that a holiday on a Saturday makes no holiday of the
	// Friday before, as many utilities have it.
	saturdaysStay bool
	days          []int64 // the plan's own, as day numbers in order
}

// contains reports whether a plan prices a weekday as a weekend.
func (h *holidays) contains(day localDay) bool {
	if h.federal != 0 && observed(day, h.saturdaysStay)&h.federal != 0 {
		return true
	}
	_, own := slices.BinarySearch(h.days, day.number)
	return own
}

// observed gives the federal holidays that are observed on a day. A holiday on
// a Saturday is observed on the Friday before and one on a Sunday on the Monday
// after (5 U.S.C. 6103 and Executive Order 11582); the Saturday and the Sunday
// themselves are a weekend anyway.
func observed(day localDay, saturdaysStay bool) holidaySet {
	set := fixedHolidayOn(day.date)
	switch day.weekday {
	case time.Friday:
		if saturdaysStay {
			break
		}
		set |= fixedHolidayOn(dateOfDay(day.number + 1))
	case time.Monday:
		set |= fixedHolidayOn(dateOfDay(day.number - 1))
		set |= mondayHolidayOn(day.date)
	case time.Thursday:
		if day.date.Month == time.November && nth(day.date) == 4 {
			set |= thanksgivingDay
		}
	}
	return set
}

func fixedHolidayOn(d Date) holidaySet {
	for _, h := range fixedHolidays {
		if h.month == d.Month && h.day == d.Day && (h.name != juneteenth || d.Year >= juneteenthSince) {
			return h.name
		}
	}
	return 0
}

// mondayHolidayOn gives the holiday that falls on this Monday of its month.
func mondayHolidayOn(d Date) holidaySet {
	const daysOfMay = 31
	switch {
	case d.Month == time.January && nth(d) == 3:
		return kingDay
	case d.Month == time.February && nth(d) == 3:
		return presidentsDay
	case d.Month == time.May && d.Day > daysOfMay-7:
		return memorialDay
	case d.Month == time.September && nth(d) == 1:
		return laborDay
	case d.Month == time.October && nth(d) == 2:
		return columbusDay
	}
	return 0
}

// nth counts how often the weekday of a date has come in its month.
func nth(d Date) int { return (d.Day + 6) / 7 }
