// Package pricing calculates the price curve of a home from a published electricity
// tariff. The curve holds the cost or earnings of one kWh in each quarter hour of a
// window.
//
// The package contains:
//
//   - the window, a grid of quarter hours
//   - the tariff with its versions, which package urdb reads from documents
//   - holidays, tiers by usage, riders, events and prices that follow a market
//   - the walk along the home's local wall clock
//   - the export compensation and the expected price
//   - the curve with its run-length form, and the reasons for each interval
//   - the JSON encoding of the price signal
//
// docs/pricing.md has the formulas and their sources.
//
// The package is pure: it does no I/O, reads no clock and keeps no state. The same inputs
// give the same bytes on every machine. Callers pass in time zones and the present
// moment. The package may import only the standard library and its sub-packages
// netbilling, market, solar and carbon. The other packages, such as urdb, bill and
// catalog, may import pricing.
//
// All money is US dollars, all rates are $/kWh, all instants are UTC.
package pricing
