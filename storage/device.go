package storage

import (
	"encoding/json"
	"iter"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/gridhook/gridhook/pricing/savings"
)

// HVACDevice is a heating and cooling device of a home. Its JSON form is the service's,
// with the home and the linked flag beside it.
type HVACDevice struct {
	ID                      string        `json:"deviceId" pattern:"id" example:"dev_1"`
	HomeID                  string        `json:"homeId" pattern:"id" example:"home_1"`
	Linked                  bool          `json:"linked" doc:"Whether the device is linked to the user. Optimization skips an unlinked device." example:"true"`
	Details                 SystemDetails `json:"systemDetails"`
	TargetCoolSetpoint      float64       `json:"targetCoolSetpoint" exclusiveMinimum:"-50" exclusiveMaximum:"200" doc:"The cooling setpoint." example:"75"`
	TargetHeatSetpoint      float64       `json:"targetHeatSetpoint" exclusiveMinimum:"-50" exclusiveMaximum:"200" doc:"The heating setpoint." example:"68"`
	MaxTemp                 float64       `json:"maxTemp" exclusiveMinimum:"-50" exclusiveMaximum:"200" doc:"The maximum temperature in optimization." example:"78"`
	MinTemp                 float64       `json:"minTemp" exclusiveMinimum:"-50" exclusiveMaximum:"200" doc:"The minimum temperature in optimization." example:"65"`
	CurrentTemp             float64       `json:"currentTemp" exclusiveMinimum:"-50" exclusiveMaximum:"200" doc:"The temperature when the device last reported." example:"71.5"`
	CoolingRate             float64       `json:"coolingRate" doc:"Degrees per hour at full output, 0 if the device cannot cool. The sign does not matter." example:"4.2"`
	HeatingRate             float64       `json:"heatingRate" doc:"Degrees per hour at full output, 0 if the device cannot heat." example:"5.1"`
	HeatTransferCoefficient float64       `json:"heatTransferCoefficient" doc:"Per hour: the inverse of the house's time constant." example:"0.04"`
	IrradianceCoefficient   float64       `json:"irradianceCoefficient" doc:"Degrees per hour in a global irradiance of 1 kW/m2." example:"1.2"`
	// Equipment is nil if nothing is known of it.
	Equipment                    *savings.Equipment `json:"equipment,omitempty" doc:"Facts about the unit and its house for savings estimates. An absent field has its default."`
	ThermodynamicValuesUpdatedAt Time               `json:"thermodynamicValuesUpdatedAt" nullable:"true" doc:"When the rates and coefficients were last determined."`
	LastSetPointSchedule         json.RawMessage    `json:"lastSetPointSchedule" nullable:"true" doc:"The targets of the best day of the last savings estimate: date, tempUnits and setpoints, each with startTime, endTime and temperature. null if there was no estimate. An import may store another object." example:"null"`
	LastOptimizationRunData      json.RawMessage    `json:"lastOptimizationRunData" nullable:"true" doc:"The result of the last savings estimate: runAt, type, the figures of the device, and day, the day of the greatest savings in quarter hours. null if there was no estimate. An import may store another object." example:"null"`
	Deleted                      bool               `json:"deleted" doc:"Operations treat a deleted device as not found." example:"false"`
	Base
}

// SystemDetails describes a device.
type SystemDetails struct {
	Name        string        `json:"name" maxLength:"255" example:"Upstairs"`
	TempUnits   savings.Units `json:"tempUnits"`
	DefaultMode savings.Mode  `json:"defaultMode"`
}

// NewHVACDevice returns a device with the default values.
func NewHVACDevice(org string) HVACDevice {
	return HVACDevice{
		Linked: true, Details: SystemDetails{TempUnits: savings.Fahrenheit, DefaultMode: savings.Auto},
		TargetCoolSetpoint: 75, TargetHeatSetpoint: 68, MaxTemp: 78, MinTemp: 65, CurrentTemp: 70,
		Base: Base{OrganizationID: org},
	}
}

// DevicesOf iterates over a home's devices after an identifier, including those with
// Deleted. Without a home it iterates over all devices of the organization. Errors:
// *DecodeError, after which the iteration continues, and errors of the store.
func DevicesOf(v View, org, homeID, after string) iter.Seq2[HVACDevice, error] {
	return func(yield func(HVACDevice, error) bool) {
		each := func(r Record) bool { return r.Deleted || yield(Decode[HVACDevice](r)) }
		var err error
		if homeID == "" {
			err = v.Scan(KindHVACDevice, org, after, each)
		} else {
			err = v.Devices(org, homeID, after, each)
		}
		if err != nil {
			yield(HVACDevice{}, err)
		}
	}
}

// HomeOf returns the home of a device's record. It returns an empty string for another kind,
// a tombstone, and a record without a home that decodes.
func HomeOf(r Record) string {
	var d struct {
		HomeID string `json:"homeId"`
	}
	if r.Kind != KindHVACDevice || jsonv2.Unmarshal(r.Value, &d, lenient) != nil {
		return ""
	}
	return d.HomeID
}

// Ref names the device.
func (d *HVACDevice) Ref() Ref { return KindHVACDevice.Ref(d.OrganizationID, d.ID) }

// Check adds every wrong field.
func (d *HVACDevice) Check(p *Problems) {
	checkEnum(p, "systemDetails.tempUnits", d.Details.TempUnits, savings.Fahrenheit, savings.Celsius)
	checkMode(p, "systemDetails.defaultMode", d.Details.DefaultMode)
	if d.Equipment != nil {
		d.Equipment.Validate(p, "equipment.")
	}
}

func checkMode(p *Problems, field string, m savings.Mode) {
	checkEnum(p, field, m, savings.Off, savings.Heat, savings.Cool, savings.Auto)
}
