// Package eligibility holds facts of US zipcodes: the place, the utilities, the wholesale
// market and the demand-response programs. From these facts it decides whether a home can
// be supported.
//
// The facts are embedded. SOURCES.md names their sources and how they are joined. The
// internal packages contain their types and the generator. The operator corrects the facts
// with Overrides. Callers pass in the EIA ids of the utilities with available rate plans.
//
// The package is pure: it reads no clock, and does no I/O except for the embedded file.
// It may import only package climate, the standard library and the internal packages of
// pricing.
package eligibility

//go:generate go run ./internal/gen
