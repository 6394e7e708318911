// Package feed knows how to ask public sources of electricity prices, and reads their
// responses. Each source has an adapter: a function that makes requests, and a function
// that reads a response.
//
// The package does no I/O, except that it loads time zones, and reads no clock. It may import
// only the standard library, pricing, carbon, market and the internal packages of pricing.
// Prices are $/kWh, instants are UTC.
package feed
