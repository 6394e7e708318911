// Package market holds wholesale prices of electricity as series by node and market. It
// reads the files of market operators, and forecasts prices beyond the end of a series.
//
// The package does no I/O and reads no clock. It may import only the standard library and the
// internal packages of pricing. Prices are $/kWh, instants are UTC.
package market
