package demo

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/gridhook/gridhook/cmd/internal/receiver"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/pricing/catalog"
)

// PlanReport sums up the webhooks of one rate plan's homes.
type PlanReport struct {
	RatePlanID string `json:"ratePlanId"`
	Utility    string `json:"utility"`
	Name       string `json:"name"`
	Webhooks   int    `json:"webhooks"`
	// Lowest and Highest are the lowest and highest prices of the signals, in $/kWh.
	// CheapestAt is the first time with the lowest price.
	Lowest     float64   `json:"lowest"`
	Highest    float64   `json:"highest"`
	CheapestAt time.Time `json:"cheapestAt"`
}

// arrivals are the verified webhooks in order of arrival.
type arrivals struct {
	mu     sync.Mutex
	events []receiver.Event
}

func (a *arrivals) add(e receiver.Event) error {
	if !e.Verified || e.Repeat {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.events = append(a.events, e)
	return nil
}

// sumUp adds the arrivals to the report.
func (a *arrivals) sumUp(r *Report, accepted time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.events) == 0 {
		return
	}
	prompt := a.events[max(0, len(a.events)-r.Stumbled-1)]
	r.FirstMilliseconds = milliseconds(a.events[0].At.Sub(accepted))
	r.LastMilliseconds = milliseconds(prompt.At.Sub(accepted))
	plans := catalog.Plans()
	r.Plans = make([]PlanReport, len(plans))
	for i, p := range plans {
		r.Plans[i] = PlanReport{RatePlanID: p.ID, Utility: p.Utility, Name: p.Name}
	}
	for _, e := range a.events {
		// The homes rotate over the plans: see sandbox.Furnish.
		var home int
		if _, err := fmt.Sscanf(e.Data.HomeID, "home_%d", &home); err != nil || len(e.Data.Prices) == 0 {
			continue
		}
		r.Plans[home%len(plans)].add(e)
	}
	r.Plans = slices.DeleteFunc(r.Plans, func(p PlanReport) bool { return p.Webhooks == 0 }) // it has no prices
}

func (p *PlanReport) add(e receiver.Event) {
	p.Webhooks++
	lowest := slices.Min(e.Data.Prices)
	p.Lowest, p.Highest = lowest, slices.Max(e.Data.Prices)
	p.CheapestAt = e.Data.StartTime.Add(time.Duration(slices.Index(e.Data.Prices, lowest)) * 15 * time.Minute)
}

// Print writes the report for people, with tabs between columns. It ignores errors of w,
// which a tabwriter shows at its Flush.
func (r *Report) Print(w io.Writer) {
	_, _ = fmt.Fprintln(w, "\n  UTILITY\tRATE PLAN\tWEBHOOKS\tLOWEST\tHIGHEST\t$/kWh\tCHEAPEST FROM\t")
	slices.SortFunc(r.Plans, func(a, b PlanReport) int { return cmp.Compare(a.Utility+a.Name, b.Utility+b.Name) })
	for _, p := range r.Plans {
		_, _ = fmt.Fprintf(w, "  %s\t%s\t%d\t%.5f\t%.5f\t\t%s\t\n", p.Utility, p.Name, p.Webhooks, p.Lowest, p.Highest, p.CheapestAt.UTC().Format("Mon 15:04 UTC"))
	}
	_, _ = fmt.Fprintf(w, `
  %d of %d homes delivered, each once; %d signatures verified, %d refused
  %d got 503 at first and were delivered at a later attempt with the same webhook-id
  first webhook %.1f ms after the trigger was stored, the last first attempt after %.0f ms
`, r.Progress.Outcomes[events.OutcomeDelivered], r.Homes, r.Verified, r.Refused, r.Stumbled, r.FirstMilliseconds, r.LastMilliseconds)
}
