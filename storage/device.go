package storage

import (
	"encoding/json"

	"github.com/gridhook/gridhook/pricing/savings"
)

// TempUnits is the unit of a device's temperatures.
type TempUnits string

// Mode is the operating mode of a heating and cooling device.
type Mode string

// The units and modes.
const (
	Celsius    TempUnits = "C"
	Fahrenheit TempUnits = "F"

	ModeOff  Mode = "OFF"
	ModeHeat Mode = "HEAT"
	ModeCool Mode = "COOL"
	ModeAuto Mode = "AUTO"
)

// HVACDevice is a heating and cooling device of a home. Its JSON form is the service's,
// with the home and the linked flag beside it.
type HVACDevice struct {
	ID                      string        `json:"deviceId" pattern:"id" example:"dev_1"`
	HomeID                  string        `json:"homeId" pattern:"id" example:"home_1"`
	Linked                  bool          `json:"linked" doc:"Whether the device is linked to the user. One that is not is left out of optimization." example:"true"`
	Details                 SystemDetails `json:"systemDetails"`
	TargetCoolSetpoint      float64       `json:"targetCoolSetpoint" exclusiveMinimum:"-50" exclusiveMaximum:"200" doc:"The temperature to cool to." example:"75"`
	TargetHeatSetpoint      float64       `json:"targetHeatSetpoint" exclusiveMinimum:"-50" exclusiveMaximum:"200" doc:"The temperature to heat to." example:"68"`
	MaxTemp                 float64       `json:"maxTemp" exclusiveMinimum:"-50" exclusiveMaximum:"200" doc:"The highest temperature that optimization may let be." example:"78"`
	MinTemp                 float64       `json:"minTemp" exclusiveMinimum:"-50" exclusiveMaximum:"200" doc:"The lowest temperature that optimization may let be." example:"65"`
	CurrentTemp             float64       `json:"currentTemp" exclusiveMinimum:"-50" exclusiveMaximum:"200" doc:"The temperature when the device last reported." example:"71.5"`
	CoolingRate             float64       `json:"coolingRate" doc:"Degrees per hour at full output; 0 when it cannot cool. Its sign does not matter." example:"4.2"`
	HeatingRate             float64       `json:"heatingRate" doc:"Degrees per hour at full output; 0 when it cannot heat." example:"5.1"`
	HeatTransferCoefficient float64       `json:"heatTransferCoefficient" doc:"Per hour: the inverse of the house's time constant." example:"0.04"`
	IrradianceCoefficient   float64       `json:"irradianceCoefficient" doc:"Degrees per hour in a global irradiance of 1 kW/m2." example:"1.2"`
	// Equipment is nil if nothing is known of it.
	Equipment                    *savings.Equipment `json:"equipment,omitempty" doc:"What estimates of savings may know of the unit and its house. What is left out takes its default."`
	ThermodynamicValuesUpdatedAt Time               `json:"thermodynamicValuesUpdatedAt" nullable:"true" doc:"When the rates and coefficients were last determined."`
	LastSetPointSchedule         json.RawMessage    `json:"lastSetPointSchedule" nullable:"true" doc:"Null, or the targets of the best day of the last estimate of savings: date, tempUnits and setpoints, of which each has startTime, endTime and temperature. An import may bring another object." example:"null"`
	LastOptimizationRunData      json.RawMessage    `json:"lastOptimizationRunData" nullable:"true" doc:"Null, or what the last estimate of savings found: runAt, type, the figures of the device, and day, the day of the greatest savings in quarter hours. An import may bring another object." example:"null"`
	Deleted                      bool               `json:"deleted" doc:"A deleted device is answered as one that does not exist." example:"false"`
	Base
}

// SystemDetails describes a device.
type SystemDetails struct {
	Name        string    `json:"name" maxLength:"255" example:"Upstairs"`
	TempUnits   TempUnits `json:"tempUnits"`
	DefaultMode Mode      `json:"defaultMode"`
}

// NewHVACDevice returns a device with the default values.
func NewHVACDevice(org string) HVACDevice {
	d := HVACDevice{
		Linked: true, Details: SystemDetails{TempUnits: Fahrenheit, DefaultMode: ModeAuto},
		TargetCoolSetpoint: 75, TargetHeatSetpoint: 68, MaxTemp: 78, MinTemp: 65, CurrentTemp: 70,
	}
	d.OrganizationID = org
	return d
}

// HVACDeviceRef names a device.
func HVACDeviceRef(org, id string) Ref { return Ref{KindHVACDevice, org, id} }

// Ref names the device.
func (d *HVACDevice) Ref() Ref { return HVACDeviceRef(d.OrganizationID, d.ID) }

// Validate names every wrong field.
func (d *HVACDevice) Validate() error {
	var p Problems
	checkEnum(&p, "systemDetails.tempUnits", d.Details.TempUnits, Fahrenheit, Celsius)
	checkMode(&p, "systemDetails.defaultMode", d.Details.DefaultMode)
	if d.Equipment != nil {
		for _, f := range d.Equipment.Problems() {
			p.Check(false, "equipment."+f.Field, "%s", f.Message)
		}
	}
	return p.Err()
}

func checkMode(p *Problems, field string, m Mode) {
	checkEnum(p, field, m, ModeOff, ModeHeat, ModeCool, ModeAuto)
}
