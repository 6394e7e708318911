package savings

import (
	"errors"
	"time"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/climate"
)

// What an estimate cannot do without.
var (
	ErrNoDevice = errors.New("savings: the home has no heating or cooling device that is linked")
	ErrNoPrices = errors.New("savings: the home has no rate plan")
	ErrNoPlace  = errors.New("savings: the home has no location and time zone")
)

// Units is the unit of a device's temperatures.
type Units string

// Mode is what a device may do.
type Mode string

// Type is the kind of an estimate.
type Type string

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
)

func (m Mode) heats() bool { return m == Heat || m == Auto }
func (m Mode) cools() bool { return m == Cool || m == Auto }

// Input is a home and what is asked of it.
type Input struct {
	HomeID   string
	Place    *Place         // nil is ErrNoPlace
	Location *time.Location // the home's wall clock; nil is ErrNoPlace
	Weather  *climate.Year  // nil takes the nearest climate
	// Prices gives what one more kWh costs, in $/kWh, in each quarter hour of a
	// window of whole local days. Its error is returned as it is, wrapped. nil is
	// ErrNoPrices.
	Prices  func(pricing.Window) ([]float64, error)
	Devices []Device // those that count: linked and not deleted. None is ErrNoDevice
	Request Request
	Today   pricing.Date // in the home's time zone: decides the year of a month
	// Rest is called every millisecond or two, between the months of an estimate, so
	// that other work can go first. Its error ends the estimate, and is returned as
	// it is. nil goes through at once.
	Rest func() error
}

// Place is where a home is, in degrees north and east.
type Place struct{ Lat, Lon float64 }

// Device is a heating or cooling device with the house that it serves. All its
// temperatures and rates are in its Units.
type Device struct {
	ID       string
	Units    Units
	Settings Settings  // its own, which apply when no schedule does
	Schedule *Schedule // nil when it has none

	// The thermodynamic values, as documented in docs/savings.md.
	HeatingRate             float64 // degrees per hour at full output; 0 when it cannot heat
	CoolingRate             float64 // the same for cooling; its sign does not matter
	HeatTransferCoefficient float64 // per hour: the inverse of the house's time constant
	IrradianceCoefficient   float64 // degrees per hour in a global irradiance of 1 kW/m2

	// Electric power at full output, kW. 0 takes DefaultKw.
	HeatingKw float64
	CoolingKw float64
}

// DefaultKw is the electric power that is assumed where none is given: a unit of
// three tons of refrigeration (36,000 Btu/h) at 12 Btu/Wh draws 3 kW.
const DefaultKw = 3

// Settings is what a thermostat is set to. Min and Max bound what an optimized
// device may do.
type Settings struct {
	Mode                 Mode
	Min, Heat, Cool, Max float64
}

// Schedule is the user's preferences. Its temperatures are in its own Units.
type Schedule struct {
	Units   Units
	Enabled bool
	Weeks   []int    // 0 to 51, counted in sevens from New Year; none means all
	Default Settings // outside the blocks
	Blocks  []Block  // of the blocks of one moment, the first counts
}

// Block is a stretch of the local day on some days of the week.
type Block struct {
	StartMinute, EndMinute int   // 0 to 1440, the end not included
	Days                   []int // 0 is Sunday
	Settings
}

// Request is what the caller of the operation asks. Temperatures are in the
// devices' units.
//
// When it has a temperature, the baseline keeps one constant setting: that of
// the request, with what it does not say from the device. When it has a mode
// only, the schedule is kept with that mode.
type Request struct {
	Type               Type
	Start              Start
	Days               *int  // 1 to 366; nil is the month or the year
	Months             []int // calendar months that count, 1 to 12; none means all
	Mode               *Mode
	TargetTemp         *float64 // for both setpoints, where they are not given
	TargetHeatSetpoint *float64
	TargetCoolSetpoint *float64
	MinTemp            *float64
	MaxTemp            *float64
}

// Start is the first day of an estimate: a month (the next of that name that has
// not ended) or a date. With neither it is the first of the present month.
type Start struct {
	Month *int // 1 to 12
	Date  *pricing.Date
}

// setsTemperature reports whether the request has a temperature.
func (r *Request) setsTemperature() bool {
	return r.TargetTemp != nil || r.TargetHeatSetpoint != nil || r.TargetCoolSetpoint != nil || r.MinTemp != nil || r.MaxTemp != nil
}
