// Package netbilling holds what California's utilities pay for exported energy
// under net billing: avoided-cost values by year, month, kind of day and hour,
// for each vintage of homes. SOURCES.md names where they come from.
//
// It may import the standard library and its own internal packages only. The
// values are embedded; it does no other I/O. Values are $/kWh.
package netbilling

//go:generate go run ./internal/gen
