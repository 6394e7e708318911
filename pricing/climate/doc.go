// Package climate holds the weather of a typical year in several climates of the United
// States: temperature, wind and sunshine by hour, interpolated to quarter hours.
//
// Choose finds the typical year for a home, by climate zone, distance and degree days.
// The years are embedded in a compact form; SOURCES.md names their sources. A typical
// year consists of real months of different years. It represents the climate, never the
// weather of a date.
//
// The package is pure: it reads no clock, and does no I/O except for the embedded files.
// It may import only the standard library and the internal packages of pricing.
// Temperatures are in degrees Celsius, irradiances in W/m2, winds in m/s.
package climate

//go:generate go run ./internal/gen
