package savings

import (
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

// celsius converts all temperatures of the settings to Celsius.
func (s Settings) celsius(u Units) Settings {
	return Settings{Mode: s.Mode, Min: u.celsius(s.Min), Heat: u.celsius(s.Heat), Cool: u.celsius(s.Cool), Max: u.celsius(s.Max)}
}

// settings returns the request's settings, with s for missing values.
func (r *Request) settings(s Settings) Settings {
	if r.Mode != nil {
		s.Mode = *r.Mode
	}
	if r.TargetTemp != nil {
		s.Heat, s.Cool = *r.TargetTemp, *r.TargetTemp
	}
	for _, given := range []struct {
		to   *float64
		from *float64
	}{{&s.Heat, r.TargetHeatSetpoint}, {&s.Cool, r.TargetCoolSetpoint}, {&s.Min, r.MinTemp}, {&s.Max, r.MaxTemp}} {
		if given.from != nil {
			*given.to = *given.from
		}
	}
	return s
}

// timetable holds the settings of every moment, in Celsius.
type timetable struct {
	settings []Settings
	lowest   float64                                 // lowest heating setpoint, +Inf without heating
	own      uint16                                  // index of the device's own settings; unused if the schedule is always in force
	week     [daysAWeek][pricing.QuartersADay]uint16 // indexes of the schedule's settings by local weekday and quarter hour
	weeks    [weeksAYear]bool                        // weeks with the schedule in force
}

func emptyTimetable() *timetable { return &timetable{lowest: math.Inf(1)} }

// newTimetable returns the device's settings under the request.
func newTimetable(d *Device, r *Request) *timetable {
	own := d.Settings
	if r.setsTemperature() {
		own = r.settings(own)
	}
	t := emptyTimetable()
	if !r.setsTemperature() {
		t.follow(d.Schedule, r.Mode)
	}
	t.addOwn(own.celsius(d.Units), r.Mode)
	return t
}

// addOwn adds the device's own settings. It leaves them out if the schedule is in force in
// all weeks, so that settings that never apply have no effect.
func (t *timetable) addOwn(own Settings, mode *Mode) {
	if slices.Contains(t.weeks[:], false) {
		t.own = t.add(own, mode)
	}
}

// follow applies a schedule over the device's own settings.
func (t *timetable) follow(s *Schedule, mode *Mode) {
	if s == nil || !s.Enabled {
		return
	}
	for w := range t.weeks {
		t.weeks[w] = len(s.Weeks) == 0 || slices.Contains(s.Weeks, w)
	}
	usual := t.add(s.Default.celsius(s.Units), mode)
	for day := range t.week {
		for q := range t.week[day] {
			t.week[day][q] = usual
		}
	}
	// The first block has precedence, so the blocks are applied from the last to the
	// first.
	for _, b := range slices.Backward(s.Blocks) {
		block := t.add(b.celsius(s.Units), mode)
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
