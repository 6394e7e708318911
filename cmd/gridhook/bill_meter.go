package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/bill"
	"github.com/gridhook/gridhook/pricing/climate"
	"github.com/gridhook/gridhook/pricing/eligibility"
	"github.com/gridhook/gridhook/pricing/solar"
	"github.com/gridhook/gridhook/storage"
)

// meterFlags say what was used and generated, where and when.
type meterFlags struct {
	load, start, zipcode, timezone string
	annualKWh, solarKW             float64
	stepMinutes                    int
	array                          solar.Array
	nonNetMetered                  bool
}

func (f *meterFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.load, "load", "", "a `file` of what was used, kWh a step; - is the standard input")
	flags.Float64Var(&f.annualKWh, "annual-kwh", 0, "what a year uses, spread as is usual there")
	flags.StringVar(&f.start, "start", "", "the `day` on which the file begins; by default it is a typical year")
	flags.IntVar(&f.stepMinutes, "step", 0, "the length of the file's steps in `minutes`, by default what makes a year of it")
	flags.StringVar(&f.zipcode, "zipcode", "", "where the home is, by its `zipcode`")
	flags.StringVar(&f.timezone, "timezone", "", "the home's time `zone`, for a file with a start; by default that of its zipcode")
	flags.Float64Var(&f.solarKW, "solar-kw", 0, "its solar, in kW, which generates as in a typical year")
	flags.Float64Var(&f.array.Tilt, "tilt", solar.DefaultArray.Tilt, "the modules' angle from the horizontal")
	flags.Float64Var(&f.array.Azimuth, "azimuth", solar.DefaultArray.Azimuth, "where they face, clockwise from north")
	flags.Float64Var(&f.array.Losses, "losses", solar.DefaultArray.Losses, "what soiling, shading and wiring lose, in percent")
	flags.BoolVar(&f.nonNetMetered, "non-net-metered", false, "the solar is not net metered, whatever the plan says")
}

// typicalYear is the calendar of a typical year: its weekdays, and no leap day.
var typicalYear = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// meter is what the flags say was used and generated.
func (f *meterFlags) meter(g *globals) (m bill.Meter, err error) {
	m = bill.Meter{Start: typicalYear, Step: time.Hour, Location: time.UTC}
	if f.load == "" {
		m.Load, err = f.typicalLoad()
	} else {
		err = f.read(g, &m)
	}
	if err != nil || f.solarKW == 0 {
		return m, err
	}
	if f.start != "" {
		return m, usagef("--solar-kw is of a typical year: it does not go with --start")
	}
	m.Solar, err = f.typicalSolar(len(m.Load), m.Step)
	return m, err
}

// place is where the home is.
func (f *meterFlags) place(what string) (eligibility.Place, error) {
	place, ok := eligibility.Locate(f.zipcode)
	switch {
	case f.zipcode == "":
		return place, usagef("%s needs the home's place: say with --zipcode where it is", what)
	case !ok:
		return place, usagef("--zipcode: %q is not known", f.zipcode)
	}
	return place, nil
}

// typicalLoad spreads a year's energy over its hours.
func (f *meterFlags) typicalLoad() ([]float64, error) {
	if !(f.annualKWh > 0) {
		return nil, usagef("--annual-kwh must be above 0")
	}
	place, err := f.place("--annual-kwh")
	if err != nil {
		return nil, err
	}
	shape := solar.NearestLoad(place.Lat, place.Lon)
	load := make([]float64, climate.Hours)
	for i := range load {
		at := typicalYear.Add(time.Duration(i) * time.Hour)
		load[i] = f.annualKWh * shape.Power(int(at.Month())-1, float64(at.Hour())+0.5)
	}
	return load, nil
}

// typicalSolar is what the array puts out in each step of a typical year.
func (f *meterFlags) typicalSolar(steps int, step time.Duration) ([]float64, error) {
	place, err := f.place("--solar-kw")
	if err != nil {
		return nil, err
	}
	quarters := int(step / pricing.Interval)
	if steps*quarters != climate.Quarters {
		return nil, usagef("--solar-kw is of a typical year of 365 days, and --load has %d steps of %v", steps, step)
	}
	profile, err := solar.NewProfile(climate.Nearest(place.Lat, place.Lon), f.array)
	if err != nil {
		return nil, usagef("%v", err)
	}
	series := make([]float64, steps)
	for i := range climate.Quarters {
		series[i/quarters] += f.solarKW * profile.Power(i) / 4
	}
	return series, nil
}

