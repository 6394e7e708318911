package compile

import (
	"os"
	"slices"
	"testing"
)

// TestSuccessors_InRegister checks that the register of 2024 has every successor and
// none of the merged utilities.
func TestSuccessors_InRegister(t *testing.T) {
	dir := os.Getenv("GRIDHOOK_TESTDATA")
	if dir == "" {
		t.Skip("GRIDHOOK_TESTDATA is not set: the register is not at hand")
	}
	rows, err := table(dir, "data/geo/eia861_2024_utilities.csv")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for _, line := range rows {
		listed[line["eia_id"]] = true
	}
	for merged, successor := range successors {
		if listed[merged] || !listed[successor] {
			t.Errorf("%s in %s: the register has the first %v, the second %v", merged, successor, listed[merged], listed[successor])
		}
	}
	for county, id := range principals {
		if !listed[id] {
			t.Errorf("%s: the register lacks %s", county, id)
		}
	}
}

func TestCorrectPrograms_Names(t *testing.T) {
	got := correctPrograms([]string{"ComEd Peak Time Savings", "PECO Smart AC Saver", "Con Edison Smart Usage Rewards (BYOT)"})
	if want := []string{"ComEd Peak Time Savings", "Con Edison Smart Usage Rewards"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
