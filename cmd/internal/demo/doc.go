// Package demo demonstrates Gridhook's main function: homes on real tariffs, a receiver
// that verifies, one trigger, and a table of the results.
package demo
