package savings

import (
	"math"
	"time"

	"github.com/gridhook/gridhook/pricing"
)

// Day is one local day of a device by quarter hour, with the traces of the baseline and
// the optimum. Temperatures are in Units, at the end of the quarter hour.
type Day struct {
	DeviceID  string       `json:"deviceId"`
	Date      pricing.Date `json:"date"`
	Start     time.Time    `json:"-"` // of the first quarter hour, UTC
	Units     Units        `json:"tempUnits"`
	Price     []float64    `json:"price"` // $/kWh
	Outdoor   []float64    `json:"outdoor"`
	Least     []float64    `json:"minTemp"` // the band of the schedule
	Greatest  []float64    `json:"maxTemp"`
	Baseline  Trace        `json:"baseline"`
	Optimized Trace        `json:"optimized"`
}

// Trace records a controller's actions on a day.
type Trace struct {
	Temperature []float64 `json:"temperature"`
	Kw          []float64 `json:"kw"`   // electric, mean of the quarter hour
	Cost        float64   `json:"cost"` // $, gas included
}

// keepDay stores the day of the month with the greatest savings, if they exceed the
// savings of the stored day.
func (d *deviceEstimate) keepDay(b *baseline, m *month, base, best *path) {
	c := b.conditions
	clock := c.clock[m.first : m.first+m.count]
	most := math.Inf(-1)
	if d.day != nil {
		most = d.day.Baseline.Cost - d.day.Optimized.Cost
	}
	from, to := -1, 0
	for i := 0; i < len(clock); {
		end, saved := i, 0.0
		for ; end < len(clock) && clock[end].day == clock[i].day; end++ {
			saved += b.cost(m.first+end, base.added[end]) - b.cost(m.first+end, best.added[end])
		}
		if saved > most {
			from, to, most = i, end, saved
		}
		i = end
	}
	if from >= 0 {
		d.day = d.newDay(b, m.first, from, to, base, best)
	}
}

// newDay returns the day between two steps of a month. first is the month's first step in
// the run.
func (d *deviceEstimate) newDay(b *baseline, first, from, to int, base, best *path) *Day {
	c, units := b.conditions, d.device.Units
	date := time.Unix(int64(c.clock[first+from].day)*24*60*60, 0).UTC()
	day := &Day{
		DeviceID: d.device.ID, Units: units, Price: c.price[first+from : first+to],
		Date:  pricing.DateOf(date),
		Start: c.start.Add(time.Duration(first+from) * pricing.Interval),
	}
	for i := from; i < to; i++ {
		s := b.settings[first+i]
		day.Outdoor = append(day.Outdoor, units.from(c.weather[first+i].Temperature))
		day.Least, day.Greatest = append(day.Least, units.from(s.Min)), append(day.Greatest, units.from(s.Max))
		day.Baseline.add(b, first+i, units, base, i)
		day.Optimized.add(b, first+i, units, best, i)
	}
	return day
}

// add adds step i of a path, which is the given step of the run.
func (t *Trace) add(b *baseline, step int, units Units, x *path, i int) {
	t.Temperature = append(t.Temperature, units.from(x.temperature[i]))
	t.Kw = append(t.Kw, b.plants[step].kwh(x.added[i])/stepHours)
	t.Cost += b.cost(step, x.added[i])
}
