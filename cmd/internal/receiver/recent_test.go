package receiver

import (
	"strconv"
	"testing"
)

// However long it runs, it knows the latest and is bounded.
func TestRecent(t *testing.T) {
	var r recent
	const all = 5*recentAtLeast + 7
	for i := range all {
		if id := strconv.Itoa(i); r.has(id) {
			t.Fatalf("%s is known before it came", id)
		}
		r.add(strconv.Itoa(i))
		if !r.has(strconv.Itoa(max(0, i-recentAtLeast+1))) {
			t.Fatalf("at %d one of the latest is not known", i)
		}
	}
	if n := len(r.young) + len(r.old); n > 2*recentAtLeast || r.has("0") {
		t.Errorf("%d are kept, the first among them %t", n, r.has("0"))
	}
}
