// Package netbilling holds the prices that California's utilities pay for exported energy
// under net billing. They are avoided-cost values by year, month, kind of day and hour,
// for each vintage of homes. SOURCES.md names their sources.
//
// The package may import only the standard library and the internal packages of pricing. The
// values are embedded; the package does no other I/O. Values are $/kWh.
package netbilling

//go:generate go run ./internal/gen
