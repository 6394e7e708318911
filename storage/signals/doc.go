// Package signals joins what is stored of a home (its rate plan with the events
// and the market of it, its solar, its use of energy, its place and time zone) to
// what package pricing computes, and keeps the curves that many homes share,
// computed and encoded once.
//
// It may import storage and pricing with its sub-packages.
package signals
