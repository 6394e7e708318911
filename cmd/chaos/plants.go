package main

// plant is a bug that the harness must find.
type plant struct {
	name string
	// failpoints activate the bug in a build with failpoints, in the form of
	// blackbox.FailpointEnv.
	failpoints string
	// visits is part of the names of the failpoints whose visits reveal the bug. Random
	// kills seldom reveal such a bug.
	visits string
	// powerCuts says that only power cuts reveal the bug, not kills.
	powerCuts bool
	// only is part of the names of the faults that reveal the bug.
	only string
	// cycles is the number of faults that usually reveals the bug.
	cycles int
	// breaks are the invariants that the bug breaks. The harness must find at least one
	// of them broken.
	breaks []string
}

const nothing = "nothing"

// plants returns the bugs. The first plant has no bug, and the harness must find nothing
// in it.
func plants() []plant {
	return []plant{
		{name: nothing, cycles: 6, only: "killed"},
		{name: "ack-before-post", failpoints: "bugAckFirst=return", visits: "again", breaks: []string{"I1"}},
		{name: "answer-before-ack", failpoints: "bugAnswerFirst=return", cycles: 6, only: "killed", breaks: []string{"I1", "I9"}},
		{name: "random-webhook-id", failpoints: `bugRandomID=50.0%return("salt")`, cycles: 6, only: "killed", breaks: []string{"I2"}},
		{name: "body-not-signed", failpoints: "bugUnsignedBody=return", cycles: 1, only: "killed", breaks: []string{"I3"}},
		{name: "cursor-before-apply", failpoints: "bugCursorFirst=return;applyBefore=sleep(1000)", cycles: 6, only: "killed", breaks: []string{"I1", "I7"}},
		{name: "lazy-sync", failpoints: "bugLazySync=return", powerCuts: true, cycles: 3, breaks: []string{"I0", "I1", "I9"}},
	}
}
