package jetstream

import (
	"fmt"
	"slices"
	"testing"
)

// TestLine_Repeats checks which messages a line holds when a consumer that begins again sends
// earlier ones: the first unhandled change stays unacknowledged.
func TestLine_Repeats(t *testing.T) {
	var done []string
	at := func(sequence uint64) *place {
		did := func(what string) func() { return func() { done = append(done, fmt.Sprint(what, sequence)) } }
		return &place{sequence, did("acknowledged "), did("freed ")}
	}
	x := &line{held: at(7), first: 7, last: 7}
	for _, step := range []struct {
		sequence   uint64
		held, next uint64
		done       string
		back       bool
	}{
		{9, 7, 9, "", false},
		{11, 7, 9, "acknowledged 11", false}, // the log has it
		{5, 5, 9, "acknowledged 7", true},    // came late
		{5, 5, 9, "freed 5", true},
		{6, 5, 9, "acknowledged 6", true},
		{7, 5, 9, "acknowledged 7", true},
		{9, 5, 9, "freed 9", true},
		{11, 5, 9, "acknowledged 11", true},
	} {
		done = nil
		x.add(at(step.sequence))
		want := slices.DeleteFunc([]string{step.done}, func(s string) bool { return s == "" })
		if x.held.sequence != step.held || x.next.sequence != step.next || x.back != step.back || x.last != max(step.sequence, x.last) || !slices.Equal(done, want) {
			t.Errorf("after %d: it holds %d and %d, goes back: %v, did %v; want %d, %d, %v, %v", step.sequence, x.held.sequence, x.next.sequence, x.back, done, step.held, step.next, step.back, want)
		}
	}
	if x.first != 5 || x.last != 11 {
		t.Errorf("it reaches from %d to %d", x.first, x.last)
	}
}
