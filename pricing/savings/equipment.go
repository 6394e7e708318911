package savings

import (
	"cmp"

	"github.com/gridhook/gridhook/pricing"
)

// HeatSource is the heating technology of a device.
type HeatSource string

// The values of HeatSource.
const (
	HeatPump   HeatSource = "HEAT_PUMP"
	Resistance HeatSource = "RESISTANCE"
	GasFurnace HeatSource = "GAS_FURNACE"
)

// Equipment describes a device's unit and its house. A zero field takes its default. The
// result's assumptions show the defaults.
type Equipment struct {
	HeatSource      HeatSource `json:"heatSource,omitempty" doc:"What heats: HEAT_PUMP, RESISTANCE or GAS_FURNACE. By default a heat pump." example:"HEAT_PUMP"`
	CapacityKw      float64    `json:"capacityKw,omitempty" minimum:"0" maximum:"100" doc:"Rated thermal output in kW: cooling at 95 F, or heating where the device cannot cool. By default 10.55 kW, three tons." example:"10.55"`
	SEER2           float64    `json:"seer2,omitempty" minimum:"0" maximum:"50" doc:"Rated cooling efficiency in Btu/Wh. By default 14.3." example:"15.2"`
	HSPF2           float64    `json:"hspf2,omitempty" minimum:"0" maximum:"25" doc:"Rated heating efficiency of a heat pump in Btu/Wh. By default 7.5." example:"8.1"`
	AFUE            float64    `json:"afue,omitempty" minimum:"0" maximum:"1" doc:"Efficiency of a gas furnace. By default 0.8." example:"0.95"`
	AuxiliaryKw     *float64   `json:"auxiliaryKw,omitempty" minimum:"0" maximum:"100" doc:"Electric auxiliary heat of a heat pump in kW. By default 5." example:"10"`
	InternalGainsKw *float64   `json:"internalGainsKw,omitempty" minimum:"0" maximum:"20" doc:"Mean heat of people and appliances in kW. By default 0.085 kW for each kW of capacity." example:"0.65"`
	GasPrice        float64    `json:"gasPrice,omitempty" minimum:"0" maximum:"50" doc:"Price of gas in $/therm. By default 1.47." example:"1.25"`
}

// The defaults of Equipment. docs/savings.md names their sources.
const (
	defaultCapacityKw  = 10.55 // 36,000 Btu/h
	defaultSEER2       = 14.3  // 10 CFR 430.32(c), split heat pumps from 2023
	defaultHSPF2       = 7.5   // the same
	defaultAFUE        = 0.80  // 10 CFR 430.32(e)
	defaultAuxiliaryKw = 5.0
	// defaultGainsShare is the internal gains of the IECC's reference home over the
	// capacity of a unit of 600 ft2 a ton. The reference home has 1,800 ft2 and three
	// bedrooms. Its gains are 17,900 + 23.8 x ft2 + 4,104 x bedrooms Btu a day.
	defaultGainsShare = 0.892 / defaultCapacityKw
	defaultGasPrice   = 1.47 // $/therm: EIA, residential mean of 2023, 15.19 $/Mcf
)

// withDefaults fills the missing fields.
func (e Equipment) withDefaults() Equipment {
	e.HeatSource = cmp.Or(e.HeatSource, HeatPump)
	e.CapacityKw = cmp.Or(e.CapacityKw, defaultCapacityKw)
	e.SEER2 = cmp.Or(e.SEER2, defaultSEER2)
	e.HSPF2 = cmp.Or(e.HSPF2, defaultHSPF2)
	e.AFUE = cmp.Or(e.AFUE, defaultAFUE)
	e.GasPrice = cmp.Or(e.GasPrice, defaultGasPrice)
	e.AuxiliaryKw = cmp.Or(e.AuxiliaryKw, new(defaultAuxiliaryKw))
	e.InternalGainsKw = cmp.Or(e.InternalGainsKw, new(defaultGainsShare*e.CapacityKw))
	return e
}

// Validate adds the wrong fields of the equipment that its tags do not name. path is the JSON
// path of the equipment.
func (e *Equipment) Validate(p *pricing.Problems, path string) {
	atLeast := func(field string, value, least float64) {
		p.Check(value == 0 || value >= least, path+field, "must be at least %g, or 0 for the default", least)
	}
	atLeast("capacityKw", e.CapacityKw, 0.5)
	atLeast("seer2", e.SEER2, 5)
	atLeast("hspf2", e.HSPF2, 3)
	atLeast("afue", e.AFUE, 0.3)
	atLeast("gasPrice", e.GasPrice, 0.01)
}

// quadratic is a curve over outdoor temperature in Celsius. It is constant outside of
// from and to.
type quadratic struct{ constant, linear, square, from, to float64 }

func (q *quadratic) at(t float64) float64 {
	t = min(max(t, q.from), q.to)
	return q.constant + t*(q.linear+t*q.square)
}

// The curves of a single-speed unit, as shares of the rated capacity and of the rated
// input per output. Source: NREL/OCHRE, biquadratic_air_conditioner.csv and
// biquadratic_ashp_heater.csv, column Single_1. The indoor condition is the rating test:
// 67 F wet bulb for cooling, 70 F for heating.
var (
	coolCapacity = quadratic{1.263642, -0.005961, -0.00005, 18, 52}
	coolInput    = quadratic{0.698088, -0.015399, 0.0007, 18, 52}
	heatCapacity = quadratic{0.801736, 0.021925, 0.000163944, -25, 20}
	heatInput    = quadratic{1.138790, -0.021208, 0.000456354, -25, 20}
)

const (
	btuPerWh    = 3.412
	kwhPerTherm = 29.3001
	// seerOutdoor is the outdoor temperature of test B, 82 F. The SEER2 of a single-speed
	// unit is its efficiency at this temperature, less half its cycling loss (AHRI
	// 210/240).
	seerOutdoor = 27.78
	// hspfShare is HSPF2 in kWh/kWh as a share of the efficiency at 47 F. It follows from
	// the curves, the bins of region IV and the load line of AHRI 210/240. The tests
	// calculate it.
	hspfShare = 0.696
	// sensibleShare is the share of cooling that lowers the temperature; the rest dries
	// the air. It is the share of a typical unit at the rating condition.
	sensibleShare = 0.75
	// furnaceFan is the electricity of a furnace's fan per kWh of heat: 0.5 W/cfm at a
	// temperature rise of 50 F.
	furnaceFan = 0.03
)
