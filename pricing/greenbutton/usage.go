package greenbutton

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
)

// Usage is the metered energy of a home in steps of equal length without gaps.
type Usage struct {
	// Start is the start of the first step.
	Start time.Time
	Step  time.Duration
	// KWh holds the energy of each step in kWh: from the grid, minus to the grid.
	KWh []float64
	// offset is the offset of standard time from UTC.
	offset *time.Duration
}

// Read reads a Green Button file. A later reading of an interval replaces an earlier one,
// because utilities correct readings. Errors name a file without energy, an unknown unit,
// intervals of different lengths, and missing intervals.
func Read(r io.Reader) (*Usage, error) {
	f, err := readFeed(r)
	if err != nil {
		return nil, fmt.Errorf("the Green Button file does not decode: %w", err)
	}
	u := &Usage{}
	if f.offset != nil {
		offset := time.Duration(*f.offset) * time.Second
		u.offset = &offset
	}
	in, out := series{}, series{}
	seen := map[string]bool{}
	for _, meter := range f.meters {
		t, err := f.typed(meter)
		if err != nil {
			return nil, err
		}
		if t.Unit != unitWattHours || t.Accumulation != 0 && t.Accumulation != deltaData {
			continue // such as power, voltage or a meter's count
		}
		into := in
		if t.Direction == directionOut {
			into = out
		}
		point, _, _ := strings.Cut(meter, "/MeterReading")
		key := fmt.Sprint(point, t.Direction == directionOut)
		if seen[key] {
			return nil, errors.New("the Green Button file has the energy of one meter twice: keep one MeterReading per direction")
		}
		seen[key] = true
		if err := u.add(f.readings[meter], math.Pow10(t.Multiplier-3), into); err != nil {
			return nil, err
		}
	}
	return u, u.join(in, out)
}

// series holds energy in kWh by the start of its interval, in Unix seconds.
type series map[int64]float64

// lacks reports whether a series has intervals, but not this one.
func (s series) lacks(start int64) bool {
	_, has := s[start]
	return len(s) > 0 && !has
}

// add adds the readings of one meter, scaled to kWh.
func (u *Usage) add(readings []reading, scale float64, to series) error {
	one := series{}
	for _, r := range readings {
		step := time.Duration(r.Duration) * time.Second
		if u.Step == 0 {
			u.Step = step
		}
		if step != u.Step || step <= 0 {
			return fmt.Errorf("the Green Button file has intervals of %s and of %s, want one length", u.Step, step)
		}
		one[r.Start] = float64(r.Value) * scale
	}
	for start, kwh := range one {
		to[start] += kwh
	}
	return nil
}

// join sets the energy of each step from both directions.
func (u *Usage) join(in, out series) error {
	starts := slices.Sorted(maps.Keys(in))
	if len(in) == 0 {
		starts = slices.Sorted(maps.Keys(out))
	}
	if len(starts) == 0 {
		return errors.New("the Green Button file has no readings of energy in Wh")
	}
	first, last, step := starts[0], starts[len(starts)-1], int64(u.Step/time.Second)
	if n := (last-first)/step + 1; n > maxReadings {
		return fmt.Errorf("the Green Button file spans %d intervals, more than %d", n, maxReadings)
	}
	u.Start = time.Unix(first, 0).UTC()
	var missing []int64
	for start := first; start <= last; start += step {
		if in.lacks(start) || out.lacks(start) {
			missing = append(missing, start)
		}
		u.KWh = append(u.KWh, in[start]-out[start])
	}
	if len(missing) > 0 {
		return fmt.Errorf("the Green Button file lacks %d intervals of %s, the first at %s", len(missing), u.Step, time.Unix(missing[0], 0).UTC().Format(time.RFC3339))
	}
	if len(u.KWh) != len(starts) {
		return fmt.Errorf("the Green Button file has intervals that do not begin at a multiple of %s after %s", u.Step, u.Start.Format(time.RFC3339))
	}
	return nil
}

// Day returns the first day in local time, such as 2026-07-01. Errors: the file does not
// name its time zone, or does not begin at midnight.
func (u *Usage) Day() (string, error) {
	if u.offset == nil {
		return "", errors.New("the Green Button file has no LocalTimeParameters, so its first day is unknown")
	}
	local := u.Start.Add(*u.offset)
	if local.Hour() == 23 { // midnight in daylight saving time
		local = local.Add(time.Hour)
	}
	if local.Truncate(24*time.Hour) != local {
		return "", fmt.Errorf("the Green Button file begins at %s, which is not midnight in local time", u.Start.Format(time.RFC3339))
	}
	return local.Format(time.DateOnly), nil
}
