// Package pricing turns a published electricity tariff into the price curve of
// a home: what one kWh costs or earns in each quarter hour of a window.
//
// It holds the window (the quarter-hour grid), the tariff with its versions and
// its reading from the US Utility Rate Database's JSON, holidays, tiers by usage,
// riders, events and prices that follow a market, the walk along the home's local
// wall clock, the export compensation, the expected price, the curve with its
// run-length form, the reasons for each interval, and the JSON encoding of the
// price signal. docs/pricing.md has the formulas and their sources.
//
// The package is pure: it does no I/O, reads no clock and keeps no state, so the
// same inputs give the same bytes on every machine. It may import the standard
// library and its sub-packages netbilling, market, solar and carbon only; bill,
// catalog and the others import it or stand beside it. Time zones and the present
// moment are passed in.
//
// All money is US dollars, all rates are $/kWh, all instants are UTC.
package pricing
