package greenbutton

import (
	"errors"
	"fmt"
	"time"
)

// Usage is the metered energy of a home in steps of equal length without gaps.
type Usage struct {
	// Start is the start of the first step.
	Start time.Time
	Step  time.Duration
	// KWh holds the energy of each step in kWh: from the grid, minus to the grid.
	KWh   []float64
	clock *clock
}

// Usage returns the readings as a series. The error names missing intervals.
func (r *Readings) Usage() (*Usage, error) {
	first, last, length := r.steps[0].start, r.steps[len(r.steps)-1].start, int64(r.Step/time.Second)
	u := &Usage{Start: time.Unix(first, 0).UTC(), Step: r.Step, clock: r.clock, KWh: make([]float64, len(r.steps))}
	for i, s := range r.steps {
		if want := first + int64(i)*length; s.start != want {
			return nil, fmt.Errorf("the Green Button file lacks %d intervals of %s, the first at %s",
				(last-first)/length+1-int64(len(r.steps)), r.Step, instant(want))
		}
		u.KWh[i] = s.drawn - s.sent
	}
	return u, nil
}

// Day returns the first day in local time, such as 2026-07-01. Errors: the file does not
// name its time zone, or does not begin at midnight.
func (u *Usage) Day() (string, error) {
	if u.clock == nil {
		return "", errors.New("the Green Button file has no LocalTimeParameters, so its first day is unknown")
	}
	local := u.Start.In(u.clock.Location)
	if !u.clock.exact && local.Hour() == 23 { // midnight in daylight saving time
		local = local.Add(time.Hour)
	}
	if hour, minute, second := local.Clock(); hour != 0 || minute != 0 || second != 0 {
		return "", fmt.Errorf("the Green Button file begins at %s, which is not midnight in local time", u.Start.Format(time.RFC3339))
	}
	return local.Format(time.DateOnly), nil
}
