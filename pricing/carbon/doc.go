// Package carbon holds the carbon dioxide emissions of one more kWh by grid region, month
// and hour. It also holds the cost of these emissions in dollars. SOURCES.md names the
// sources of the figures.
//
// The package may import only the standard library and the internal packages of pricing. The
// figures are embedded; the package does no other I/O.
package carbon

//go:generate go run ./internal/gen
