// Package regime finds the rules that settle the solar of a home. It selects net metering
// or net billing by state, utility and the day of the interconnection application. It
// covers the statutes and the commissions' orders in SOURCES.md. All other cases are
// "unknown".
//
// The package may import only pricing and the standard library.
package regime
