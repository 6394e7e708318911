package main

import (
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/gridhook/gridhook/cmd/internal/blackbox"
)

// promised are the failpoints that cmd/internal/promise uses.
const promised = "bugPricePanic"

// The failpoints of the source are the ones that the harness and the tests of the
// promises know, and they compile.
func TestFailpoints_InSource(t *testing.T) {
	overlay, found, err := blackbox.EnableFailpoints(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	folders := slices.Sorted(maps.Keys(found))
	args := append([]string{"build", "-overlay", overlay}, folders...)
	if out, err := exec.CommandContext(t.Context(), "go", args...).CombinedOutput(); err != nil {
		t.Errorf("they do not compile: %v\n%s", err, out)
	}
	known := map[string]bool{promised: true}
	for _, v := range visits() {
		known[v.point] = true
	}
	for _, p := range plants() {
		for term := range strings.SplitSeq(p.failpoints, ";") {
			if name, _, some := strings.Cut(term, "="); some {
				known[name] = true
			}
		}
	}
	names := slices.Concat(slices.Collect(maps.Values(found))...)
	slices.Sort(names)
	if want := slices.Sorted(maps.Keys(known)); !slices.Equal(names, want) {
		t.Errorf("the source has %v, the harness knows %v", names, want)
	}
}
