package savings

import (
	"fmt"
	"math"

	"github.com/gridhook/gridhook/pricing"
)

// The bounds of the thermodynamic values are wide. A value outside them is in a different
// unit than documented. Near 0 the mass of the house would have no bound.
const (
	minRate, maxRate                 = 0.1, 100.0 // degrees per hour
	minHeatTransfer, maxHeatTransfer = 0.001, 5.0 // per hour
)

// The lengths of the parts of a calendar.
const (
	minutesADay = 24 * 60
	weeksAYear  = 52
	daysAWeek   = 7
)

// Check adds every wrong field of the request that its tags do not name.
func (r *Request) Check(p *pricing.Problems) {
	p.Check(r.Start.Month == nil || r.Start.Date == nil, "start", "must have month or date, not both")
	if d := r.Start.Date; d != nil {
		p.Check(d.Year >= 1970 && d.Year <= 2200, "start.date", "must be a date from 1970 to 2200")
	}
}

// validate checks what the tags and package storage do not check: the request as a whole,
// and the devices. Errors: one of the sentinel errors, *pricing.InvalidError.
func (in *Input) validate() error {
	switch {
	case len(in.Devices) == 0:
		return ErrNoDevice
	case in.Prices == nil:
		return ErrNoPrices
	case in.Place == nil || in.Location == nil:
		return ErrNoPlace
	}
	var problems pricing.Problems
	in.Request.Check(&problems)
	problems.Check(in.Request.Start.Date != nil || !in.Today.IsZero(), "start.date", "is required where the present day is not known")
	units := map[Units]bool{}
	for i := range in.Devices {
		in.Devices[i].validate(&problems, fmt.Sprintf("devices[%d].", i))
		units[in.Devices[i].Units] = true
	}
	problems.Check(len(units) == 1 || !in.Request.setsTemperature(), "devices",
		"have different units of temperature, so the request cannot name one")
	if len(problems.List()) == 0 && in.Request.setsTemperature() {
		for i := range in.Devices {
			in.Request.checkBand(&problems, &in.Devices[i])
		}
	}
	return problems.Err()
}

// checkBand checks the order of the request's temperatures. The device supplies missing
// temperatures.
func (r *Request) checkBand(p *pricing.Problems, d *Device) {
	s := r.settings(d.Settings)
	p.Check(s.Min <= s.Max, "minTemp", "must be at most maxTemp, which is %g: it is %g", s.Max, s.Min)
	if s.Mode.heats() {
		p.Check(s.Min <= s.Heat, "targetHeatSetpoint", "must be at least minTemp, which is %g: it is %g", s.Min, s.Heat)
		p.Check(s.Heat <= s.Max, "targetHeatSetpoint", "must be at most maxTemp, which is %g: it is %g", s.Max, s.Heat)
	}
	if s.Mode.cools() {
		p.Check(s.Min <= s.Cool, "targetCoolSetpoint", "must be at least minTemp, which is %g: it is %g", s.Min, s.Cool)
		p.Check(s.Cool <= s.Max, "targetCoolSetpoint", "must be at most maxTemp, which is %g: it is %g", s.Max, s.Cool)
	}
	p.Check(s.Mode != Auto || s.Heat <= s.Cool, "targetCoolSetpoint", "must be at least targetHeatSetpoint, which is %g: it is %g", s.Heat, s.Cool)
}

func (d *Device) validate(p *pricing.Problems, path string) {
	s := &d.Settings
	p.Check(s.Min <= s.Heat, path+"targetHeatSetpoint", "must be at least minTemp")
	p.Check(s.Heat <= s.Cool, path+"targetCoolSetpoint", "must be at least targetHeatSetpoint")
	p.Check(s.Cool <= s.Max, path+"maxTemp", "must be at least targetCoolSetpoint")
	p.Check(d.HeatTransferCoefficient >= minHeatTransfer && d.HeatTransferCoefficient <= maxHeatTransfer, path+"heatTransferCoefficient",
		"must be from %g to %g per hour: the device has no usable thermodynamic values", minHeatTransfer, maxHeatTransfer)
	rate := func(field string, v float64) {
		p.Check(v == 0 || v >= minRate && v <= maxRate, path+field, "must be 0 or from %g to %g degrees per hour", minRate, maxRate)
	}
	rate("heatingRate", d.HeatingRate)
	rate("coolingRate", math.Abs(d.CoolingRate))
	p.Check(d.HeatingRate != 0 || d.CoolingRate != 0, path+"heatingRate", "or coolingRate must be other than 0")
	p.Check(d.IrradianceCoefficient >= 0 && d.IrradianceCoefficient <= maxRate, path+"irradianceCoefficient",
		"must be from 0 to %g degrees per hour in 1 kW/m2", maxRate)
}
