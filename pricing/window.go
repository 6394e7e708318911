package pricing

import "time"

// Interval is the length of one interval of a price signal.
const Interval = 15 * time.Minute

// The bounds of a requested window.
const (
	DefaultWindow  = 24 * time.Hour
	MaxWindow      = 31 * 24 * time.Hour
	MaxWindowAhead = 31 * 24 * time.Hour
	MaxYearsBack   = 2
)

const intervalSeconds = int64(Interval / time.Second)

// Window is a span of whole quarter hours in UTC: Start is included, End is not.
type Window struct {
	Start, End time.Time
}

// Len returns the number of intervals in the window; 0 if End is not after Start.
func (w Window) Len() int {
	return max(0, int((w.End.Unix()-w.Start.Unix())/intervalSeconds))
}

// At returns the start of interval i. Interval i ends at the start of interval i+1.
func (w Window) At(i int) time.Time {
	return w.Start.Add(time.Duration(i) * Interval)
}

// Askable reports whether ResolveWindow can return the window. Such a window has whole
// quarter hours, and at most MaxWindow plus one interval from widening.
func (w Window) Askable() bool {
	return w.whole() && w.End.Sub(w.Start) <= MaxWindow+Interval
}

// whole reports whether the window is one or more whole quarter hours.
func (w Window) whole() bool {
	return w.Start.Before(w.End) && onGrid(w.Start) && onGrid(w.End)
}

func onGrid(t time.Time) bool {
	return t.Unix()%intervalSeconds == 0 && t.Nanosecond() == 0
}

// ResolveWindow returns the window between start and end, requested at the moment now.
//
// Without start and end, the window is the 24 hours from the start of the current
// interval. This window is always valid. Otherwise both values are required, and
// ResolveWindow widens the window outward to whole quarter hours. The bounds apply to the
// requested instants, before widening. For example, exactly 31 days from the middle of an
// interval are valid, although widening adds one interval.
//
// The error is an *InvalidError that names every wrong field. The zero time is a value that
// could not be read: it is out of bounds, and nothing is compared with it.
func ResolveWindow(start, end *time.Time, now time.Time) (Window, error) {
	if start == nil && end == nil {
		from := floorInterval(now)
		return Window{Start: from, End: from.Add(DefaultWindow)}, nil
	}
	var p Problems
	switch {
	case end == nil:
		p.Addf("endTime", "is required when startTime is given")
	case start == nil:
		p.Addf("startTime", "is required when endTime is given")
	default:
		checkBounds(&p, *start, *end, now)
	}
	if err := p.Err(); err != nil {
		return Window{}, err
	}
	return Window{Start: floorInterval(*start), End: ceilInterval(*end)}, nil
}

func checkBounds(p *Problems, start, end, now time.Time) {
	// The limits move with the clock. Rounding them outward lets a caller request the
	// interval that contains the limit.
	limit := ceilInterval(now.Add(MaxWindowAhead))
	p.Check(!start.Before(floorInterval(now.AddDate(-MaxYearsBack, 0, 0))), "startTime", "must be at most 2 years back")
	p.Check(!start.After(limit), "startTime", "must be at most 31 days ahead")
	p.Check(end.After(start), "endTime", "must be after startTime")
	p.Check(start.IsZero() || end.Sub(start) <= MaxWindow, "endTime", "must be at most 31 days after startTime")
	p.Check(!end.After(limit), "endTime", "must be at most 31 days ahead")
}

func floorInterval(t time.Time) time.Time {
	return t.UTC().Truncate(Interval)
}

func ceilInterval(t time.Time) time.Time { return floorInterval(t.Add(Interval - 1)) }
