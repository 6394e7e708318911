// Package form is the embedded form of export values.
package form

// Steps is the number of steps in 1 $/kWh.
const Steps = 1e5

// Table holds the export values of one or more vintages.
type Table struct {
	Utility  string
	EIAID    int
	Vintages []string
	// ExactThrough is the last year that is no estimate, 0 if the source names none.
	ExactThrough int
	FirstYear    int
	Years        []Year
}

// Year holds the values of a year by component.
type Year struct{ Generation, Delivery Component }

// Component holds values by month, kind of day (weekday, weekend and holiday) and hour, in
// steps.
type Component [12][2][24]int32
