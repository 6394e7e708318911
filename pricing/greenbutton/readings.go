package greenbutton

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"
)

// Readings is the metered energy of a home in steps of one length.
type Readings struct {
	// Step is the length of a step.
	Step time.Duration
	// steps are in order. A step that lacks one of the directions is missing.
	steps []step
	// exports reports whether the meter also counts the energy to the grid.
	exports   bool
	clock     *clock // nil if the file has none
	summaries []summary
}

// step is the energy of one step in kWh, from and to the grid.
type step struct {
	start       int64 // Unix seconds
	drawn, sent float64
}

// Read reads a Green Button file, or several one after another. A later reading of an
// interval replaces an earlier one, because utilities correct readings. Errors name a file
// without energy, an unknown unit, intervals of different lengths, and a total that differs
// from a summary of the file. The memory depends on the number of readings, not on the
// length of the text.
func Read(text io.Reader) (*Readings, error) {
	f, err := readFeed(text)
	if err != nil {
		return nil, fmt.Errorf("the Green Button file does not decode: %w", err)
	}
	r := &Readings{clock: f.clock, summaries: f.summaries}
	var drawn, sent []step
	seen, points := map[string]bool{}, map[string]bool{}
	for _, meter := range f.meters {
		t, err := f.typed(meter)
		if err != nil {
			return nil, err
		}
		if t.unit != unitWattHours || t.accumulation != 0 && t.accumulation != deltaData {
			continue // such as power, voltage or a meter's count
		}
		point, _, _ := strings.Cut(meter, "/MeterReading")
		key := fmt.Sprint(point, t.direction == directionOut)
		if seen[key] {
			return nil, errors.New("the Green Button file has the energy of one meter twice: keep one MeterReading per direction")
		}
		seen[key], points[point] = true, true
		one, err := r.series(f.readings[meter], &t)
		if err != nil {
			return nil, err
		}
		if t.direction == directionOut {
			sent = merged(sent, one)
		} else {
			drawn = merged(drawn, one)
		}
	}
	if err := r.join(drawn, sent); err != nil {
		return nil, err
	}
	if len(points) > 1 { // a summary is of one meter
		return r, nil
	}
	return r, r.checkSummaries()
}

// Starts of intervals are from the years 2000 to 2199.
const earliest, latest = 946_684_800, 7_258_118_399

// series returns the steps of one meter, without replaced readings.
func (r *Readings) series(readings []reading, t *readingType) ([]step, error) {
	all := make([]step, len(readings))
	for i, one := range readings {
		if one.duration > latest-earliest { // it may overflow
			return nil, fmt.Errorf("the Green Button file has an interval of %d seconds", one.duration)
		}
		length := time.Duration(one.duration) * time.Second
		if r.Step == 0 {
			r.Step = length
		}
		if length != r.Step || length <= 0 {
			return nil, fmt.Errorf("the Green Button file has intervals of %s and of %s, want one length", r.Step, length)
		}
		if one.start < earliest || one.start > latest {
			return nil, fmt.Errorf("the Green Button file has an interval that begins at %d seconds after 1970", one.start)
		}
		all[i].start = one.start
		if kwh := float64(one.value) * scale(t.multiplier); t.direction == directionOut || kwh < 0 {
			all[i].sent, r.exports = math.Abs(kwh), true
		} else {
			all[i].drawn = kwh
		}
	}
	order := func(a, b step) int { return cmp.Compare(a.start, b.start) }
	if !slices.IsSortedFunc(all, order) {
		slices.SortStableFunc(all, order)
	}
	last := 0
	for i := range all {
		if i > 0 && all[i].start != all[last].start {
			last++
		}
		all[last] = all[i]
	}
	return all[:min(last+1, len(all))], nil
}

// merged adds the energy of two meters of a direction. A step that one of them lacks is
// missing, except before the first and after the last step of that meter: utilities exchange
// meters.
func merged(a, b []step) []step {
	if len(a) == 0 || len(b) == 0 {
		return append(a, b...)
	}
	return sum(a, b, max(a[0].start, b[0].start), min(a[len(a)-1].start, b[len(b)-1].start))
}

// sum adds the energy of two series. A step between two starts that one of them lacks is
// missing.
func sum(a, b []step, from, to int64) []step {
	all := make([]step, 0, max(len(a), len(b)))
	for len(a)+len(b) > 0 {
		if len(a) == 0 || len(b) > 0 && b[0].start < a[0].start {
			a, b = b, a
		}
		s := a[0]
		a = a[1:]
		switch {
		case len(b) > 0 && b[0].start == s.start:
			s.drawn, s.sent = s.drawn+b[0].drawn, s.sent+b[0].sent
			b = b[1:]
		case from <= s.start && s.start <= to:
			continue
		}
		all = append(all, s)
	}
	return all
}

// join sets the steps from both directions. Steps that lack a direction are missing.
func (r *Readings) join(drawn, sent []step) error {
	if len(drawn) == 0 || len(sent) == 0 {
		r.steps = append(drawn, sent...)
	} else {
		r.steps = sum(drawn, sent, earliest, latest)
	}
	if len(r.steps) == 0 && len(r.summaries) > 0 {
		return errors.New("the Green Button file has usage summaries and no readings of energy in Wh: download a file with interval data")
	}
	if len(r.steps) == 0 {
		return errors.New("the Green Button file has no readings of energy in Wh")
	}
	for _, s := range r.steps {
		if (s.start-r.steps[0].start)%int64(r.Step/time.Second) != 0 {
			return fmt.Errorf("the Green Button file has intervals that do not begin at a multiple of %s after %s", r.Step, instant(r.steps[0].start))
		}
	}
	return nil
}

func instant(unix int64) string { return time.Unix(unix, 0).UTC().Format(time.RFC3339) }

// Summaries are often whole kWh. Utilities read the meter at some hour of the first and the
// last day, not at midnight: 1.5 percent of a month are 11 hours. A wrong unit or direction
// makes a much greater difference.
const (
	summaryRounding  = 1.0 // kWh
	summaryTolerance = 0.015
)

// checkSummaries compares the steps with the summaries of periods that they cover without
// a gap. A summary of a home with solar may count the net energy. A difference means
// that a unit or a direction is wrong, or that readings are.
func (r *Readings) checkSummaries() error {
	length := int64(r.Step / time.Second)
	at := func(start int64) (int, bool) {
		return slices.BinarySearchFunc(r.steps, start, func(s step, start int64) int { return cmp.Compare(s.start, start) })
	}
	for _, s := range r.summaries {
		first, begins := at(s.start)
		last, ends := at(s.end - length)
		if !begins || !ends || last < first || int64(last-first+1)*length != s.end-s.start {
			continue
		}
		drawn, sent := 0.0, 0.0
		for _, one := range r.steps[first : last+1] {
			drawn, sent = drawn+one.drawn, sent+one.sent
		}
		allowed := summaryRounding + summaryTolerance*math.Abs(s.kwh)
		if math.Abs(drawn-s.kwh) > allowed && math.Abs(drawn-sent-s.kwh) > allowed {
			return fmt.Errorf("the Green Button file has intervals of %.3f kWh from %s to %s, but its UsageSummary of that time has %.3f kWh",
				drawn, instant(s.start), instant(s.end), s.kwh)
		}
	}
	return nil
}
