package dispatcher

import (
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/signals"
)

// What was given up can be taken up again by hand: the receipt keeps what it was
// made of, so that it is the same message then.

// givenUpOf is what those of the jobs were made of that were given up, one for each
// endpoint and format. What a receipt has no room for is not kept.
func givenUpOf(jobs []job, deliveries []events.Delivery) []events.Kept {
	type group struct {
		endpoint string
		format   storage.SignalFormat
	}
	var order []group
	which := map[group][]int{}
	for i := range jobs {
		if o := deliveries[i].Outcome; o != events.OutcomeFailed && o != events.OutcomeExpired {
			continue
		}
		g := group{jobs[i].endpoint.ID, jobs[i].format}
		if which[g] == nil {
			order = append(order, g)
		}
		which[g] = append(which[g], i)
	}
	var kept []events.Kept
	for _, g := range order {
		k := keptOf(jobs, which[g])
		if k.Fits(kept) {
			kept = append(kept, k)
		}
	}
	return kept
}

// keptOf is what some of the jobs are made of, all of one endpoint and format.
func keptOf(jobs []job, which []int) events.Kept {
	first := &jobs[which[0]]
	k := events.Kept{EndpointID: first.endpoint.ID, Format: first.format, Slice: first.slice}
	places := map[*signals.Curve]int{}
	for _, i := range which {
		s := &jobs[i].signal
		place, ok := places[s.Curve]
		if !ok {
			place = len(k.Curves)
			places[s.Curve] = place
			k.Curves = append(k.Curves, retryCurve(s.Curve, k.Format))
		}
		k.Homes = append(k.Homes, events.RetryHome{HomeID: s.HomeID, Curve: place, Revision: s.Revision})
	}
	return k
}

// abandonedOf is what a retry was made of that has nowhere to go.
func abandonedOf(r *events.Retry) []events.Kept {
	k := events.Kept{EndpointID: r.EndpointID, Format: r.Format, Slice: r.Slice, Homes: r.Homes, Curves: r.Curves}
	if !k.Fits(nil) {
		return nil
	}
	return []events.Kept{k}
}
