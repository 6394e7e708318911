// Package sandbox is a whole Gridhook in a temporary folder, furnished with an
// organization, real rate plans and homes through its own API. The demonstration
// and the benchmarks stand on it.
package sandbox
