// Package eligibility answers what is known of a US zipcode: where it is, which
// utilities serve it, in which wholesale market it lies, which demand-response
// programs there are, and so whether a home there can be supported.
//
// The facts are embedded in a compact form; SOURCES.md names where they come from
// and how they were joined. The internal packages hold that form and the program
// that makes it. What the operator knows better is passed in as Overrides, and
// the utilities for which rate plans are at hand as a set of EIA ids.
//
// The package is pure: it may import the standard library and its own internal
// packages only, does no I/O beside the embedded file, and reads no clock.
package eligibility

//go:generate go run ./internal/gen
