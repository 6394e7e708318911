package main

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/gridhook/gridhook/events"
)

// evidence holds the ledgers and the triggers' final states.
type evidence struct {
	triggers []request
	arrivals []arrival
	finals   map[string]final // by trigger
	// find returns the partner of an organization.
	find func(org string) *partner
	// excused is the number of duplicates that the faults account for (I5).
	excused int
	// slack is the longest duration of an attempt, including the pauses (I6).
	slack time.Duration
}

// tally holds the figures of a round.
type tally struct {
	Accepted  int `json:"accepted"`
	Lost      int `json:"lost"`      // deliveries without a 2xx and without a visible outcome
	Expected  int `json:"expected"`  // homes times endpoints of the accepted triggers
	Delivered int `json:"delivered"` // expected deliveries with a 2xx response
	Duplicate int `json:"duplicate"` // deliveries with more than one 2xx response
	Excused   int `json:"excused"`   // maximum of duplicates that the faults account for
	Dead      int `json:"dead"`      // deliveries that ended visibly without a 2xx
	// Ends counts the dead deliveries by outcome.
	Ends   map[events.Outcome]int `json:"ends"`
	Leaked int                    `json:"leaked"` // another organization's home or signature
	// Misordered counts triggers whose sequence is not above an earlier accepted
	// trigger's. Receivers could not tell which trigger is newer.
	Misordered int `json:"misordered"`
	// Late counts signals older than a signal that the home already received. Receivers
	// detect them by their sequence.
	Late int `json:"late"`
}

// place is a trigger's signal of one home for one endpoint.
type place struct{ trigger, home, endpoint string }

// compare compares the ledgers.
func compare(e evidence, v *violations) tally {
	t := tally{Excused: e.excused, Ends: map[events.Outcome]int{}}
	byPlace := map[place][]arrival{}
	for _, a := range e.arrivals {
		at := place{a.Trigger, a.Home, a.Endpoint}
		byPlace[at] = append(byPlace[at], a)
	}
	e.oneMessage(byPlace, v)
	t.Leaked = e.leaks(v)
	e.known(v)
	for _, a := range e.triggers {
		if a.Result == resultOK {
			t.Accepted++
			e.settled(a, byPlace, &t, v)
		}
	}
	t.Duplicate = duplicates(byPlace)
	t.Misordered, t.Late = e.misordered(v), e.late()
	if t.Duplicate > t.Excused {
		v.addf("I5", "%d requests came again, and the faults account for %d", t.Duplicate, t.Excused)
	}
	e.deadlines(byPlace, v)
	return t
}

// oneMessage checks I2: each trigger, home and endpoint has one webhook-id and one body,
// and no two of them share a webhook-id.
func (e *evidence) oneMessage(byPlace map[place][]arrival, v *violations) {
	owner := map[string]place{}
	for at, list := range byPlace {
		for _, a := range list {
			if a.ID != list[0].ID {
				v.addf("I2", "%+v came under the webhook-ids %s and %s", at, list[0].ID, a.ID)
			}
			if a.Body != list[0].Body {
				v.addf("I2", "%+v came with two bodies", at)
			}
		}
		if other, taken := owner[list[0].ID]; taken && other != at {
			v.addf("I2", "%+v and %+v came under one webhook-id", at, other)
		}
		owner[list[0].ID] = at
	}
}

// leaks checks I3: every signature matches the endpoint's secret, and no home belongs to
// another organization.
func (e *evidence) leaks(v *violations) (leaked int) {
	for _, a := range e.arrivals {
		p := e.find(a.Org)
		switch {
		case !a.Verified:
			v.addf("I3", "%s got a request of %s whose signature does not verify", a.Endpoint, a.Home)
		case p == nil || p.homeIndex(a.Home) < 0 || !slices.ContainsFunc(p.endpoints, func(e *endpoint) bool { return e.name == a.Endpoint }):
			v.addf("I3", "%s got the home %q of %q", a.Endpoint, a.Home, a.Org)
		default:
			continue
		}
		leaked++
	}
	return leaked
}

// known checks I4: every delivery belongs to a trigger that was accepted or whose
// response was lost. There are at most as many unknown triggers as lost responses.
func (e *evidence) known(v *violations) {
	accepted, unsure, unknown := map[string]bool{}, map[string]int{}, map[string]map[string]bool{}
	for _, a := range e.triggers {
		switch a.Result {
		case resultOK:
			accepted[a.Trigger] = true
		case resultLost, resultUnavailable:
			unsure[a.Org]++
		}
	}
	for _, a := range e.arrivals {
		if accepted[a.Trigger] {
			continue
		}
		if unknown[a.Org] == nil {
			unknown[a.Org] = map[string]bool{}
		}
		unknown[a.Org][a.Trigger] = true
	}
	for org, triggers := range unknown {
		if len(triggers) > unsure[org] {
			v.addf("I4", "%d triggers of %s without a request were delivered; %d requests have no response", len(triggers), org, unsure[org])
		}
	}
}

