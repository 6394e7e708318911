package solar

import (
	"cmp"
	"math"
	"time"
)

// Metered is the measured energy of a home by calendar month. A nil month is not measured.
type Metered [12]*MeteredMonth

// MeteredMonth is the measured energy of a home in a calendar month.
type MeteredMonth struct {
	// Drawn and Sent are the mean energy of a day from and to the grid, kWh.
	Drawn, Sent float64
	// NetKW is the mean power from the grid, minus to the grid, by hour of the local day.
	NetKW [24]float64
	// Exports reports whether the meter also counts the energy to the grid. Such a meter
	// is between the grid and the home with its array.
	Exports bool
}

// Month returns a calendar month, nil if it is not metered. m may be nil.
func (m *Metered) Month(month time.Month) *MeteredMonth {
	if m == nil {
		return nil
	}
	return m[month-1]
}

// Months returns the number of metered months.
func (m *Metered) Months() (n int) {
	if m == nil {
		return 0
	}
	for _, month := range m {
		if month != nil {
			n++
		}
	}
	return n
}

// leastLoad is the minimum load in an hour of a metered home, as a share of the month's
// mean. An array's output in the typical year may be below what the meter has counted.
const leastLoad = 0.1

// Load returns the load of the house by month and hour, and its energy in kWh a year. The
// load of a metered month is the metered net power. If the meter counts exports, Load
// adds the typical output of the array, so that the load minus that output is what the
// meter has counted. Other months have the usual load of the place, scaled by the
// metered months. Without any metered month the energy is AnnualKWh or TypicalAnnualKWh.
// p may be nil if the home has no array.
func (h *Home) Load(p *Profile) (load *Load, annualKWh float64) {
	usual := NearestLoad(h.Lat, h.Lon)
	annualKWh = cmp.Or(h.AnnualKWh, TypicalAnnualKWh)
	if h.Metered.Months() == 0 {
		return usual, annualKWh
	}
	output := h.output(p)
	made, metered, share := *usual, 0.0, 0.0
	for month, m := range h.Metered {
		if m == nil {
			continue
		}
		days, sum := float64(firstDays[month+1]-firstDays[month]), 0.0
		for hour, kw := range m.NetKW {
			if m.Exports {
				kw += output[month][hour]
			}
			made.Share[month][hour] = kw
			sum += kw
		}
		for hour, kw := range made.Share[month] {
			made.Share[month][hour] = max(kw, leastLoad*sum/24, minLoad)
			metered += days * made.Share[month][hour]
			share += days * usual.Share[month][hour]
		}
	}
	annualKWh = metered / share
	for month, m := range h.Metered {
		for hour := range made.Share[month] {
			if m != nil {
				made.Share[month][hour] /= annualKWh
			}
		}
	}
	return &made, annualKWh
}

// minLoad is the minimum load in kW. A logarithm needs a load above 0.
const minLoad = 0.001

// output returns the mean output of the array by month and hour of the local day, kW.
func (h *Home) output(p *Profile) (kw [12][24]float64) {
	if p == nil || h.Location == nil {
		return kw
	}
	shift := p.shift(h.Lon)
	for month := range kw {
		for quarter := range quartersADay {
			sum := 0.0
			for day := firstDays[month]; day < firstDays[month+1]; day++ {
				sum += p.Power(day*quartersADay + quarter)
			}
			hour := int(localHours(h.Location, shift, month, quarter))
			kw[month][hour] += h.SizeKW * sum / float64(firstDays[month+1]-firstDays[month]) / 4
		}
	}
	return kw
}

// shift returns the seconds from universal time to the time of the profile at a longitude.
func (p *Profile) shift(lon float64) int64 {
	return int64(p.Year.Offset/time.Second) + int64(math.Round((lon-p.Year.Lon)*secondsADegree))
}
