package savings

import (
	"math"
	"slices"

	"github.com/gridhook/gridhook/pricing"
)

// Assumptions lists the inputs behind the figures.
type Assumptions struct {
	Weather WeatherAssumption `json:"weather"`
	Prices  PriceAssumption   `json:"prices"`
	Devices []HouseAssumption `json:"devices"`
	Notes   []string          `json:"notes"`
}

// WeatherAssumption names the weather station of the typical year.
type WeatherAssumption struct {
	Station    string  `json:"station" example:"Chicago Ohare Intl Ap"`
	State      string  `json:"state" example:"IL"`
	Source     string  `json:"source" example:"TMY3"`
	DistanceKm float64 `json:"distanceKm" doc:"From the home." example:"24"`
	MetersUp   float64 `json:"metersUp" doc:"How much higher the station is than the home, in m; 0 where the home's height is not known." example:"-8"`
	Zone       string  `json:"zone" doc:"The climate zone of the station (IECC), such as 5A." example:"5A"`
	HomeZone   string  `json:"homeZone" doc:"The climate zone of the home; empty where it is not known." example:"5A"`
	Error      float64 `json:"error" doc:"How much the degree days of such stations differ, as a share." example:"0.14"`
}

// PriceAssumption is the range of the home's prices over the period, $/kWh.
type PriceAssumption struct {
	Least    float64 `json:"least" example:"0.1"`
	Mean     float64 `json:"mean" example:"0.15"`
	Greatest float64 `json:"greatest" example:"0.4"`
}

// HouseAssumption describes a device and its house in the model.
type HouseAssumption struct {
	DeviceID          string    `json:"deviceId" example:"dev_1"`
	TimeConstantHours float64   `json:"timeConstantHours" doc:"In how many hours the house loses 63 % of a difference in temperature." example:"25"`
	HeatLossKw        float64   `json:"heatLossKw" doc:"Heat that the house loses per degree Celsius, in kW." example:"0.15"`
	Equipment         Equipment `json:"equipment" doc:"The equipment with its defaults filled in."`
	EquipmentAssumed  bool      `json:"equipmentAssumed" doc:"Whether capacity or a rated efficiency was not given." example:"true"`
}

// notes are the assumptions behind every estimate.
var notes = []string{
	"The weather is a typical year, not a forecast.",
	"Output and efficiency follow the outdoor temperature by the curves of a single-speed unit. Three quarters of cooling lowers the temperature, the rest dries the air.",
	"The house is one room with one time constant. People and appliances give the same heat at all hours.",
	"Costs are of the price of one more kWh at that hour, and of gas. Fixed, minimum and demand charges are the same in both.",
}

// comparisonNotes are the assumptions behind each comparison.
var comparisonNotes = map[Comparison]string{
	Shift: "The optimum knows prices and weather ahead. It stays within minTemp and maxTemp wherever the baseline does, is on average as warm " +
		"(or, where the day needs cooling, as cool) in each month as the baseline, and ends each month at its temperature.",
	Setback: "The baseline holds one setpoint day and night. The other follows the schedule, or without one the ENERGY STAR schedule about the device's setpoints. It is less warm in winter and less cool in summer. It may still cost more where it recovers at expensive hours.",
}

func (e *estimate) assumptions() Assumptions {
	sum := 0.0
	for _, price := range e.prices {
		sum += price
	}
	a := Assumptions{
		Weather: WeatherAssumption{
			Station: e.weather.Name, State: e.weather.State, Source: e.weather.Source,
			DistanceKm: math.Round(e.weather.Km), MetersUp: math.Round(e.weather.MetersUp), Zone: e.weather.Zone, HomeZone: e.weather.HomeZone, Error: pricing.Hundredths(e.weather.Error()),
		},
		Prices: PriceAssumption{
			Least: slices.Min(e.prices), Greatest: slices.Max(e.prices),
			Mean: math.Round(1e6*sum/float64(len(e.prices))) / 1e6,
		},
		Notes: append(slices.Clone(notes), comparisonNotes[e.in.Request.Comparison]),
	}
	for i := range e.devices {
		d, h := e.devices[i].device, &e.devices[i].house
		a.Devices = append(a.Devices, HouseAssumption{
			DeviceID: d.ID, TimeConstantHours: pricing.Hundredths(1 / h.h), HeatLossKw: math.Round(1e3*h.h*h.capacity) / 1e3,
			Equipment: h.equipment.rounded(), EquipmentAssumed: d.Equipment.assumed(d),
		})
	}
	return a
}

// rounded returns the equipment with values rounded for output.
func (e Equipment) rounded() Equipment {
	e.InternalGainsKw = new(pricing.Hundredths(*e.InternalGainsKw))
	return e
}

// assumed reports whether a value that affects the energy was not given.
func (e *Equipment) assumed(d *Device) bool {
	heat := map[HeatSource]bool{"": e.HSPF2 == 0, HeatPump: e.HSPF2 == 0, GasFurnace: e.AFUE == 0}[e.HeatSource]
	return e.CapacityKw == 0 || d.CoolingRate != 0 && e.SEER2 == 0 || d.HeatingRate != 0 && heat
}
