package netbilling

import (
	"fmt"
	"slices"
)

// firstVintage is the year of the first applications under net billing. CPUC decision
// D.22-12-056.
const firstVintage = 2023

// floating is the vintage of homes without locked-in values. It has no year.
const floating = "NBT00"

// Vintage is a choice of export values by the year of a home's application for
// interconnection. The utility locks the values of that year in for nine years.
type Vintage struct {
	*Values
	// First and Last are the years in which the home may have applied. Last is 0 if no
	// vintage is possible.
	First, Last int
	// Certain reports whether the home has these values in every possible year.
	Certain bool
}

// Vintage returns the values for a home that applied in one of the years from first to
// last. Both are 0 if nothing is known. Vintage uses the values of the last year, or else
// the newest earlier values, or else v. Floating values stay, as their homes have no vintage.
func (v *Values) Vintage(first, last int) Vintage {
	chosen := Vintage{Values: v}
	switch {
	case slices.Contains(v.table.Vintages, floating):
		chosen.Certain = true
		return chosen
	case last < firstVintage:
		return chosen
	}
	chosen.First, chosen.Last = max(first, firstVintage), last
	for year := last; year >= firstVintage; year-- {
		if found := v.ofYear(year); found != nil {
			chosen.Values = found
			break
		}
	}
	chosen.Certain = true
	for year := chosen.First; year <= last; year++ {
		of := v.ofYear(year)
		chosen.Certain = chosen.Certain && of != nil && of.series == chosen.series
	}
	if v.only != "" {
		chosen.Values = chosen.Only(v.only)
	}
	return chosen
}

// Doubt says which values the home may have and which are used. It is empty if the
// vintage is certain.
func (c *Vintage) Doubt() string {
	switch {
	case c.Values == nil || c.Certain:
		return ""
	case c.Last == 0:
		return fmt.Sprintf("the home's vintage of export values is not known: %v is assumed", c.Values)
	case c.First == c.Last:
		return fmt.Sprintf("the export values %s of the home's vintage are not available: %v is used", c.name(c.Last), c.Values)
	}
	return fmt.Sprintf("the home's vintage of export values is one of %s to %s: %v is used", c.name(c.First), c.name(c.Last), c.Values)
}

// name returns the name of a year's values, known or not.
func (v *Values) name(year int) string { return v.table.Utility + " " + vintageOf(year) }

func vintageOf(year int) string { return fmt.Sprintf("NBT%02d", year%100) }

// ofYear returns the utility's values for applications of a year, or nil.
func (v *Values) ofYear(year int) *Values {
	if year%100 == 0 {
		return nil // its name would be that of the floating values
	}
	name := vintageOf(year)
	for _, other := range all() {
		if other.table.EIAID == v.table.EIAID && slices.Contains(other.table.Vintages, name) {
			return other
		}
	}
	return nil
}

// sameAs reports whether two tables of a utility have the same values in all common years.
func (v *Values) sameAs(other *Values) bool {
	if v.table.EIAID != other.table.EIAID {
		return false
	}
	from := max(v.table.FirstYear, other.table.FirstYear)
	to := min(v.table.FirstYear+len(v.table.Years), other.table.FirstYear+len(other.table.Years))
	for year := from; year < to; year++ {
		if v.table.Years[year-v.table.FirstYear] != other.table.Years[year-other.table.FirstYear] {
			return false
		}
	}
	return from < to
}
