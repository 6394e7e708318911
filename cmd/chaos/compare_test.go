package main

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/gridhook/gridhook/events"
)

var noon = time.Date(2026, time.July, 1, 12, 0, 0, 0, time.UTC)

// wellDone is the evidence of two partners' triggers without a fault: acme's two homes at
// two endpoints, and one of bravo's at one.
func wellDone() evidence {
	acme := &partner{org: "acme", endpoints: []*endpoint{{org: "acme", name: "acme/1", giveUp: time.Hour}, {org: "acme", name: "acme/2", giveUp: time.Hour}}}
	bravo := &partner{org: "bravo", endpoints: []*endpoint{{org: "bravo", name: "bravo/1", giveUp: time.Hour}}}
	e := evidence{
		triggers: []request{
			{At: noon, Org: "acme", Result: resultOK, Trigger: "trg_1", Created: noon, Homes: homeSet{UpTo: 3, Gone: []int{1}}, Said: 2},
			{At: noon, Org: "bravo", Result: resultOK, Trigger: "trg_2", Created: noon, Homes: homeSet{UpTo: 1}, Said: 1},
			{Org: "bravo", Result: resultLost},
		},
		finals: map[string]final{},
		slack:  time.Minute,
		find: func(org string) *partner {
			return map[string]*partner{"acme": acme, "bravo": bravo}[org]
		},
	}
	for _, a := range e.triggers[:2] {
		p := e.find(a.Org)
		f := final{progress: events.Progress{Status: events.TriggerCompleted}}
		for i := range a.Homes.UpTo {
			if !a.Homes.has(i) {
				continue
			}
			for _, endpoint := range p.endpoints {
				id := fmt.Sprint(a.Trigger, i, endpoint.name)
				e.arrivals = append(e.arrivals, arrival{
					At: noon, Endpoint: endpoint.name, ID: id, Body: "b" + p.homeID(i), Trigger: a.Trigger, Org: a.Org, Home: p.homeID(i),
					Sequence: 1, Verified: true, Answered: 200,
				})
				f.deliveries = append(f.deliveries, events.Delivery{HomeID: p.homeID(i), EndpointID: "ep_" + endpoint.name, Outcome: events.OutcomeDelivered})
			}
		}
		e.finals[a.Trigger] = f
	}
	return e
}

