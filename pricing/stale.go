package pricing

import (
	"cmp"
	"fmt"
	"math"
	"strings"
)

// A source older than staleAfter is stale, as rates change about once a year. The
// confidence of a stale source starts at staleConfidence and falls as 1/age.
const (
	staleAfter      = 2 * 365.25 // days
	staleConfidence = 0.5
)

// age returns the days from a version's source to the given day. It is 0 if the source's
// date is unknown or later.
func (v *version) age(day int64) float64 {
	if v.Info.SourceDate.IsZero() {
		return 0
	}
	return math.Max(float64(day-v.Info.SourceDate.dayNumber()), 0)
}

func (v *version) stale(day int64) bool { return v.age(day) > staleAfter }

// freshness returns the upper limit of the confidence in a version on a day, rounded down
// to hundredths.
func (v *version) freshness(day int64) float64 {
	if !v.stale(day) {
		return 1
	}
	return math.Floor(100*staleConfidence*staleAfter/v.age(day)) / 100
}

// sourceDoubt describes the age of a version's source with the newer plan, and its caveat.
func (v *version) sourceDoubt(day localDay) string {
	var words []string
	if v.stale(day.number) {
		words = append(words, v.staleness())
	}
	if v.Doubt[day.month] > 0 {
		words = append(words, cmp.Or(v.Info.Caveat, "the tariff's source is in doubt"))
	}
	return strings.Join(words, "; ")
}

// staleness describes the age of a version's source, and names the newer plan.
func (v *version) staleness() string {
	words := fmt.Sprintf("stale: its source is of %v", v.Info.SourceDate)
	if v.Info.Newer != "" {
		words += ", newer is " + v.Info.Newer
	}
	return words
}
