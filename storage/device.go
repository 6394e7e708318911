package storage

import "encoding/json"

// TempUnits is the unit of a device's temperatures.
type TempUnits string

// Mode is what a heating and cooling device does.
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

// HVACDevice is a heating and cooling device of a home. The JSON form is the
// service's, with the home and the linked flag beside it.
type HVACDevice struct {
	ID      string        `json:"deviceId"`
	HomeID  string        `json:"homeId"`
	Linked  bool          `json:"linked"`
	Details SystemDetails `json:"systemDetails"`
	// Temperatures are in Details.TempUnits.
	TargetCoolSetpoint float64 `json:"targetCoolSetpoint"`
	TargetHeatSetpoint float64 `json:"targetHeatSetpoint"`
	MaxTemp            float64 `json:"maxTemp"`
	MinTemp            float64 `json:"minTemp"`
	CurrentTemp        float64 `json:"currentTemp"`
	// The thermodynamic values of the house as the device sees it.
	CoolingRate                  float64         `json:"coolingRate"`
	HeatingRate                  float64         `json:"heatingRate"`
	HeatTransferCoefficient      float64         `json:"heatTransferCoefficient"`
	IrradianceCoefficient        float64         `json:"irradianceCoefficient"`
	ThermodynamicValuesUpdatedAt Time            `json:"thermodynamicValuesUpdatedAt"`
	LastSetPointSchedule         json.RawMessage `json:"lastSetPointSchedule"`
	LastOptimizationRunData      json.RawMessage `json:"lastOptimizationRunData"`
	Deleted                      bool            `json:"deleted"`
	Base
}

// SystemDetails describes a device.
type SystemDetails struct {
	Name        string    `json:"name"`
	TempUnits   TempUnits `json:"tempUnits"`
	DefaultMode Mode      `json:"defaultMode"`
}

// NewHVACDevice is a device with the defaults that apply where nothing is said.
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
	checkID(&p, "deviceId", d.ID)
	checkID(&p, "homeId", d.HomeID)
	checkText(&p, "systemDetails.name", d.Details.Name, 0, 255)
	checkEnum(&p, "systemDetails.tempUnits", d.Details.TempUnits, Fahrenheit, Celsius)
	checkMode(&p, "systemDetails.defaultMode", d.Details.DefaultMode)
	checkTemp(&p, "targetCoolSetpoint", d.TargetCoolSetpoint)
	checkTemp(&p, "targetHeatSetpoint", d.TargetHeatSetpoint)
	checkTemp(&p, "maxTemp", d.MaxTemp)
	checkTemp(&p, "minTemp", d.MinTemp)
	checkTemp(&p, "currentTemp", d.CurrentTemp)
	return p.Err()
}

func checkMode(p *Problems, field string, m Mode) {
	checkEnum(p, field, m, ModeOff, ModeHeat, ModeCool, ModeAuto)
}

// checkTemp applies the service's bounds, which hold in either unit.
func checkTemp(p *Problems, field string, t float64) {
	p.Check(t > -50 && t < 200, field, "must be above -50 and below 200")
}
