// Package catalog holds real residential rate plans of US utilities. A home can receive a
// plan by utility and name. A few plans come from tariff sheets, with all their versions
// and components. The US catalog has some three hundred rates of the US Utility Rate
// Database. SOURCES.md names each source and its omissions.
//
// The package may import only the standard library and the internal packages of pricing. The
// plans are embedded; the package does no other I/O.
package catalog

//go:generate go run ./internal/gen
