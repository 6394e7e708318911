package storage

import (
	"slices"
	"strings"
	"time"

	"github.com/gridhook/gridhook/pricing/greenbutton"
	"github.com/gridhook/gridhook/pricing/solar"
)

// MeasuredLoad is the metered energy of a home by month. It selects the tier of tiered
// tariffs instead of an assumed use. It also replaces the assumed load shape, which the
// probability of exporting and a bill of a typical year depend on. A home takes about 2 KB.
type MeasuredLoad struct {
	HomeID string          `json:"homeId" pattern:"id"`
	Months []MeasuredMonth `json:"months" minItems:"1" maxItems:"100" doc:"The metered months. A stored month that is not here stays. The service stores the newest 13 months."`
	Base
}

// MeasuredMonth is the metered energy of a calendar month in the home's time zone.
type MeasuredMonth = greenbutton.Month

// MaxMeasuredMonths is the number of stored months: a year, and the same month of the year
// before, which may share its days with the newest month.
const MaxMeasuredMonths = 13

// MaxMissingHours is the number of hours that a used month may lack.
const MaxMissingHours = 72

// Ref names the measured load by its home.
func (m *MeasuredLoad) Ref() Ref { return KindMeasuredLoad.Ref(m.OrganizationID, m.HomeID) }

// Check adds every wrong field.
func (m *MeasuredLoad) Check(p *Problems) {
	seen := map[string]bool{}
	for i, month := range m.Months {
		p.Check(!seen[month.Month], index("months", i)+".month", "is there twice: %s", month.Month)
		seen[month.Month] = true
	}
}

// Merge adds the stored months that m does not replace. A new month replaces the stored
// month unless more of its hours are missing. The newest 13 months remain.
func (m *MeasuredLoad) Merge(stored *MeasuredLoad) {
	for _, was := range stored.Months {
		switch i := slices.IndexFunc(m.Months, func(month MeasuredMonth) bool { return month.Month == was.Month }); {
		case i < 0:
			m.Months = append(m.Months, was)
		case m.Months[i].MissingHours > was.MissingHours:
			m.Months[i] = was
		}
	}
	slices.SortFunc(m.Months, func(a, b MeasuredMonth) int { return strings.Compare(a.Month, b.Month) })
	m.Months = m.Months[max(0, len(m.Months)-MaxMeasuredMonths):]
}

// measured returns the start of a month in universal time, and its hours with readings.
// It ignores changes of the clock. The tag pattern has checked the text of the month.
func measured(m *MeasuredMonth) (start time.Time, hours float64) {
	start, _ = time.Parse(monthLayout, m.Month)
	return start, max(0, start.AddDate(0, 1, 0).Sub(start).Hours()-m.MissingHours)
}

// Typical returns the measured energy by calendar month, nil if no month is measured. It is
// the mean of all stored months of the same name, such as all Julys. Usually there is one. The
// first and the last month of a file may share the days. Months that lack more than 72 hours
// are not measured.
func (m *MeasuredLoad) Typical() (typical *solar.Metered) {
	var all [len(typical)]struct {
		solar.MeteredMonth
		hours float64 // with readings
	}
	for i := range m.Months {
		month := &m.Months[i]
		start, hours := measured(month)
		t := &all[start.Month()-1]
		t.Drawn, t.Sent, t.hours = t.Drawn+month.KWh, t.Sent+known(month.ExportKWh, 0), t.hours+hours
		t.Exports = t.Exports || month.ExportKWh != nil
		for hour, watts := range month.Watts {
			t.NetKW[hour] += float64(watts) / 1000 * hours
		}
	}
	for i := range all {
		t := &all[i]
		if t.hours < float64(24*daysOfMonth[i]-MaxMissingHours) {
			continue
		}
		for hour := range t.NetKW {
			t.NetKW[hour] /= t.hours
		}
		t.Drawn, t.Sent = 24*t.Drawn/t.hours, 24*t.Sent/t.hours
		if typical == nil {
			typical = new(solar.Metered)
		}
		typical[i] = &t.MeteredMonth
	}
	return typical
}

var daysOfMonth = [12]int{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}