// settled checks I1 and I9 for one trigger: the trigger exists, and each of its homes has
// a 2xx or one visible final outcome at each endpoint.
func (e *evidence) settled(a request, byPlace map[place][]arrival, t *tally, v *violations) {
	p, f := e.find(a.Org), e.finals[a.Trigger]
	if errors.Is(f.err, errNoNotification) && e.overwritten(a) {
		return
	}
	expected := a.Homes.count() * len(p.endpoints)
	t.Expected += expected
	switch {
	case f.err != nil:
		v.addf("I9", "the trigger %s got 200 and then %v", a.Trigger, f.err)
	case f.progress.Status != events.TriggerCompleted:
		v.addf("I1", "the trigger %s does not complete: %+v", a.Trigger, f.progress)
	}
	if a.Said != a.Homes.count() {
		v.addf("I1", "the trigger %s got with %d homes, and there were %d", a.Trigger, a.Said, a.Homes.count())
	}
	outcomes := e.outcomes(a, p, f, v)
	for i := range a.Homes.UpTo {
		if !a.Homes.has(i) {
			continue
		}
		for _, endpoint := range p.endpoints {
			home := p.homeID(i)
			got := slices.ContainsFunc(byPlace[place{a.Trigger, home, endpoint.name}], acknowledged)
			outcome, visible, end := outcomes[home], false, events.Outcome("")
			for _, o := range outcome {
				if o.Final() && o != events.OutcomeDelivered {
					visible, end = true, o
				}
			}
			switch {
			case got:
				t.Delivered++
			case visible:
				t.Dead++
				t.Ends[end]++
			default:
				t.Lost++
				v.addf("I1", "lost: %s of the trigger %s for %s; the api says %v", home, a.Trigger, endpoint.name, outcome)
			}
		}
	}
}

// outcomes returns the outcomes that the api reports for a trigger's homes. Each home
// must belong to the trigger, with one outcome for each endpoint or one for all.
func (e *evidence) outcomes(a request, p *partner, f final, v *violations) map[string][]events.Outcome {
	outcomes := map[string][]events.Outcome{}
	seen := map[place]bool{}
	for _, d := range f.deliveries {
		at := place{a.Trigger, d.HomeID, d.EndpointID}
		if seen[at] {
			v.addf("I1", "%+v has two outcomes", at)
		}
		seen[at] = true
		if !a.Homes.has(p.homeIndex(d.HomeID)) {
			v.addf("I1", "the trigger %s walked %s, which did not exist", a.Trigger, d.HomeID)
		}
		outcomes[d.HomeID] = append(outcomes[d.HomeID], d.Outcome)
	}
	for home, list := range outcomes {
		if len(list) != len(p.endpoints) && list[0] != events.OutcomeUnpriceable {
			v.addf("I1", "the trigger %s has the outcomes %v for %s", a.Trigger, list, home)
		}
	}
	return outcomes
}

func acknowledged(a arrival) bool { return a.Answered >= 200 && a.Answered < 300 }

// duplicates counts deliveries that had a 2xx response and arrived again.
func duplicates(byPlace map[place][]arrival) (n int) {
	for _, list := range byPlace {
		well := 0
		for _, a := range list {
			if acknowledged(a) {
				well++
			}
		}
		n += max(0, well-1)
	}
	return n
}

// misordered checks I10: a trigger accepted later has a higher sequence.
func (e *evidence) misordered(v *violations) (n int) {
	sequence := map[string]uint64{}
	for _, a := range e.arrivals {
		if other, ok := sequence[a.Trigger]; ok && other != a.Sequence {
			n++
			v.addf("I10", "the signals of %s have the sequences %d and %d", a.Trigger, other, a.Sequence)
		}
		sequence[a.Trigger] = a.Sequence
	}
	for _, older := range e.triggers {
		for _, newer := range e.triggers {
			before, known := sequence[older.Trigger]
			after, alsoKnown := sequence[newer.Trigger]
			if older.Org == newer.Org && known && alsoKnown && older.Result == resultOK && newer.Created.After(older.At) && after <= before {
				n++
				v.addf("I10", "%s was accepted after %s and has the sequence %d, not above %d", newer.Trigger, older.Trigger, after, before)
			}
		}
	}
	return n
}

// late counts signals that first arrived after a newer signal.
func (e *evidence) late() (n int) {
	type home struct{ home, endpoint string }
	newest, seen := map[home]uint64{}, map[place]bool{}
	list := slices.Clone(e.arrivals)
	slices.SortStableFunc(list, func(a, b arrival) int { return cmp.Compare(a.At.UnixNano(), b.At.UnixNano()) })
	for _, a := range list {
		at := place{a.Trigger, a.Home, a.Endpoint}
		if !acknowledged(a) || seen[at] {
			continue
		}
		seen[at] = true
		h := home{a.Home, a.Endpoint}
		if a.Sequence < newest[h] {
			n++
		}
		newest[h] = max(newest[h], a.Sequence)
	}
	return n
}

// deadlines checks I6: no delivery is retried after its deadline. If a fault loses a
// slice's progress, the worker repeats the walk and treats each home as a first attempt.
// The check therefore allows as many late attempts as excused duplicates.
func (e *evidence) deadlines(byPlace map[place][]arrival, v *violations) {
	late := 0
	for _, a := range e.triggers {
		if a.Result != resultOK {
			continue
		}
		p := e.find(a.Org)
		for _, endpoint := range p.endpoints {
			end := a.Created.Add(min(endpoint.giveUp, window))
			for i := range a.Homes.UpTo {
				list := byPlace[place{a.Trigger, p.homeID(i), endpoint.name}]
				if n := len(list); n > 1 && list[n-1].At.After(end.Add(e.slack)) {
					if late++; late > e.excused {
						v.addf("I6", "%s of %s was tried %s after its time", p.homeID(i), a.Trigger, list[n-1].At.Sub(end))
					}
				}
			}
		}
	}
}
