package greenbutton

import (
	"fmt"
	"math"
	"time"
)

// Month is the metered energy of a calendar month.
type Month struct {
	// Start is the start of the month in local time.
	Start time.Time
	// Drawn and Sent are the energy from and to the grid, kWh.
	Drawn, Sent float64
	// Exports reports whether the meter also counts the energy to the grid.
	Exports bool
	// Measured is the part of the month that has readings. Missing is the other part.
	Measured, Missing time.Duration
	// Watts is the mean net power from the grid by hour of the local day. An hour without
	// any reading has the mean of the month.
	Watts [24]int

	net      [24]float64 // kWh
	measured [24]float64 // hours
}

// Months returns the energy by month of a home's time zone. Errors: intervals longer than
// an hour.
func (r *Readings) Months(zone *time.Location) ([]Month, error) {
	if r.Step > time.Hour {
		return nil, fmt.Errorf("the Green Button file has intervals of %s, want at most an hour: the use by the hour of the day is not known", r.Step)
	}
	var months []Month
	end := int64(0)
	for _, s := range r.steps {
		local := time.Unix(s.start, 0).In(zone)
		if s.start >= end {
			start := time.Date(local.Year(), local.Month(), 1, 0, 0, 0, 0, zone)
			next := start.AddDate(0, 1, 0)
			months = append(months, Month{Start: start, Missing: next.Sub(start), Exports: r.exports})
			end = next.Unix()
		}
		m, hour := &months[len(months)-1], local.Hour()
		m.Drawn, m.Sent = m.Drawn+s.drawn, m.Sent+s.sent
		m.Measured, m.Missing = m.Measured+r.Step, m.Missing-r.Step
		m.net[hour] += s.drawn - s.sent
		m.measured[hour] += r.Step.Hours()
	}
	for i := range months {
		months[i].setWatts()
	}
	return months, nil
}

func (m *Month) setWatts() {
	for hour, kwh := range m.net {
		kw := (m.Drawn - m.Sent) / m.Measured.Hours()
		if m.measured[hour] > 0 {
			kw = kwh / m.measured[hour]
		}
		m.Watts[hour] = int(math.Round(1000 * kw))
	}
}

// OtherClock returns the file's own local time where it differs from a time zone, such as
// "UTC-08:00 at 2026-01-01T08:00:00Z". It is empty if the file has the same local time at
// its first and its last interval, or names none that can be read.
func (r *Readings) OtherClock(zone *time.Location) string {
	if r.clock == nil || !r.clock.exact {
		return ""
	}
	for _, s := range []step{r.steps[0], r.steps[len(r.steps)-1]} {
		at := time.Unix(s.start, 0)
		_, own := at.In(r.clock.Location).Zone()
		if _, offset := at.In(zone).Zone(); own != offset {
			return at.In(r.clock.Location).Format("UTC-07:00") + " at " + instant(s.start)
		}
	}
	return ""
}
