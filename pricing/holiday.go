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
	// californiaHolidays are the holidays in the tariffs of PG&E, SCE and SDG&E.
	californiaHolidays = newYearsDay | presidentsDay | memorialDay | independenceDay | laborDay | veteransDay | thanksgivingDay | christmasDay
)

// calendars are the holidays in utilities' tariff sheets, by name and by EIA number.
// Sources: PG&E, Schedule E-ELEC and its list of 2024 to 2043; SCE, Schedule TOU-D;
// SDG&E, Schedule EV-TOU-5.
var calendars = []struct {
	eia int
	Holidays
}{
	{14328, Holidays{Name: "PG&E", federal: californiaHolidays}},
	{17609, Holidays{Name: "SCE", federal: californiaHolidays, SaturdaysStay: true}},
	{16609, Holidays{Name: "SDG&E", federal: californiaHolidays, SaturdaysStay: true}},
	{0, Holidays{Name: "federal", federal: federalHolidays}}, // for every other utility
}

// Calendar returns the holidays of a utility by its name, or of "federal".
func Calendar(name string) (Holidays, bool) {
	for _, c := range calendars {
		if strings.EqualFold(c.Name, name) {
			return c.Holidays, true
		}
	}
	return Holidays{}, false
}

// UtilityCalendar returns the holidays of a utility by its EIA number. An unknown utility
// has the federal holidays.
func UtilityCalendar(eiaID int) Holidays {
	for _, c := range calendars {
		if c.eia == eiaID {
			return c.Holidays
		}
	}
	return calendars[len(calendars)-1].Holidays
}

// holidayNames are the spellings of holidays in plans, in lower case and letters only.
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

// anyWeekday marks a holiday on a fixed day of the month.
const anyWeekday = -1

// federalRules are the dates of the federal holidays (5 U.S.C. 6103). A holiday with a weekday
// is on the first such weekday from the day on.
var federalRules = []struct {
	name    holidaySet
	month   time.Month
	day     int
	weekday time.Weekday
	since   int // first year
}{
	{newYearsDay, time.January, 1, anyWeekday, 0},
	{kingDay, time.January, 15, time.Monday, 0},
	{presidentsDay, time.February, 15, time.Monday, 0},
	{memorialDay, time.May, 25, time.Monday, 0},
	{juneteenth, time.June, 19, anyWeekday, 2021},
	{independenceDay, time.July, 4, anyWeekday, 0},
	{laborDay, time.September, 1, time.Monday, 0},
	{columbusDay, time.October, 8, time.Monday, 0},
	{veteransDay, time.November, 11, anyWeekday, 0},
	{thanksgivingDay, time.November, 22, time.Thursday, 0},
	{christmasDay, time.December, 25, anyWeekday, 0},
}

// Holidays is the set of days that a plan prices as a weekend.
type Holidays struct {
	// Name is the name of the calendar, such as "PG&E" or "federal"; empty for a tariff's
	// own list.
	Name    string
	federal holidaySet // each on the day of its observance
	// SaturdaysStay means that a holiday on a Saturday is not observed on the Friday
	// before. Many utilities have this rule.
	SaturdaysStay bool
	days          []int64 // days of the plan's own list, as sorted day numbers
}

// Add adds a US federal holiday by its name, or all of them as "federal". It reports
// whether the name is known.
func (h *Holidays) Add(name string) bool {
	letters := strings.Map(func(r rune) rune {
		if r < 'a' || r > 'z' {
			return -1
		}
		return r
	}, strings.ToLower(name))
	set, ok := holidayNames[letters]
	h.federal |= set
	return ok
}

// AddDay adds a day to the plan's own list.
func (h *Holidays) AddDay(d Date) {
	day := d.dayNumber()
	if at, has := slices.BinarySearch(h.days, day); !has {
		h.days = slices.Insert(h.days, at, day)
	}
}

// String returns the calendar's name and its rule for holidays on a weekend. It is empty
// if the set is empty.
func (h *Holidays) String() string {
	name := h.Name
	switch {
	case h.federal == 0 && len(h.days) == 0:
		return ""
	case name == "":
		name = "the tariff's own"
	}
	if h.federal == 0 {
		return name
	}
	if h.SaturdaysStay {
		return name + ", observed on Monday for a Sunday and not moved from a Saturday"
	}
	return name + ", observed on Monday for a Sunday and on Friday for a Saturday"
}

// contains reports whether the plan prices the day as a weekend because of a holiday.
func (h *Holidays) contains(day localDay) bool {
	if h.federal != 0 && observed(day, h.SaturdaysStay)&h.federal != 0 {
		return true
	}
	_, own := slices.BinarySearch(h.days, day.number)
	return own
}

// weighHoliday adds the doubt in a weekday's price on a possible holiday, if the weekend
// price is lower.
func (c *card) weighHoliday(q *quote, quarter int) {
	tiers := c.version.Periods[c.version.Weekend[c.day.month][quarter]]
	q.weigh(unknownHolidays, holidayAsWeekday, q.rate-tiers[min(q.tier, len(tiers)-1)].Price(), q.tariff)
}

// observed returns the federal holidays observed on a day. A holiday on a Saturday is
// observed on the Friday before, and a holiday on a Sunday on the Monday after (5 U.S.C.
// 6103 and Executive Order 11582). The Saturday and the Sunday themselves are a weekend
// anyway.
func observed(day localDay, saturdaysStay bool) holidaySet {
	set := federalOn(day)
	switch {
	case day.weekday == time.Friday && !saturdaysStay:
		set |= federalOn(newLocalDay(day.number + 1))
	case day.weekday == time.Monday:
		set |= federalOn(newLocalDay(day.number - 1))
	}
	return set
}

// federalOn returns the federal holiday on a day, or none.
func federalOn(day localDay) holidaySet {
	for _, h := range federalRules {
		days := day.date.Day - h.day
		onDay := h.weekday == anyWeekday && days == 0 || h.weekday == day.weekday && days >= 0 && days < 7
		if h.month == day.date.Month && onDay && day.date.Year >= h.since {
			return h.name
		}
	}
	return 0
}
