package storage

import (
	"encoding/json"
	"math"
	"time"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/savings"
)

// OptimizationRun is the result of the last estimate of savings for a device. It is the
// device's lastOptimizationRunData.
type OptimizationRun struct {
	RunAt Time         `json:"runAt"`
	Type  savings.Type `json:"type"`
	savings.Figures
	// Day is the day of the greatest savings.
	Day OptimizedDay `json:"day"`
}

// OptimizedDay is a local day in quarter hours, the first at StartTime. Its values are
// rounded.
type OptimizedDay struct {
	StartTime Time `json:"startTime"`
	savings.Day
}

// SetPointSchedule holds the targets of an optimized day. It is the device's
// lastSetPointSchedule.
type SetPointSchedule struct {
	Date      pricing.Date  `json:"date"`
	TempUnits savings.Units `json:"tempUnits"`
	Setpoints []Setpoint    `json:"setpoints"`
}

// Setpoint is a target temperature for a period.
type Setpoint struct {
	StartTime   Time    `json:"startTime"`
	EndTime     Time    `json:"endTime"`
	Temperature float64 `json:"temperature"`
}

// NoteRun stores a run's result on the device. The figures and the best day become
// lastOptimizationRunData. The day's targets become lastSetPointSchedule. A run without a
// best day changes nothing.
func (d *HVACDevice) NoteRun(t savings.Type, r *savings.DeviceResult, at Time) error {
	if r.Day == nil {
		return nil
	}
	run, err := json.Marshal(OptimizationRun{RunAt: at, Type: t, Figures: r.Figures, Day: optimizedDay(r.Day)})
	if err != nil {
		return err
	}
	schedule, err := json.Marshal(setPointSchedule(r.Day))
	if err != nil {
		return err
	}
	d.LastOptimizationRunData, d.LastSetPointSchedule = run, schedule
	if d.ThermodynamicValuesUpdatedAt.IsZero() { // the device was stored without this time
		d.ThermodynamicValuesUpdatedAt = d.UpdatedAt
	}
	return nil
}

// setPointSchedule returns a day's optimum as targets for a thermostat. It rounds targets to
// half a degree and joins equal neighbors.
func setPointSchedule(d *savings.Day) SetPointSchedule {
	s := SetPointSchedule{Date: d.Date, TempUnits: d.Units}
	for i, t := range d.Optimized.Temperature {
		start := d.Start.Add(time.Duration(i) * pricing.Interval)
		end, target := Time{start.Add(pricing.Interval)}, math.Round(2*t)/2
		if n := len(s.Setpoints); n > 0 && s.Setpoints[n-1].Temperature == target {
			s.Setpoints[n-1].EndTime = end
			continue
		}
		s.Setpoints = append(s.Setpoints, Setpoint{Time{start}, end, target})
	}
	return s
}

func optimizedDay(d *savings.Day) OptimizedDay {
	day := OptimizedDay{Time{d.Start}, *d}
	day.Price = rounded(d.Price, 1e6)
	for _, degrees := range []*[]float64{&day.Outdoor, &day.Least, &day.Greatest, &day.Baseline.Temperature, &day.Optimized.Temperature} {
		*degrees = rounded(*degrees, 100)
	}
	for _, trace := range []*savings.Trace{&day.Baseline, &day.Optimized} {
		trace.Kw, trace.Cost = rounded(trace.Kw, 1000), math.Round(trace.Cost*10000)/10000
	}
	return day
}

// rounded rounds values to multiples of 1/parts.
func rounded(values []float64, parts float64) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = math.Round(v*parts) / parts
	}
	return out
}

// Drawable returns the day with its start, for drawing. It returns false if the series
// differ in length, as in an object from an import.
func (d *OptimizedDay) Drawable() (*savings.Day, bool) {
	day := d.Day
	day.Start = d.StartTime.Time
	whole := len(d.Price) > 0
	for _, series := range [][]float64{
		d.Outdoor, d.Least, d.Greatest, d.Baseline.Temperature, d.Baseline.Kw, d.Optimized.Temperature, d.Optimized.Kw,
	} {
		whole = whole && len(series) == len(d.Price)
	}
	return &day, whole
}

// Keep copies values that a replacement lacks from the stored device: the results of
// runs, and the time of unchanged thermodynamic values. New thermodynamic values get the
// time now.
func (d *HVACDevice) Keep(stored *HVACDevice, now Time) {
	if len(d.LastSetPointSchedule) == 0 {
		d.LastSetPointSchedule = stored.LastSetPointSchedule
	}
	if len(d.LastOptimizationRunData) == 0 {
		d.LastOptimizationRunData = stored.LastOptimizationRunData
	}
	if !d.ThermodynamicValuesUpdatedAt.IsZero() {
		return
	}
	switch values := d.thermodynamicValues(); values {
	case [4]float64{}:
	case stored.thermodynamicValues():
		d.ThermodynamicValuesUpdatedAt = stored.ThermodynamicValuesUpdatedAt
	default:
		d.ThermodynamicValuesUpdatedAt = now
	}
}

func (d *HVACDevice) thermodynamicValues() [4]float64 {
	return [4]float64{d.CoolingRate, d.HeatingRate, d.HeatTransferCoefficient, d.IrradianceCoefficient}
}
