package pricing

import (
	"strings"
	"time"
)

// Interval is the length of one interval of a price signal.
const Interval = 15 * time.Minute

// Bounds of a window that a caller may ask for.
const (
	DefaultWindow  = 24 * time.Hour
	MaxWindow      = 31 * 24 * time.Hour
	MaxWindowAhead = 31 * 24 * time.Hour
	MaxYearsBack   = 2
)

const intervalSeconds = int64(Interval / time.Second)

// Window is a span of whole quarter hours in UTC: Start is part of it, End is
// not.
type Window struct {
	Start, End time.Time
}

// Len is the number of intervals in the window; 0 when End is not after Start.
func (w Window) Len() int {
	return max(0, int((w.End.Unix()-w.Start.Unix())/intervalSeconds))
}

// At is the start of interval i. Interval i ends where interval i+1 starts.
func (w Window) At(i int) time.Time {
	return w.Start.Add(time.Duration(i) * Interval)
}

// Askable reports whether ResolveWindow can have made the window: whole quarter hours,
// at most MaxWindow and the interval that widening adds to it.
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

// FieldError is one thing wrong with one field of a request.
type FieldError struct {
	Field   string
	Message string
}

// WindowError lists everything that is wrong with a requested window.
type WindowError struct {
	Fields []FieldError
}

// Error joins the messages; each names its field.
func (e *WindowError) Error() string {
	messages := make([]string, len(e.Fields))
	for i, f := range e.Fields {
		messages[i] = f.Message
	}
	return "pricing: invalid window: " + strings.Join(messages, "; ")
}

func (e *WindowError) add(field, message string) {
	e.Fields = append(e.Fields, FieldError{Field: field, Message: message})
}

// ResolveWindow is the window a caller means by start and end at the moment now.
//
// With neither given it is the 24 hours from the start of the current interval,
// which is never refused. Otherwise both must be given, and the window is
// widened outward to whole quarter hours. The bounds hold for the instants as
// asked, so a request of exactly 31 days from the middle of an interval is
// accepted although widening adds one interval to it.
//
// The error is a *WindowError naming every offending field at once.
func ResolveWindow(start, end *time.Time, now time.Time) (Window, error) {
	if start == nil && end == nil {
		from := floorInterval(now)
		return Window{Start: from, End: from.Add(DefaultWindow)}, nil
	}
	problems := &WindowError{}
	switch {
	case end == nil:
		problems.add("endTime", "endTime is required when startTime is given")
	case start == nil:
		problems.add("startTime", "startTime is required when endTime is given")
	default:
		problems.bounds(*start, *end, now)
	}
	if len(problems.Fields) > 0 {
		return Window{}, problems
	}
	return Window{Start: floorInterval(*start), End: ceilInterval(*end)}, nil
}

func (e *WindowError) bounds(start, end, now time.Time) {
	// The limits move with the clock; rounding them outward too lets a caller
	// name the very interval that the limit falls in.
	if start.Before(floorInterval(now.AddDate(-MaxYearsBack, 0, 0))) {
		e.add("startTime", "startTime must be at most 2 years back")
	}
	if !end.After(start) {
		e.add("endTime", "endTime must be after startTime")
	} else if end.Sub(start) > MaxWindow {
		e.add("endTime", "endTime must be at most 31 days after startTime")
	}
	if end.After(ceilInterval(now.Add(MaxWindowAhead))) {
		e.add("endTime", "endTime must be at most 31 days ahead")
	}
}

func floorInterval(t time.Time) time.Time {
	return t.UTC().Truncate(Interval)
}

func ceilInterval(t time.Time) time.Time {
	floor := floorInterval(t)
	if floor.Before(t) {
		return floor.Add(Interval)
	}
	return floor
}
