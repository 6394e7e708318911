// Package open reads a rate of the open-energy-tariffs collection. A rate is one JSON
// object, either with a flat rate or with bands and their hours.
//
// The package may import only the standard library and package form, and does no I/O.
package open

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/gridhook/gridhook/pricing/catalog/internal/form"
)

// entry is the used part of the collection's object.
type entry struct {
	State   string `json:"state"`
	Utility string `json:"utility"`
	EIAID   string `json:"eia_id"`
	Plan    string `json:"plan"`
	URDB    string `json:"urdb"`
	TZ      string `json:"tz"`
	Tariff  struct {
		Kind   string `json:"kind"`
		Import struct {
			FlatRate *float64 `json:"flatRate"`
			Bands    []struct {
				ID   string   `json:"id"`
				Rate *float64 `json:"rate"`
			} `json:"bands"`
			Schedule []hours `json:"schedule"`
		} `json:"import"`
		Supply struct {
			Daily float64 `json:"daily"`
		} `json:"supply"`
	} `json:"tariff"`
}

// hours is one line of a schedule.
type hours struct {
	Days string `json:"days"`
	From string `json:"from"`
	To   string `json:"to"`
	Band string `json:"band"`
}

// ErrOpen is wrapped by every error of Parse.
var ErrOpen = errors.New("not a rate of open-energy-tariffs")

// Parse parses one rate. The error wraps ErrOpen and names the problem.
func Parse(line []byte) (form.Rate, error) {
	var e entry
	if err := json.Unmarshal(line, &e); err != nil {
		return form.Rate{}, fmt.Errorf("%w: %w", ErrOpen, err)
	}
	rate, err := e.rate()
	if err != nil {
		return form.Rate{}, fmt.Errorf("%w: %w", ErrOpen, err)
	}
	return rate, nil
}

func (e *entry) rate() (r form.Rate, err error) {
	r = form.Rate{Name: e.Plan, Label: e.URDB, Daily: e.Tariff.Supply.Daily}
	r.Utility = form.Utility{Name: e.Utility, State: e.State, Timezone: e.TZ}
	if r.Name == "" || r.Utility.Name == "" || r.Label == "" {
		return r, errors.New("utility, plan and urdb must be given")
	}
	if strings.ContainsAny(r.Name+r.Utility.Name+r.Label, "\t\n\r") {
		return r, errors.New("utility, plan and urdb must be one line each")
	}
	if r.Utility.EIAID, err = strconv.Atoi(e.EIAID); err != nil {
		return r, fmt.Errorf("eia_id: %w", err)
	}
	in := e.Tariff.Import
	switch {
	case e.Tariff.Kind == "flat" && in.FlatRate != nil:
		r.Rates = []float64{*in.FlatRate}
		return r, nil
	case e.Tariff.Kind == "tou" && len(in.Bands) > 0:
	default:
		return r, fmt.Errorf("tariff.kind: %q has unknown rates", e.Tariff.Kind)
	}
	index := map[string]int{}
	for i, band := range in.Bands {
		if _, twice := index[band.ID]; twice || band.Rate == nil {
			return r, fmt.Errorf("tariff.import.bands[%d]: %q has no rate or comes twice", i, band.ID)
		}
		index[band.ID] = i
		r.Rates = append(r.Rates, *band.Rate)
	}
	return r, schedule(&r, in.Schedule, index)
}

// schedule fills both days of a rate. The lines must cover every hour exactly once.
func schedule(r *form.Rate, lines []hours, index map[string]int) error {
	var weekday, weekend [form.HoursADay]int // number of times that an hour is covered
	for i, line := range lines {
		band, ok := index[line.Band]
		from, err1 := hour(line.From)
		to, err2 := hour(line.To)
		if !ok || err1 != nil || err2 != nil {
			return fmt.Errorf("tariff.import.schedule[%d]: band %q from %q to %q is not a known band between full hours", i, line.Band, line.From, line.To)
		}
		for h := from; h < to; h++ {
			switch line.Days {
			case "all":
				r.Weekday[h], r.Weekend[h] = band, band
				weekday[h]++
				weekend[h]++
			case "weekday":
				r.Weekday[h] = band
				weekday[h]++
			case "weekend":
				r.Weekend[h] = band
				weekend[h]++
			default:
				return fmt.Errorf("tariff.import.schedule[%d].days: %q is not known", i, line.Days)
			}
		}
	}
	for h := range form.HoursADay {
		if weekday[h] != 1 || weekend[h] != 1 {
			return fmt.Errorf("tariff.import.schedule: %d:00 is covered %d times on weekdays and %d times on weekends", h, weekday[h], weekend[h])
		}
	}
	return nil
}

// hour parses a full hour of the day such as "17:00".
func hour(s string) (int, error) {
	digits, minutes, _ := strings.Cut(s, ":")
	h, err := strconv.Atoi(digits)
	if err != nil || minutes != "00" || h < 0 || h > form.HoursADay {
		return 0, fmt.Errorf("%q is not a full hour", s)
	}
	return h, nil
}
