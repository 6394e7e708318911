package app

import (
	"strings"
	"testing"
	"time"
)

// TestHealth_FirstInspection checks that a process whose first inspection of NATS failed does not
// report the time since the year 1.
func TestHealth_FirstInspection(t *testing.T) {
	var h health
	h.phase.Store("running")
	if reason := h.problem(time.Now()); !strings.HasPrefix(reason, "NATS has not responded to the first inspection") {
		t.Errorf("the reason is %q", reason)
	}
}
