package market

import (
	"errors"

	"github.com/gridhook/gridhook/pricing/internal/plain"
)

// KgPerPound is the mass of a pound in kg.
const KgPerPound = 0.45359237

// massUnits are the units of emissions by their plain names, with the factor to kg CO2 a kWh.
var massUnits = map[string]float64{"gkwh": 1e-3, "kgkwh": 1, "lbmwh": KgPerPound / 1000}

// MassUnits are the units of emissions in files.
var MassUnits = []string{"g/kWh", "kg/kWh", "lb/MWh"}

var errMass = errors.New("g/kWh, kg/kWh and lb/MWh are the units of EMISSIONS, and of no market")

// CheckUnit refuses emissions without a unit of mass, and prices with a unit of mass.
func CheckUnit(kind Kind, unit string) error {
	if _, mass := massUnits[plain.Name(unit)]; mass != (kind == Emissions) {
		return errMass
	}
	return nil
}
