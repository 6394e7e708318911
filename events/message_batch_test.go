package events

import (
	"strings"
	"testing"
)

// A batch's identifier is a function of its messages and their order, and sorts by time.
func TestBatchID_Stable(t *testing.T) {
	one, two := MessageID("trg_01JZ2E6K8M0000000000000000", "a", "ep"), MessageID("trg_01JZ2E6K8M0000000000000000", "b", "ep")
	id := BatchID([]string{one, two})
	if !strings.HasPrefix(id, "bat_01JZ2E6K8M") || len(id) != len("bat_")+26 || id != BatchID([]string{one, two}) {
		t.Errorf("the identifier is %s", id)
	}
	for _, other := range [][]string{{two, one}, {one}, {one, one}, {one + two}} {
		if BatchID(other) == id {
			t.Errorf("%v have the same identifier", other)
		}
	}
	if got := BatchID([]string{"x"}); !strings.HasPrefix(got, "bat_") {
		t.Errorf("the identifier is %s", got)
	}
}
