package greenbutton

import (
	"testing"
	"time"
)

func TestTransition(t *testing.T) {
	for _, tt := range []struct {
		rule, want string
	}{
		{"360E2000", "M3.2.0/2:00:00"},           // second Sunday of March
		{"B40E2000", "M11.1.0/2:00:00"},          // first Sunday of November
		{"3e0e1000", "M3.5.0/1:00:00"},           // last Sunday of March
		{"AC0E2000", "M10.5.0/2:00:00"},          // fifth Sunday of October, which POSIX takes as the last
		{"380A1A8C", "M3.3.5/1:45:00"},           // third Friday of March at 1:45, the example of the schema
		{"328E2000", ""},                         // Sunday on or after the 8th
		{"40103000", ""},                         // 1 April
		{"B40E", ""},                             // cut off, as in SCE's sample
		{"FFFFFFFF", ""},                         // disabled
		{"", ""}, {"rule", ""}, {"040E2000", ""}, // no month
		{"36002000", ""}, // no weekday
	} {
		if got, ok := transition(tt.rule); got != tt.want || ok != (tt.want != "") {
			t.Errorf("%s: %q, %v, want %q", tt.rule, got, ok, tt.want)
		}
	}
}

// The clock of North America's rules is that of its time zones since 2007.
func TestClock_MatchesZone(t *testing.T) {
	z, err := time.LoadLocation("America/Los_Angeles")
	if err != nil {
		t.Fatal(err)
	}
	c := newClock(-28800, 3600, "360E2000", "B40E2000")
	if !c.exact {
		t.Fatal("the rules were not read")
	}
	for at := time.Date(2007, 1, 1, 0, 0, 0, 0, time.UTC); at.Year() < 2035; at = at.Add(time.Hour) {
		_, want := at.In(z).Zone()
		if _, got := at.In(c.Location).Zone(); got != want {
			t.Fatalf("%s: %d seconds, want %d", at, got, want)
		}
	}
	if half := newClock(-12600, 3600, "360E2000", "B40E2000"); !half.exact {
		t.Error("Newfoundland's offset was not read")
	} else if _, offset := time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC).In(half.Location).Zone(); offset != -9000 {
		t.Errorf("Newfoundland's summer is at %d seconds, want -9000", offset)
	}
}
