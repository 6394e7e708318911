package savings

import (
	"cmp"
	"math"
	"slices"

	"github.com/gridhook/gridhook/pricing"
)

// celsius converts a temperature of the unit to Celsius.
func (u Units) celsius(t float64) float64 {
	if u == Fahrenheit {
		return (t - 32) * 5 / 9
	}
	return t
}

// degrees converts a temperature difference of the unit to Celsius.
func (u Units) degrees(d float64) float64 {
	if u == Fahrenheit {
		return d * 5 / 9
	}
	return d
}

// from converts a temperature in Celsius to the unit.
func (u Units) from(t float64) float64 {
	if u == Fahrenheit {
		return t*9/5 + 32
	}
	return t
}

// convert converts all temperatures of the settings.
func (s Settings) convert(to func(float64) float64) Settings {
	return Settings{Mode: s.Mode, Min: to(s.Min), Heat: to(s.Heat), Cool: to(s.Cool), Max: to(s.Max)}
}

// settings returns the request's settings, with s for missing values.
func (r *Request) settings(s Settings) Settings {
	return Settings{
		Mode: *cmp.Or(r.Mode, &s.Mode),
		Min:  *cmp.Or(r.MinTemp, &s.Min),
		Heat: *cmp.Or(r.TargetHeatSetpoint, r.TargetTemp, &s.Heat),
		Cool: *cmp.Or(r.TargetCoolSetpoint, r.TargetTemp, &s.Cool),
		Max:  *cmp.Or(r.MaxTemp, &s.Max),
	}
}

// timetable holds the settings of every moment, in Celsius.
type timetable struct {
	settings []Settings
	lowest   float64                                 // lowest heating setpoint, +Inf without heating
	own      uint16                                  // index of the device's own settings; unused if the schedule is always in force
	week     [daysAWeek][pricing.QuartersADay]uint16 // indexes of the schedule's settings by local weekday and quarter hour
	weeks    [weeksAYear]bool                        // weeks with the schedule in force
}

// timetables returns the settings that the baseline holds under the request. For a setback
// it also returns the schedule to compare. The constant reference of a setback then has the
// modes of the schedule, and its most comfortable setpoints where the request has none.
func timetables(d *Device, r *Request) (held, followed *timetable) {
	own := d.Settings.convert(d.Units.celsius)
	constant := func(s Settings) *timetable {
		return newTimetable(r.settings(s).convert(d.Units.celsius), nil, nil)
	}
	switch {
	case r.Comparison == Setback:
		schedule := d.Schedule
		if schedule == nil || !schedule.Enabled {
			schedule = usualSchedule(own)
		}
		followed = newTimetable(own, schedule, r.Mode)
		return constant(mostComfortable(followed.settings).convert(d.Units.from)), followed
	case r.setsTemperature():
		return constant(d.Settings), nil
	}
	return newTimetable(own, d.Schedule, r.Mode), nil
}

// newTimetable returns a schedule over the device's own settings, in one mode if given. It
// leaves out the own settings if the schedule is in force in all weeks, so that settings
// that never apply have no effect.
func newTimetable(own Settings, s *Schedule, mode *Mode) *timetable {
	t := &timetable{lowest: math.Inf(1)}
	if s != nil && s.Enabled {
		t.follow(s, mode)
	}
	if slices.Contains(t.weeks[:], false) {
		t.own = t.add(own, mode)
	}
	return t
}

// follow applies a schedule over the device's own settings.
func (t *timetable) follow(s *Schedule, mode *Mode) {
	for w := range t.weeks {
		t.weeks[w] = len(s.Weeks) == 0 || slices.Contains(s.Weeks, w)
	}
	usual := t.add(s.Default.convert(s.Units.celsius), mode)
	for day := range t.week {
		for q := range t.week[day] {
			t.week[day][q] = usual
		}
	}
	// The first block has precedence, so the blocks are applied from the last to the
	// first.
	for _, b := range slices.Backward(s.Blocks) {
		block := t.add(b.convert(s.Units.celsius), mode)
		for _, day := range b.Days {
			// A quarter hour has the settings of the minute at which it starts.
			for q := (b.StartMinute + 14) / 15; q*15 < b.EndMinute; q++ {
				t.week[day][q] = block
			}
		}
	}
}

// deadband is the minimum distance between the setpoints of a device in AUTO, in Celsius.
// Thermostats require 2 to 5 F, so that heating and cooling do not compete.
const deadband = 3 * 5.0 / 9

// apart widens the setpoints of AUTO about their middle, to at least the deadband.
func (s Settings) apart() Settings {
	if narrow := deadband - (s.Cool - s.Heat); s.Mode == Auto && narrow > 0 {
		s.Heat, s.Cool = s.Heat-narrow/2, s.Cool+narrow/2
		s.Min, s.Max = min(s.Min, s.Heat), max(s.Max, s.Cool)
	}
	return s
}

func (t *timetable) add(s Settings, mode *Mode) uint16 {
	if mode != nil {
		s.Mode = *mode
	}
	s = s.apart()
	if s.Mode.heats() {
		t.lowest = min(t.lowest, s.Heat)
	}
	t.settings = append(t.settings, s)
	return uint16(len(t.settings) - 1) //nolint:gosec // one for each block of a schedule
}

// at returns the settings at a moment.
func (t *timetable) at(m moment) *Settings {
	if !t.weeks[m.week] {
		return &t.settings[t.own]
	}
	return &t.settings[t.week[m.weekday][m.quarter]]
}
