// Package signals connects stored entities to package pricing. The inputs of a home's
// signal are its rate plan with events and market, its solar, its use of energy, its
// place and its time zone. Many homes share a curve. The package caches such curves,
// computed and encoded.
//
// A Reader prices the homes of one view. Errors of one home (*Unpriceable, *HomeError)
// are that home's outcome. Any other error is the store's.
//
// The package may import storage and pricing with its sub-packages.
package signals
