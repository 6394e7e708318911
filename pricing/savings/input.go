package savings

import (
	"errors"
	"time"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/climate"
)

// The errors for missing inputs.
var (
	ErrNoDevice = errors.New("savings: the home has no heating or cooling device that is linked")
	ErrNoPrices = errors.New("savings: the home has no rate plan")
	ErrNoPlace  = errors.New("savings: the home has no location and time zone")
)

// Units is the unit of a device's temperatures.
type Units string

// Mode selects heating, cooling, both or neither.
type Mode string

// Type is the period of an estimate.
type Type string

// Comparison selects the two cases that an estimate compares.
type Comparison string

// The values of the service's enums.
const (
	Celsius    Units = "C"
	Fahrenheit Units = "F"

	Off  Mode = "OFF"
	Heat Mode = "HEAT"
	Cool Mode = "COOL"
	Auto Mode = "AUTO"

	Monthly Type = "monthly"
	Annual  Type = "annual"

	// Shift compares the unchanged setpoints with an optimum at equal comfort. It is the
	// default.
	Shift Comparison = "shift"
	// Setback compares one constant setpoint, held day and night, with the schedule.
	// Makers of thermostats publish this comparison.
	Setback Comparison = "setback"
)

func (m Mode) heats() bool { return m == Heat || m == Auto }
func (m Mode) cools() bool { return m == Cool || m == Auto }

// Input is a home and a request.
type Input struct {
	HomeID   string
	Place    *climate.Place // nil is ErrNoPlace
	Location *time.Location // the home's wall clock; nil is ErrNoPlace
	Weather  *climate.Year  // nil selects the year of the place
	// Prices returns the price of one more kWh in each quarter hour of a window of whole
	// local days, $/kWh. While a home exports, the price is the export price. Estimate
	// wraps its error. A nil Prices is ErrNoPrices.
	Prices  func(pricing.Window) ([]float64, error)
	Devices []Device // linked devices that are not deleted; empty is ErrNoDevice
	Request Request
	Today   pricing.Date // in the home's time zone; selects the year of a month
	// Rest is called every millisecond or two, between the months of an estimate, to give
	// way to other work. Its error ends the estimate and is returned unchanged. nil means
	// no rest.
	Rest func() error
}

// Device is a heating or cooling device with its house. All its temperatures and rates
// are in its Units.
type Device struct {
	ID       string
	Units    Units
	Settings Settings  // apply outside the schedule
	Schedule *Schedule // nil if the device has none

	// The thermodynamic values, as documented in docs/savings.md.
	HeatingRate             float64 // degrees per hour at full output; 0 if it cannot heat
	CoolingRate             float64 // the same for cooling; its sign does not matter
	HeatTransferCoefficient float64 // per hour: the inverse of the house's time constant
	IrradianceCoefficient   float64 // degrees per hour in a global irradiance of 1 kW/m2

	Equipment Equipment
}

// Settings are the settings of a thermostat. Min and Max bound the optimum.
type Settings struct {
	Mode                 Mode
	Min, Heat, Cool, Max float64
}

// Schedule is a schedule of the user's preferences. Its temperatures are in its own
// Units.
type Schedule struct {
	Units   Units
	Enabled bool
	Weeks   []int    // 0 to 51, in steps of 7 days from New Year; empty means all
	Default Settings // outside the blocks
	Blocks  []Block  // the first matching block applies
}

// Block is a span of the local day on some days of the week.
type Block struct {
	StartMinute, EndMinute int   // 0 to 1440, the end exclusive
	Days                   []int // 0 is Sunday
	Settings
}

// Request holds the parameters of an estimate. Temperatures are in the devices' units.
//
// If the request has a temperature, the baseline holds one constant setting. The device
// supplies missing values. If the request has only a mode, the baseline follows the
// schedule in that mode. Under Setback the baseline is always constant. It then has the
// modes of the schedule, and the schedule's most comfortable setpoints supply missing values.
type Request struct {
	Type       Type       `json:"type"`
	Comparison Comparison `json:"comparison,omitempty" default:"shift" doc:"shift compares constant setpoints with an optimum at equal comfort. setback compares a constant setpoint with the schedule."`
	// TargetTemp is the default of both setpoints. In AUTO it is the middle of a band.
	TargetTemp         *float64 `json:"targetTemp,omitempty" exclusiveMinimum:"-50" exclusiveMaximum:"200" doc:"The default of both setpoints. In AUTO it is the middle of a band of 3 F."`
	TargetCoolSetpoint *float64 `json:"targetCoolSetpoint,omitempty" exclusiveMinimum:"-50" exclusiveMaximum:"200"`
	TargetHeatSetpoint *float64 `json:"targetHeatSetpoint,omitempty" exclusiveMinimum:"-50" exclusiveMaximum:"200"`
	MinTemp            *float64 `json:"minTemp,omitempty" exclusiveMinimum:"-50" exclusiveMaximum:"200"`
	MaxTemp            *float64 `json:"maxTemp,omitempty" exclusiveMinimum:"-50" exclusiveMaximum:"200"`
	Mode               *Mode    `json:"mode,omitempty"`
	Start              Start    `json:"start,omitzero" nullable:"true" doc:"By default the current month."`
	// Days is the number of days, nil for the month or the year. Months are the calendar
	// months to include, empty for all.
	Days   *int  `json:"days,omitempty" minimum:"1" maximum:"366" doc:"By default the days of the month or the year."`
	Months []int `json:"months,omitempty" nullable:"true" itemsMinimum:"1" itemsMaximum:"12" doc:"The calendar months of the estimate, by default all."`
}

// Start is the first day of an estimate, either a month or a date. A month is the next
// month of that name that has not ended. Without both, the estimate starts on the first
// of the present month.
type Start struct {
	Month *int          `json:"month,omitempty" minimum:"1" maximum:"12" doc:"From 1, January, to 12."`
	Date  *pricing.Date `json:"date,omitempty" doc:"Such as 2026-07-01."`
}

// setsTemperature reports whether the request has a temperature.
func (r *Request) setsTemperature() bool {
	return r.TargetTemp != nil || r.TargetHeatSetpoint != nil || r.TargetCoolSetpoint != nil || r.MinTemp != nil || r.MaxTemp != nil
}
