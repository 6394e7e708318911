package main

import "testing"

// The failpoints and the planted bugs are changes of the source by its text: whoever
// moves what they change hears of it here, and not from the next run of the harness.
func TestTheChangesFitTheSource(t *testing.T) {
	points, err := failpoints()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range append(plants(), lazySync()) {
		changes := p.changes
		if p.failpoint != "" || p.name == nothing {
			changes = append(points[:len(points):len(points)], changes...)
		}
		if _, err := writeOverlay(t.TempDir(), p.name, changes); err != nil {
			t.Error(err)
		}
	}
}
