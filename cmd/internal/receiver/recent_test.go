package receiver

import (
	"strconv"
	"testing"
)

// However long it runs, it knows the latest entries and stays bounded.
func TestRecent(t *testing.T) {
	var r recent
	const all = 5*recentAtLeast + 7
	for i := range all {
		if id := strconv.Itoa(i); r.has(id) {
			t.Fatalf("%s is known before it was added", id)
		}
		r.add(strconv.Itoa(i))
		if !r.has(strconv.Itoa(max(0, i-recentAtLeast+1))) {
			t.Fatalf("at %d a recent entry is missing", i)
		}
	}
	if n := len(r.young) + len(r.old); n > 2*recentAtLeast || r.has("0") {
		t.Errorf("%d entries, the first among them: %t", n, r.has("0"))
	}
}
