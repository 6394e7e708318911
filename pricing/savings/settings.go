package savings

import "slices"

// celsius converts a temperature of the unit.
func (u Units) celsius(t float64) float64 {
	if u == Fahrenheit {
		return (t - 32) * 5 / 9
	}
	return t
}

// degrees converts a difference of temperatures of the unit.
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

// celsius converts all temperatures of the settings.
func (s Settings) celsius(u Units) Settings {
	return Settings{Mode: s.Mode, Min: u.celsius(s.Min), Heat: u.celsius(s.Heat), Cool: u.celsius(s.Cool), Max: u.celsius(s.Max)}
}

// settings completes the request's settings by others.
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

const quartersADay = 96

// timetable gives the settings of every moment, in Celsius.
type timetable struct {
	settings []Settings
	own      uint16                          // index of the device's own
	week     [daysAWeek][quartersADay]uint16 // indexes of the schedule's by local weekday and quarter hour
	weeks    [weeksAYear]bool                // in which the schedule applies
}

// newTimetable is what the device is set to under the request.
func newTimetable(d *Device, r *Request) *timetable {
	t := &timetable{}
	own := d.Settings
	if r.setsTemperature() {
		own = r.settings(own)
	}
	t.own = t.add(own.celsius(d.Units), r.Mode)
	s := d.Schedule
	if s == nil || !s.Enabled || r.setsTemperature() {
		return t
	}
	for w := range t.weeks {
		t.weeks[w] = len(s.Weeks) == 0 || slices.Contains(s.Weeks, w)
	}
	usual := t.add(s.Default.celsius(s.Units), r.Mode)
	for day := range t.week {
		for q := range t.week[day] {
			t.week[day][q] = usual
		}
	}
	// The last is written first, as the first counts.
	for _, b := range slices.Backward(s.Blocks) {
		block := t.add(b.celsius(s.Units), r.Mode)
		for _, day := range b.Days {
			// A quarter hour has the settings of the minute at which it starts.
			for q := (b.StartMinute + 14) / 15; q*15 < b.EndMinute; q++ {
				t.week[day][q] = block
			}
		}
	}
	return t
}

func (t *timetable) add(s Settings, mode *Mode) uint16 {
	if mode != nil {
		s.Mode = *mode
	}
	t.settings = append(t.settings, s)
	return uint16(len(t.settings) - 1) //nolint:gosec // one for each block of a schedule
}

// at is the settings of a moment.
func (t *timetable) at(m moment) *Settings {
	if !t.weeks[m.week] {
		return &t.settings[t.own]
	}
	return &t.settings[t.week[m.weekday][m.quarter]]
}
