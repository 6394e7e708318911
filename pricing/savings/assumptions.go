package savings

import "math"

// Assumptions is what the figures rest on.
type Assumptions struct {
	Weather WeatherAssumption `json:"weather"`
	Prices  PriceAssumption   `json:"prices"`
	Devices []HouseAssumption `json:"devices"`
	Notes   []string          `json:"notes"`
}

// WeatherAssumption names the typical year.
type WeatherAssumption struct {
	Station    string  `json:"station"`
	State      string  `json:"state"`
	Source     string  `json:"source"`
	DistanceKm float64 `json:"distanceKm"` // from the home, to 1 km
}

// PriceAssumption is the range of the home's prices over the period, $/kWh.
type PriceAssumption struct {
	Least    float64 `json:"least"`
	Mean     float64 `json:"mean"`
	Greatest float64 `json:"greatest"`
}

// HouseAssumption is how a device and its house enter the model.
type HouseAssumption struct {
	DeviceID          string  `json:"deviceId"`
	TimeConstantHours float64 `json:"timeConstantHours"` // in which the house loses 63 % of a difference
	HeatingKw         float64 `json:"heatingKw"`         // electric, at full output
	CoolingKw         float64 `json:"coolingKw"`
	PowerAssumed      bool    `json:"powerAssumed"` // a power was not given and DefaultKw was taken
}

// notes are the assumptions that hold for every estimate.
var notes = []string{
	"Weather is that of a typical year, not a forecast.",
	"Heating and cooling are electric, with the same power at every outdoor temperature and no loss in cycling.",
	"The house is one room with one time constant; occupants and appliances give no heat.",
	"The optimum knows prices and weather ahead, stays within minTemp and maxTemp wherever the baseline does, is on average as warm " +
		"(or, where the day needs cooling, as cool) in each month as the baseline, and ends each month at its temperature.",
	"Dollars are those of the energy price; fixed, minimum and demand charges are the same in both.",
}

// prices collects the range of prices.
type prices struct {
	least, greatest, sum float64
	count                int
}

func (p *prices) add(values []float64) {
	for _, v := range values {
		if p.count == 0 {
			p.least, p.greatest = v, v
		}
		p.least, p.greatest = min(p.least, v), max(p.greatest, v)
		p.sum += v
		p.count++
	}
}

func (e *estimate) assumptions() Assumptions {
	a := Assumptions{
		Weather: WeatherAssumption{
			Station: e.weather.Name, State: e.weather.State, Source: e.weather.Source,
			DistanceKm: math.Round(e.distanceKm()),
		},
		Prices: PriceAssumption{
			Least: e.prices.least, Greatest: e.prices.greatest,
			Mean: math.Round(1e6*e.prices.sum/float64(e.prices.count)) / 1e6,
		},
		Notes: notes,
	}
	for i := range e.devices {
		d, h := e.devices[i].device, &e.devices[i].house
		a.Devices = append(a.Devices, HouseAssumption{
			DeviceID: d.ID, TimeConstantHours: hundredths(1 / h.h), HeatingKw: h.heatKw, CoolingKw: h.coolKw,
			PowerAssumed: d.assumesPower(),
		})
	}
	return a
}

func (e *estimate) distanceKm() float64 {
	return e.weather.DistanceKm(e.in.Place.Lat, e.in.Place.Lon)
}

// assumesPower reports whether a power that matters was not given.
func (d *Device) assumesPower() bool {
	return d.HeatingRate != 0 && d.HeatingKw == 0 || d.CoolingRate != 0 && d.CoolingKw == 0
}
