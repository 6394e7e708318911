package savings

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gridhook/gridhook/pricing"
)

func TestPeriod_OfRequest(t *testing.T) {
	number := func(n int) *int { return &n }
	date := func(s string) *pricing.Date {
		d, err := pricing.ParseDate(s)
		if err != nil {
			t.Fatal(err)
		}
		return &d
	}
	for name, c := range map[string]struct {
		request Request
		want    string // year-month:quarter hours, runs apart by |
	}{
		"the present month":       {Request{Type: Monthly}, "2026-11:2884"},
		"a month to come":         {Request{Type: Monthly, Start: Start{Month: number(12)}}, "2026-12:2976"},
		"a month gone":            {Request{Type: Monthly, Start: Start{Month: number(3)}}, "2027-3:2972"},
		"a leap month":            {Request{Type: Monthly, Start: Start{Date: date("2028-02-01")}}, "2028-2:2784"},
		"a date":                  {Request{Type: Monthly, Start: Start{Date: date("2026-04-20")}}, "2026-4:1056 2026-5:1824"},
		"a date and days":         {Request{Type: Monthly, Start: Start{Date: date("2026-03-08")}, Days: number(1)}, "2026-3:92"},
		"days over the month":     {Request{Type: Monthly, Start: Start{Month: number(12)}, Days: number(32)}, "2026-12:2976 2027-1:96"},
		"a year":                  {Request{Type: Annual, Start: Start{Date: date("2028-01-01")}, Months: []int{2}}, "2028-2:2784"},
		"a year from a date":      {Request{Type: Annual, Start: Start{Date: date("2026-12-16")}, Months: []int{12}}, "2026-12:1536 | 2027-12:1440"},
		"some months of a year":   {Request{Type: Annual, Start: Start{Month: number(12)}, Months: []int{7, 1, 8}}, "2027-1:2976 | 2027-7:2976 2027-8:2976"},
		"days of a year's months": {Request{Type: Annual, Start: Start{Date: date("2026-06-01")}, Days: number(40)}, "2026-6:2880 2026-7:960"},
	} {
		t.Run(name, func(t *testing.T) {
			in := Input{Request: c.request, Location: zoneOf(t, "America/Chicago"), Today: pricing.Date{Year: 2026, Month: time.November, Day: 21}}
			runs, err := in.runs()
			if err != nil {
				t.Fatal(err)
			}
			var words []string
			for i, r := range runs {
				if i > 0 {
					words = append(words, "|")
				}
				steps := warmUp
				for _, m := range r {
					if m.first != steps {
						t.Errorf("%v begins at %d of the run, want %d", m.name, m.first, steps)
					}
					steps += m.count
					words = append(words, fmt.Sprintf("%d-%d:%d", m.year, m.name, m.count))
				}
				if got := warmUp + int(r[len(r)-1].end.Sub(r[0].start)/pricing.Interval); got != steps {
					t.Errorf("the window has %d quarter hours, the months %d", got, steps)
				}
			}
			if got := strings.Join(words, " "); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestPeriod_NoMonthsLeft(t *testing.T) {
	month := 2
	in := Input{
		Request:  Request{Type: Monthly, Start: Start{Month: &month}, Months: []int{7}},
		Location: zoneOf(t, "America/Chicago"), Today: pricing.Date{Year: 2026, Month: 1, Day: 1},
	}
	_, err := in.runs()
	var wrong *pricing.InvalidError
	if !errors.As(err, &wrong) || len(wrong.Fields) != 1 || wrong.Fields[0].Field != "months" {
		t.Errorf("error %v", err)
	}
}

// TestMoment_LocalTime checks that a moment has the day, weekday and quarter hour of
// the standard library's local time, over clock changes in both hemispheres.
func TestMoment_LocalTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{
			"America/Chicago", "America/Phoenix", "Pacific/Honolulu", "Australia/Lord_Howe", "America/Havana", "UTC",
		}).Draw(t, "zone")
		location, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		start := time.Unix(900*rapid.Int64Range(1_600_000, 2_200_000).Draw(t, "start"), 0)
		n := rapid.IntRange(1, 20_000).Draw(t, "n")
		for i, got := range moments(start, n, location) {
			local := start.Add(time.Duration(i) * pricing.Interval).In(location)
			year, month, day := local.Date()
			want := moment{
				day:     int32(time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Unix() / 86400),
				weekday: uint8(local.Weekday()), quarter: uint8((local.Hour()*60 + local.Minute()) / 15),
				week: uint8(min(51, (local.YearDay()-1)/7)),
			}
			if got != want {
				t.Fatalf("%v: %+v, want %+v", local, got, want)
			}
		}
	})
}

func zoneOf(t *testing.T, name string) *time.Location {
	t.Helper()
	location, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return location
}
