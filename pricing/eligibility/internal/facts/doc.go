// Package facts holds what is known of each US zipcode and the compact form in
// which it is embedded.
//
// The form is gzip over one line of JSON with the small tables, then the columns
// of the zipcodes one after another, each value as the zigzag varint of its
// difference from the one before. Neighbouring zipcodes share place and utility,
// so most differences are 0.
//
// It may import the standard library only and does no I/O of its own.
package facts
