// Package sandbox runs a whole Gridhook in a temporary folder. It creates an
// organization, real rate plans and homes through Gridhook's API. The demonstration and
// the benchmarks use it.
package sandbox
