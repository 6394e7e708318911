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
	start, ok := e.IntervalPeriod.latestStart()
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
				start, ok = own.latestStart()
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

// latestStart returns the start of a period for the client with the longest random delay. ok
// is false if the period has no start. The document's zero time stands for none.
func (p *intervalPeriod) latestStart() (at time.Time, ok bool) {
	at, err := time.Parse(time.RFC3339, string(p.Start))
	ok = err == nil && at.Year() > 1
	at, _ = pricing.AddDuration(at, p.RandomizeStart) // without one, at stays
	return at, ok
}