// read takes what was used from a file.
func (f *meterFlags) read(g *globals, m *bill.Meter) error {
	text, err := g.readFile(f.load)
	if err != nil {
		return err
	}
	if m.Load, err = numbers(text); err != nil {
		return fmt.Errorf("%s: %w", f.load, err)
	}
	m.Step = time.Duration(f.stepMinutes) * time.Minute
	if f.stepMinutes == 0 {
		for _, step := range []time.Duration{time.Hour, 30 * time.Minute, 15 * time.Minute} {
			if n := time.Duration(len(m.Load)) * step / (24 * time.Hour); n == 365 || n == 366 {
				m.Step = step
			}
		}
	}
	if m.Step == 0 {
		return usagef("%s has %d steps, which are no year of hours, half or quarter hours: say with --step how many minutes each has", f.load, len(m.Load))
	}
	if f.start == "" {
		return nil
	}
	return f.begin(m)
}

// begin is when a metered file begins, by the home's calendar.
func (f *meterFlags) begin(m *bill.Meter) error {
	if f.timezone == "" {
		place, err := f.place("--start")
		if err != nil {
			return err
		}
		f.timezone = place.Timezone
	}
	location, ok := storage.Location(f.timezone)
	if !ok {
		return usagef("--timezone must be a time zone such as America/Chicago, not %q", f.timezone)
	}
	day, err := time.ParseInLocation(time.DateOnly, f.start, location)
	if err != nil {
		return usagef("--start must be a day such as 2026-01-01, not %q", f.start)
	}
	m.Start, m.Location = day, location
	return nil
}

// numbers reads the last column of a CSV, whose first row may name it.
func numbers(text []byte) ([]float64, error) {
	in := csv.NewReader(bytes.NewReader(text))
	in.FieldsPerRecord, in.TrimLeadingSpace = -1, true
	var list []float64
	for first := true; ; first = false {
		record, err := in.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		cell := strings.TrimSpace(record[len(record)-1])
		v, err := strconv.ParseFloat(cell, 64)
		line, _ := in.FieldPos(0)
		switch {
		case err == nil:
			list = append(list, v)
		case !first:
			return nil, fmt.Errorf("line %d: %q is not a number", line, cell)
		}
	}
	if len(list) == 0 {
		return nil, errors.New("it has no numbers")
	}
	return list, nil
}

// settle says how what was sent out is settled, and by which prices. A typical year
// gets the calendar of one in which the plan is in force.
func (f *meterFlags) settle(terms *bill.Terms, m *bill.Meter) error {
	terms.AnyDate = f.start == ""
	if terms.Tariff == nil {
		return nil // it has prices by the hour
	}
	if _, follows := terms.Tariff.Market(); follows {
		return errors.New("the plan's prices follow a market: a bill needs them by the hour, as realtimepricing in a --tariff")
	}
	if terms.AnyDate {
		m.Start = yearInForce(terms.Tariff)
	}
	if len(m.Solar) == 0 {
		return nil
	}
	home := pricing.Input{Tariff: terms.Tariff, Location: m.Location, Solar: &pricing.Solar{NonNetMetered: f.nonNetMetered}}
	curve, err := pricing.Price(home, pricing.Window{Start: m.Start, End: m.Start.Add(time.Duration(len(m.Load)) * m.Step)})
	if err != nil {
		return fmt.Errorf("what is sent out cannot be priced: %w", err)
	}
	switch curve.ExportCompensation.Type {
	case pricing.NetMetering:
		return nil
	case pricing.FeedIn:
		terms.Metering = bill.FeedIn
		return nil
	}
	terms.Metering = bill.NetBilling
	terms.ExportPrices = make([]float64, len(m.Load))
	quarters := int(m.Step / pricing.Interval)
	for i, price := range curve.Export {
		terms.ExportPrices[i/quarters] += price / float64(quarters)
	}
	return nil
}

// yearInForce is the start of a year without a leap day in which the newest version
// of a tariff is in force, if there is one.
func yearInForce(t *pricing.Tariff) time.Time {
	year, first := typicalYear, typicalYear
	if from := t.Info().EffectiveFrom; !from.IsZero() {
		first = time.Date(from.Year, from.Month, from.Day, 0, 0, 0, 0, time.UTC)
		year = time.Date(from.Year, time.January, 1, 0, 0, 0, 0, time.UTC)
	}
	for year.Before(first) || year.AddDate(0, 0, 365).Day() != 1 {
		year = year.AddDate(1, 0, 0)
	}
	return year
}
