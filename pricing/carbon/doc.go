// Package carbon holds how much carbon dioxide one kWh more costs the air, by
// region of the grid, month and hour, and what that is worth in dollars.
// SOURCES.md names where the figures come from.
//
// It may import the standard library only. The figures are embedded; it does no
// other I/O.
package carbon

//go:generate go run ./internal/gen
