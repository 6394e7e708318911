package main

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gridhook/gridhook/pricing/bill"
	"github.com/gridhook/gridhook/pricing/eligibility"
	"github.com/gridhook/gridhook/pricing/solar"
	"github.com/gridhook/gridhook/storage"
)

// meterFlags describe the consumption and generation of a home, its place and its time
// zone.
type meterFlags struct {
	bill.Request
	load, generated, zipcode, timezone string
	array                              [4]float64 // size, tilt, azimuth, losses
	given                              func(flag string) bool
}

func (f *meterFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	usual := solar.DefaultArray
	flags.StringVar(&f.load, "load", "", "a `file` of what was used, kWh a step, less than 0 for what was sent out; - is the standard input")
	flags.StringVar(&f.generated, "generated", "", "a `file` of what its solar generated, kWh a step, with as many steps as --load")
	flags.Float64Var(&f.AnnualKWh, "annual-kwh", 0, "what a year uses, spread as is usual there; by default what is assumed of the home, or 10791")
	flags.StringVar(&f.Start, "start", "", "the `day` on which the file begins; by default it is a typical year")
	flags.IntVar(&f.StepMinutes, "step", 0, "the length of the file's steps in `minutes`, by default what makes a year of it")
	flags.IntVar(&f.CalendarYear, "calendar-year", 0, "the `year` whose weekdays a typical year has; by default one in which the plan is in force")
	flags.StringVar(&f.zipcode, "zipcode", "", "where the home is, by its `zipcode`")
	flags.StringVar(&f.timezone, "timezone", "", "the home's time `zone`, for a file with a start; by default that of its zipcode")
	flags.Float64Var(&f.array[0], "solar-kw", 0, "its solar, in kW, which generates as in a typical year; by default the home's own")
	flags.Float64Var(&f.array[1], "tilt", usual.Tilt, "the modules' angle from the horizontal")
	flags.Float64Var(&f.array[2], "azimuth", usual.Azimuth, "where they face, clockwise from north")
	flags.Float64Var(&f.array[3], "losses", usual.Losses, "what soiling, shading and wiring lose, in percent")
	f.given = flags.Changed
}

// request returns the consumption and generation that the flags describe.
func (f *meterFlags) request(g *globals) (r bill.Request, err error) {
	r = f.Request
	if f.given("annual-kwh") && !(f.AnnualKWh > 0) {
		return r, usagef("--annual-kwh must be above 0")
	}
	for i, to := range []**float64{&r.SolarKW, &r.Tilt, &r.Azimuth, &r.Losses} {
		if f.given([]string{"solar-kw", "tilt", "azimuth", "losses"}[i]) {
			*to = &f.array[i]
		}
	}
	if f.load != "" {
		r.Load, err = readNumbers(g, f.load)
	}
	if err == nil && f.generated != "" {
		r.Generated, err = readNumbers(g, f.generated)
	}
	return r, err
}

// home returns the home that the flags describe, for a home that is not on a server.
func (f *meterFlags) home() (h bill.Home, err error) {
	if f.zipcode != "" {
		place, known := eligibility.Locate(f.zipcode)
		if !known {
			return h, usagef("--zipcode: %q is not known", f.zipcode)
		}
		h.Place = place.Climate()
		f.timezone = cmp.Or(f.timezone, place.Timezone)
	}
	if f.timezone != "" {
		var ok bool
		if h.Location, ok = storage.Location(f.timezone); !ok {
			return h, usagef("--timezone must be a time zone such as America/Chicago, not %q", f.timezone)
		}
	}
	return h, nil
}

func readNumbers(g *globals, file string) ([]float64, error) {
	text, err := g.readFile(file)
	if err != nil {
		return nil, err
	}
	list, err := numbers(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return list, nil
}

// numbers reads the last column of a CSV. The first row may be a header.
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
