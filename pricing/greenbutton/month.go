package greenbutton

import (
	"fmt"
	"math"
	"time"
)

// Month is the metered energy of a calendar month in a home's time zone, rounded. The tags are
// for the months that the service stores.
type Month struct {
	Month        string   `json:"month" pattern:"month" example:"2026-07"`
	KWh          float64  `json:"kwh" minimum:"0" maximum:"1000000" doc:"The energy from the grid in the hours with readings." example:"812.4"`
	ExportKWh    *float64 `json:"exportKwh,omitempty" minimum:"0" maximum:"1000000" doc:"The energy to the grid. Absent if the meter does not count it: then watts is the load without solar." example:"120.7"`
	MissingHours float64  `json:"missingHours,omitempty" minimum:"0" maximum:"745" doc:"The hours of the month without readings. A month is used if at most 72 hours are missing." example:"1.5"`
	Watts        []int    `json:"watts" minItems:"24" maxItems:"24" itemsMinimum:"-1000000" itemsMaximum:"1000000" doc:"The mean power from the grid, minus to the grid, in each hour of the local day." example:"[310,290,280,280,300,420,610,540,480,450,430,440,460,470,520,640,810,990,1080,1010,860,690,480,360]"`
}

// monthSum adds up the steps of a month.
type monthSum struct {
	start         time.Time // in local time
	drawn, sent   float64   // kWh
	measured      time.Duration
	net           [24]float64 // kWh by hour of the local day
	measuredHours [24]float64 // by hour of the local day
}

// Months returns the energy by month of a home's time zone. Errors: intervals longer than
// an hour.
func (r *Readings) Months(zone *time.Location) ([]Month, error) {
	if r.Step > time.Hour {
		return nil, fmt.Errorf("the Green Button file has intervals of %s, want at most an hour: the use by the hour of the day is not known", r.Step)
	}
	var sums []monthSum
	end := int64(0)
	for _, s := range r.steps {
		local := time.Unix(s.start, 0).In(zone)
		if s.start >= end {
			start := time.Date(local.Year(), local.Month(), 1, 0, 0, 0, 0, zone)
			sums, end = append(sums, monthSum{start: start}), start.AddDate(0, 1, 0).Unix()
		}
		m, hour := &sums[len(sums)-1], local.Hour()
		m.drawn, m.sent, m.measured = m.drawn+s.drawn, m.sent+s.sent, m.measured+r.Step
		m.net[hour] += s.drawn - s.sent
		m.measuredHours[hour] += r.Step.Hours()
	}
	months := make([]Month, len(sums))
	for i := range sums {
		months[i] = sums[i].month(r.exports)
	}
	return months, nil
}

// month returns the month. exports reports whether the meter also counts the energy to the
// grid. An hour without any reading has the mean power of the month.
func (s *monthSum) month(exports bool) Month {
	missing := s.start.AddDate(0, 1, 0).Sub(s.start) - s.measured
	m := Month{Month: s.start.Format("2006-01"), KWh: rounded(s.drawn, 1e3), MissingHours: rounded(missing.Hours(), 1e2), Watts: make([]int, len(s.net))}
	if exports {
		m.ExportKWh = new(rounded(s.sent, 1e3))
	}
	for hour, kwh := range s.net {
		kw := (s.drawn - s.sent) / s.measured.Hours()
		if s.measuredHours[hour] > 0 {
			kw = kwh / s.measuredHours[hour]
		}
		m.Watts[hour] = int(math.Round(1000 * kw))
	}
	return m
}

// rounded rounds to steps of 1/steps.
func rounded(v, steps float64) float64 { return math.Round(v*steps) / steps }

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
