package app

import (
	"strings"
	"testing"
)

// A process accepts nothing between a reconnect and the next comparison, and nothing more once
// the log was shorter than its replica twice in a row.
func TestComparison_Refusal(t *testing.T) {
	const compares, lost = "not yet compared", "has lost records"
	var c comparison
	for i, step := range []struct {
		compare                    bool
		last, revision, reconnects uint64
		want                       string // after the step
	}{
		{false, 0, 0, 0, ""}, // the start writes
		{false, 0, 0, 1, ""},
		{true, 5, 5, 1, ""},
		{false, 0, 0, 2, compares},
		{true, 0, 5, 2, compares}, // the log did not respond
		{true, 6, 5, 2, ""},
		{true, 4, 6, 2, ""}, // a leader that lags
		{true, 6, 6, 2, ""},
		{true, 4, 6, 3, compares},
		{true, 4, 6, 3, lost},
		{true, 7, 6, 3, lost}, // other processes write on
	} {
		if step.compare {
			c.compare(step.last, step.revision, step.reconnects)
		}
		if got := c.refusal(step.reconnects); (got == "") != (step.want == "") || !strings.Contains(got, step.want) {
			t.Fatalf("step %d: the refusal is %q, want %q", i, got, step.want)
		}
	}
}
