package main

import (
	"cmp"
	"slices"
	"time"

	"github.com/gridhook/gridhook/events"
)

// evidence is what is known at the end.
type evidence struct {
	asked    []asked
	arrivals []arrival
	finals   map[string]final // by trigger
	// find is the partner of an organization.
	find func(org string) *partner
	// excused is how many repeats the faults account for (I5).
	excused int
	// slack is how long an attempt may be under way, the pauses included (I6).
	slack time.Duration
}

// tally are the figures of a round.
type tally struct {
	Accepted  int `json:"accepted"`
	Lost      int `json:"lost"`      // deliveries that nobody got and nobody answers for
	Expected  int `json:"expected"`  // homes and endpoints of the accepted triggers
	Delivered int `json:"delivered"` // of those, answered 2xx by the receiver
	Duplicate int `json:"duplicate"` // answered 2xx again
	Excused   int `json:"excused"`   // how many of these there may be
	Dead      int `json:"dead"`      // ended visibly without a 2xx
	// Ends are the outcomes of the dead.
	Ends   map[events.Outcome]int `json:"ends"`
	Leaked int                    `json:"leaked"` // another's home, or another's signature
	// Misordered are triggers whose sequence is not above that of one that was
	// accepted before: receivers could not tell which is newer.
	Misordered int `json:"misordered"`
	// Late is what is older than what the home had got already, which receivers
	// tell by its sequence.
	Late int `json:"late"`
}

// place is a trigger's signal of one home for one endpoint.
type place struct{ trigger, home, endpoint string }

// compare holds the ledgers against each other.
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
	for _, a := range e.asked {
		if a.Answer == answerOK {
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

// oneMessage is I2: one webhook-id and one body for each trigger, home and
// endpoint, and no webhook-id for two of them.
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

// leaks is I3: every signature is that of the endpoint's secret, and no home is
// another organization's.
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

// known is I4: every delivery is of a trigger that was accepted, or whose answer
// is not known, and there are no more of the latter than such answers.
func (e *evidence) known(v *violations) {
	accepted, unsure, unknown := map[string]bool{}, map[string]int{}, map[string]map[string]bool{}
	for _, a := range e.asked {
		switch a.Answer {
		case answerOK:
			accepted[a.Trigger] = true
		case answerLost, answerUnavailable:
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
			v.addf("I4", "%d triggers of %s that nobody asked for were delivered; %d requests have no answer", len(triggers), org, unsure[org])
		}
	}
}

// settled is I1 and I9 for one trigger: it is there, and each home that there was
// got a 2xx at each endpoint, or has one visible final outcome.
func (e *evidence) settled(a asked, byPlace map[place][]arrival, t *tally, v *violations) {
	p, f := e.find(a.Org), e.finals[a.Trigger]
	expected := a.Homes.count() * len(p.endpoints)
	t.Expected += expected
	switch {
	case f.err != nil:
		v.addf("I9", "the trigger %s was answered 200 and then %v", a.Trigger, f.err)
	case f.progress.Status != events.TriggerCompleted:
		v.addf("I1", "the trigger %s does not complete: %+v", a.Trigger, f.progress)
	}
	if a.Said != a.Homes.count() {
		v.addf("I1", "the trigger %s was answered with %d homes, and there were %d", a.Trigger, a.Said, a.Homes.count())
	}
	outcomes := e.outcomes(a, p, f, v)
	for i := range a.Homes.UpTo {
		if !a.Homes.has(i) {
			continue
		}
		for _, endpoint := range p.endpoints {
			home := p.homeID(i)
			got := slices.ContainsFunc(byPlace[place{a.Trigger, home, endpoint.name}], answered2xx)
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

// outcomes are what the api says of a trigger's homes; each home must be one that
// there was, with one outcome for each endpoint, or one for all.
func (e *evidence) outcomes(a asked, p *partner, f final, v *violations) map[string][]events.Outcome {
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

func answered2xx(a arrival) bool { return a.Answered >= 200 && a.Answered < 300 }

// duplicates counts what was answered 2xx and came again.
func duplicates(byPlace map[place][]arrival) (n int) {
	for _, list := range byPlace {
		well := 0
		for _, a := range list {
			if answered2xx(a) {
				well++
			}
		}
		n += max(0, well-1)
	}
	return n
}

// misordered is I10: what was accepted later has a higher sequence.
func (e *evidence) misordered(v *violations) (n int) {
	sequence := map[string]uint64{}
	for _, a := range e.arrivals {
		if other, ok := sequence[a.Trigger]; ok && other != a.Sequence {
			n++
			v.addf("I10", "the signals of %s have the sequences %d and %d", a.Trigger, other, a.Sequence)
		}
		sequence[a.Trigger] = a.Sequence
	}
	for _, older := range e.asked {
		for _, newer := range e.asked {
			before, known := sequence[older.Trigger]
			after, alsoKnown := sequence[newer.Trigger]
			if older.Org == newer.Org && known && alsoKnown && newer.Created.After(older.At) && after <= before {
				n++
				v.addf("I10", "%s was accepted after %s and has the sequence %d, not above %d", newer.Trigger, older.Trigger, after, before)
			}
		}
	}
	return n
}

// late counts signals that came for the first time after a newer one.
func (e *evidence) late() (n int) {
	type home struct{ home, endpoint string }
	newest, seen := map[home]uint64{}, map[place]bool{}
	list := slices.Clone(e.arrivals)
	slices.SortStableFunc(list, func(a, b arrival) int { return cmp.Compare(a.At.UnixNano(), b.At.UnixNano()) })
	for _, a := range list {
		at := place{a.Trigger, a.Home, a.Endpoint}
		if !answered2xx(a) || seen[at] {
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

// deadlines is I6: nothing is tried again after its time. A slice that is walked anew
// because a fault took what was known of it tries its homes as for the first time: so
// there may be as many late tries as repeats.
func (e *evidence) deadlines(byPlace map[place][]arrival, v *violations) {
	late := 0
	for _, a := range e.asked {
		if a.Answer != answerOK {
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
