// Package market holds wholesale prices of electricity: series by node and
// market, read from what market operators publish, and a forecast where a series
// ends.
//
// It may import the standard library only, does no I/O and reads no clock. Prices
// are $/kWh, instants are UTC.
package market
