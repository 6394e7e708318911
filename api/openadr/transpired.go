package openadr

import (
	"cmp"
	"encoding/json"
	"time"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/storage"
)

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
		end, limited := pricing.AddDuration(start, e.Duration)
		return ok && limited && !end.After(now)
	}
	if len(e.Intervals) == 0 { // the period is that of one interval
		e.Intervals = []interval{{}}
	}
	for _, i := range e.Intervals { // each begins at the end of the last, unless it has its own period
		duration := e.IntervalPeriod.Duration
		if own := i.IntervalPeriod; own != nil {
			duration = cmp.Or(own.Duration, duration)
			if own.Start != "" {
				start, ok = parseStart(own.Start)
			}
		}
		end, limited := pricing.AddDuration(start, duration)
		if !ok || !limited || end.After(now) {
			return false
		}
		start = end
	}
	return true
}

// parseStart parses the start of a period. ok is false if the period has none. The
// document's zero time stands for none.
func parseStart(text start) (at time.Time, ok bool) {
	at, err := time.Parse(time.RFC3339, string(text))
	return at, err == nil && at.Year() > 1
}
