package reliability

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"time"
	_ "time/tzdata" // the same zones on every machine

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/carbon"
	"github.com/gridhook/gridhook/pricing/climate"
	"github.com/gridhook/gridhook/pricing/internal/embedded/pack"
	"github.com/gridhook/gridhook/pricing/market"
	"github.com/gridhook/gridhook/pricing/regime"
	"github.com/gridhook/gridhook/pricing/solar"
)

// near reports whether a price is within a tenth of the truth.
func near(price, truth float64) bool { return math.Abs(price-truth) <= 0.1*math.Abs(truth) }

func column(dir, name, heading string) ([]float64, error) {
	rows, err := pack.Table(filepath.Join(dir, name))
	if err != nil {
		return nil, err
	}
	i := slices.Index(rows[0], heading)
	if i < 0 {
		return nil, fmt.Errorf("%s: no column %s", name, heading)
	}
	values := make([]float64, len(rows)-1)
	for j, row := range rows[1:] {
		if values[j], err = strconv.ParseFloat(row[i], 64); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// markets forecasts two hourly series: the PJM hub of 2018 and a year of retail prices.
// Every 20 hours it makes a new forecast from the prices up to then.
func markets(dir string) (*diagram, error) {
	const warmUp, every, days = 21 * 24, 20, 30
	d := &diagram{}
	for _, s := range []struct{ name, heading string }{
		{"lmp/pjm_n_illinois_hub_rt_2018_mar_jun.csv", "rt_lmp_usd_mwh"}, {"lmp/sample_rtp_8760_usd_kwh.csv", "usd_per_kwh"},
	} {
		prices, err := column(dir, s.name, s.heading)
		if err != nil {
			return nil, err
		}
		start := time.Date(2018, time.March, 1, 5, 0, 0, 0, time.UTC)
		points := make([]market.Point, len(prices))
		for i, price := range prices {
			points[i] = market.Point{Start: start.Add(time.Duration(i) * time.Hour), Price: price / 1000}
		}
		for origin := warmUp; origin < len(points); origin += every {
			known, err := market.New(points[:origin], market.Options{Location: time.FixedZone("EST", -5*60*60), Step: time.Hour})
			if err != nil {
				return nil, err
			}
			for i := origin; i < min(len(points), origin+days*24); i++ {
				forecast, _ := known.At(points[i].Start.Unix())
				d.add(forecast.Confidence, near(forecast.Value, points[i].Price))
			}
		}
	}
	return d, nil
}

// tiers prices plans of two and three tiers for homes with unknown usage. Their yearly
// energy is log-normal. Their days follow the load shapes of 13 cities.
func tiers(dir string) (*diagram, error) {
	d := &diagram{}
	random := rand.New(rand.NewPCG(3, 5)) //nolint:gosec // reproducible by intent
	for _, city := range []string{"Albuquerque", "Atlanta", "Baltimore", "Boulder", "Chicago", "Houston", "LasVegas", "LosAngeles", "Miami", "Minneapolis", "Phoenix", "SanFrancisco", "Seattle"} {
		shape, err := column(dir, "residential_load_shape_8760.csv", city)
		if err != nil {
			return nil, err
		}
		for _, bounds := range [][]float64{{300}, {600}, {1000}, {400, 1200}} {
			tariff, err := tiered(bounds)
			if err != nil {
				return nil, err
			}
			for range 4 {
				annual := solar.TypicalAnnualKWh * math.Exp(0.6*random.NormFloat64()-0.18)
				if err := meter(d, tariff, bounds, shape, annual); err != nil {
					return nil, err
				}
			}
		}
	}
	return d, nil
}

// tiered returns a plan whose tiers cost 0.15, 0.25, 0.35 $/kWh up to the bounds.
func tiered(bounds []float64) (*pricing.Tariff, error) {
	v := pricing.Version{}
	var steps []pricing.Tier
	for i := range len(bounds) + 1 {
		t := pricing.Tier{Rate: 0.15 + 0.1*float64(i)}
		if i < len(bounds) {
			t.Max = &bounds[i]
		}
		steps = append(steps, t)
	}
	v.Periods = [][]pricing.Tier{steps}
	return pricing.NewTariff([]pricing.Version{v})
}

// meter prices a year and compares the result with the monthly running total of the load.
func meter(d *diagram, tariff *pricing.Tariff, bounds, shape []float64, annual float64) error {
	used, month := 0.0, time.Month(0)
	for day := range 365 {
		at := time.Date(2026, time.January, 1+day, 0, 0, 0, 0, time.UTC)
		if at.Month() != month {
			used, month = 0, at.Month()
		}
		c, err := pricing.Price(pricing.Input{Tariff: tariff, Location: time.UTC}, pricing.Window{Start: at, End: at.AddDate(0, 0, 1)})
		if err != nil {
			return err
		}
		for hour := range 24 {
			tier := 0
			for tier < len(bounds) && used >= bounds[tier] {
				tier++
			}
			d.add(c.Confidence[4*hour], near(c.Import[4*hour], 0.15+0.1*float64(tier)))
			used += annual * shape[24*day+hour]
		}
	}
	return nil
}

// emissions prices the hours of 2023 with the carbon of single hours.
func emissions(dir string) (*diagram, error) {
	d := &diagram{}
	for _, code := range []string{"CA", "CENT", "FL", "MIDA", "MIDW", "NCSC", "NE", "NW", "NY", "RM", "SE", "SW", "TE", "TN"} {
		rates, err := column(dir, "carbon/avert_2023_co2_lb_per_kwh.csv", code)
		if err != nil {
			return nil, err
		}
		region, _ := carbon.Named(code)
		for _, intensity := range []carbon.Intensity{carbon.Medium, carbon.High} {
			for hour, rate := range rates {
				month := time.Date(2023, time.January, 1, hour, 0, 0, 0, time.UTC).Month()
				for _, price := range []float64{0.08, 0.15, 0.30} {
					given := price + intensity.Cost(region.Rate(month, hour%24))
					d.add(region.Within(0.1*given/intensity.Cost(1)), near(given, price+intensity.Cost(rate)))
				}
			}
		}
	}
	return d, nil
}

// exports compares the probability of exporting with a simulated year. The house is from
// the bill calculation tests of OpenStudio-HPXML, in Denver, with arrays of 1 to 10 kW.
// Half of the arrays' output is after 13:00, so they face southwest.
func exports(dir string) (*diagram, error) {
	const name, lat, lon = "oracles/hpxml_bills/data.csv", 39.74, -104.99
	load, err := column(dir, name, "Electricity [kWh]")
	if err != nil {
		return nil, err
	}
	output, err := column(dir, name, "PV_10kW [kWh]")
	if err != nil {
		return nil, err
	}
	location, err := time.LoadLocation("America/Denver")
	if err != nil {
		return nil, err
	}
	year := climate.Choose(climate.Place{Lat: lat, Lon: lon, State: "CO", County: "Denver"}).Year
	profile, err := solar.NewProfile(year, solar.Array{Tilt: 20, Azimuth: 210, Losses: solar.DefaultArray.Losses})
	if err != nil {
		return nil, err
	}
	annual := 0.0
	for _, kwh := range load {
		annual += kwh
	}
	d := &diagram{}
	for _, size := range []float64{1, 2, 3, 5, 8, 10} {
		chance, err := solar.NewChance(profile, solar.Home{SizeKW: size, AnnualKWh: annual, Lat: lat, Lon: lon, Location: location})
		if err != nil {
			return nil, err
		}
		for hour, kwh := range load {
			at := time.Date(2026, time.January, 1+hour/24, hour%24, 30, 0, 0, location)
			if p := chance.At(at.Unix()); p > 0 {
				d.add(p, output[hour]*size/10 > kwh)
			}
		}
	}
	return d, nil
}

// sellers are utilities by state that pay new solar homes less than the retail price:
// package regime knows when they began.
var sellers = map[string][]int{"CA": {14328, 16609, 17609}, "AZ": {803}, "UT": {14354}, "IN": {15470, 9324, 9273, 13756}}

// regimes prices homes with solar on plans with a sell rate, with the regime withheld. The
// homes of each utility applied in the years from 2008, as many in each.
func regimes(string) (*diagram, error) {
	const lat, lon = 33.45, -112.07
	profile, err := solar.NewProfile(climate.Choose(climate.Place{Lat: lat, Lon: lon, State: "AZ", County: "Maricopa"}).Year, solar.DefaultArray)
	if err != nil {
		return nil, err
	}
	chance, err := solar.NewChance(profile, solar.Home{SizeKW: 6, Lat: lat, Lon: lon, Location: time.UTC})
	if err != nil {
		return nil, err
	}
	v := pricing.Version{Periods: [][]pricing.Tier{{{Rate: 0.30, Sell: 0.10}}}}
	tariff, err := pricing.NewTariff([]pricing.Version{v})
	if err != nil {
		return nil, err
	}
	day := time.Date(2026, time.April, 15, 0, 0, 0, 0, time.UTC)
	price := func(r pricing.Regime) (*pricing.Curve, error) {
		in := pricing.Input{Tariff: tariff, Location: time.UTC, Solar: &pricing.Solar{SizeKw: 6, Regime: r}, ExportChance: chance}
		return pricing.Price(in, pricing.Window{Start: day, End: day.AddDate(0, 0, 1)})
	}
	withheld, err := price(pricing.UnknownRegime())
	if err != nil {
		return nil, err
	}
	d := &diagram{}
	for state, utilities := range sellers {
		for _, utility := range utilities {
			for applied := 2008; applied <= day.Year(); applied++ {
				r := regime.Of(state, utility, regime.Application{Date: pricing.Date{Year: applied, Month: time.July, Day: 1}})
				if r.Metering == "" {
					continue
				}
				truth, err := price(r)
				if err != nil {
					return nil, err
				}
				for i, claim := range withheld.Confidence {
					d.add(claim, near(withheld.Price[i], truth.Price[i]))
				}
			}
		}
	}
	return d, nil
}
