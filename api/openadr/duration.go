package openadr

import (
	"cmp"
	"encoding/json"
	"regexp"
	"strconv"
	"time"

	"github.com/gridhook/gridhook/storage"
)

var durationPart = regexp.MustCompile(`(T)|(\d+(?:\.\d+)?)([YMWDHS])`)

// after adds an ISO 8601 duration to a time. ok is false if the duration is empty,
// invalid or endless.
func after(t time.Time, duration string) (end time.Time, ok bool) {
	const longest = 9999
	clock := false
	for _, part := range durationPart.FindAllStringSubmatch(duration, -1) {
		if part[1] != "" {
			clock = true
			continue
		}
		n, err := strconv.ParseFloat(part[2], 64)
		if err != nil || n > 1e9 || part[3] == "Y" && n >= longest {
			return t, false // P9999Y has no end
		}
		switch unit := part[3]; {
		case unit == "Y":
			t = t.AddDate(int(n), 0, 0)
		case unit == "M" && !clock:
			t = t.AddDate(0, int(n), 0)
		case unit == "W":
			t = t.AddDate(0, 0, 7*int(n))
		case unit == "D":
			t = t.AddDate(0, 0, int(n))
		default:
			t = t.Add(time.Duration(n * float64(map[string]time.Duration{"H": time.Hour, "M": time.Minute, "S": time.Second}[unit])))
		}
		ok = true
	}
	return t, ok
}

// transpired reports whether an event is over. An event without a known end is not over.
func transpired(o *storage.OpenADRObject, now time.Time) bool {
	var e event
	if err := json.Unmarshal(o.Body, &e); err != nil {
		return false
	}
	if e.IntervalPeriod == nil {
		e.IntervalPeriod = &intervalPeriod{}
	}
	start, ok := parseStart(e.IntervalPeriod.Start)
	if e.Duration != "" {
		end, limited := after(start, e.Duration)
		return ok && limited && !end.After(now)
	}
	for _, i := range e.Intervals { // each begins at the end of the last, unless it has its own period
		duration := e.IntervalPeriod.Duration
		if own := i.IntervalPeriod; own != nil {
			duration = cmp.Or(own.Duration, duration)
			if own.Start != "" {
				start, ok = parseStart(own.Start)
			}
		}
		end, limited := after(start, duration)
		if !ok || !limited || end.After(now) {
			return false
		}
		start = end
	}
	return ok && !start.After(now)
}

// parseStart parses the start of a period. ok is false if the period has none. The
// document's zero time stands for none.
func parseStart(text string) (start time.Time, ok bool) {
	start, err := time.Parse(time.RFC3339, text)
	return start, err == nil && start.Year() > 1
}
