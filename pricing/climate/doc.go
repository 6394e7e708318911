// Package climate holds the weather of a typical year in several climates of the
// United States: temperature, humidity, wind and sunshine hour by hour, and
// between the hours in quarter hours.
//
// The years are embedded in a compact form; SOURCES.md names where they come from.
// A typical year is put together of real months of different years: it stands
// for the climate, and never for the weather of a date.
//
// The package is pure: it may import the standard library and its own internal
// packages only, does no I/O beside the embedded files, and reads no clock.
// Temperatures are in degrees Celsius, irradiances in W/m2, winds in m/s.
package climate

//go:generate go run ./internal/gen
