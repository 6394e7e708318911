// Package urdb reads tariffs in the JSON of the US Utility Rate Database. Parse converts
// a document to a pricing.Tariff, or names all problems of the document. Package pricing
// is independent of this format.
//
// The package may import only pricing with its sub-packages, and the standard library.
package urdb