func TestCompare(t *testing.T) {
	atEnd := func(e *evidence, trigger string, change func(*final)) {
		f := e.finals[trigger]
		change(&f)
		e.finals[trigger] = f
	}
	again := func(e *evidence, change func(*arrival)) {
		a := e.arrivals[0]
		change(&a)
		e.arrivals = append(e.arrivals, a)
	}
	cases := []struct {
		name   string
		change func(*evidence)
		want   []string // the violated invariants
	}{
		{"all is well", func(*evidence) {}, nil},
		{"a home that nobody got", func(e *evidence) { e.arrivals = e.arrivals[1:] }, []string{"I1"}},
		{"a home that was given up visibly", func(e *evidence) {
			e.arrivals = e.arrivals[1:]
			atEnd(e, "trg_1", func(f *final) { f.deliveries[0].Outcome = events.OutcomeExpired })
		}, nil},
		{"a home without an outcome", func(e *evidence) {
			atEnd(e, "trg_1", func(f *final) { f.deliveries = f.deliveries[1:] })
		}, []string{"I1"}},
		{"two outcomes", func(e *evidence) {
			atEnd(e, "trg_1", func(f *final) { f.deliveries = append(f.deliveries, f.deliveries[0]) })
		}, []string{"I1", "I1"}},
		{"a home that was gone", func(e *evidence) {
			atEnd(e, "trg_1", func(f *final) { f.deliveries[0].HomeID = "acme_00001" })
		}, []string{"I1", "I1", "I1"}},
		{"a trigger that does not end", func(e *evidence) {
			atEnd(e, "trg_1", func(f *final) { f.progress.Status = events.TriggerRunning })
		}, []string{"I1"}},
		{"a trigger that is not there", func(e *evidence) {
			atEnd(e, "trg_1", func(f *final) { f.err = fmt.Errorf("not found") })
		}, []string{"I9"}},
		{"a wrong number of homes", func(e *evidence) { e.triggers[0].Said = 3 }, []string{"I1"}},
		{"a second webhook-id", func(e *evidence) { again(e, func(a *arrival) { a.ID, a.Answered = "other", 0 }) }, []string{"I2"}},
		{"a second body", func(e *evidence) { again(e, func(a *arrival) { a.Body, a.Answered = "other", 0 }) }, []string{"I2"}},
		{"a webhook-id that is another's", func(e *evidence) { e.arrivals[1].ID = e.arrivals[0].ID }, []string{"I2"}},
		{"a wrong signature", func(e *evidence) { e.arrivals[0].Verified = false }, []string{"I3"}},
		{"another's home", func(e *evidence) { e.arrivals[0].Endpoint = "bravo/1" }, []string{"I1", "I3"}},
		{"a trigger whose response was lost", func(e *evidence) {
			again(e, func(a *arrival) {
				a.Trigger, a.ID, a.Org, a.Home, a.Endpoint = "trg_3", "x", "bravo", "bravo_00000", "bravo/1"
			})
		}, nil},
		{"a trigger without a request", func(e *evidence) { again(e, func(a *arrival) { a.Trigger, a.ID = "trg_3", "x" }) }, []string{"I4"}},
		{"a repeat that nothing accounts for", func(e *evidence) { again(e, func(*arrival) {}) }, []string{"I5"}},
		{"a repeat after a kill", func(e *evidence) { again(e, func(*arrival) {}); e.excused = 1 }, nil},
		{"two sequences of one trigger", func(e *evidence) { e.arrivals[0].Sequence = 7 }, []string{"I10"}},
		{"a try after the deadline", func(e *evidence) {
			again(e, func(a *arrival) { a.At, a.Answered = noon.Add(2*time.Hour), 500 })
		}, []string{"I6"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			e, v := wellDone(), &violations{}
			c.change(&e)
			tally := compare(e, v)
			var got []string
			for _, broken := range v.all() {
				got = append(got, broken.Invariant)
			}
			slices.Sort(got)
			if !slices.Equal(got, c.want) {
				t.Errorf("violated %v, want %v; %+v", v.all(), c.want, tally)
			}
			if tally.Expected != 5 {
				t.Errorf("%d were expected, want 5", tally.Expected)
			}
		})
	}
}

func TestCompare_Misordered(t *testing.T) {
	for _, c := range []struct {
		sequence uint64
		created  time.Time
		want     int
	}{
		{2, noon.Add(time.Minute), 0},
		{1, noon.Add(time.Minute), 1},
		{1, noon, 0}, // arrivals at the same time have no order
	} {
		e := wellDone()
		newer := e.arrivals[0]
		newer.Sequence, newer.Trigger = c.sequence, "trg_3"
		e.arrivals = append(e.arrivals, newer)
		e.triggers = append(e.triggers, request{At: c.created, Created: c.created, Org: "acme", Result: resultOK, Trigger: "trg_3"})
		if n := e.misordered(&violations{}); n != c.want {
			t.Errorf("%+v: %d are misordered", c, n)
		}
	}
}

func TestCompare_Late(t *testing.T) {
	e := wellDone()
	newer := e.arrivals[0]
	newer.At, newer.Sequence, newer.Trigger = noon.Add(-time.Minute), 2, "trg_3"
	e.arrivals = append(e.arrivals, newer)
	if n := e.late(); n != 1 {
		t.Errorf("%d are late, want 1", n)
	}
}

func TestHomeSet(t *testing.T) {
	h := homeSet{UpTo: 3}
	h = h.without(1).with(3).without(0)
	for i, want := range []bool{false, false, true, true, false} {
		if h.has(i) != want {
			t.Errorf("home %d is in the set: %v", i, !want)
		}
	}
	if h.count() != 2 || h.has(-1) {
		t.Errorf("%+v counts %d", h, h.count())
	}
}

func TestFaults_Topology(t *testing.T) {
	for _, topology := range []topology{serve, fleet, cluster} {
		if n := len(tableOf(topology)); n < 5 {
			t.Errorf("%s has %d faults", topology, n)
		}
	}
	if share(25, 0, 3)+share(25, 1, 3)+share(25, 2, 3) != 25 {
		t.Error("the shares do not add up to the whole")
	}
}
