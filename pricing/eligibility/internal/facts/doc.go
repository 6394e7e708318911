// Package facts holds the facts of each US zipcode and their compact embedded form.
//
// The form is gzip over one line of JSON with the small tables, followed by the columns
// of the zipcodes. Each value is the zigzag varint of its difference from the previous
// value. Neighboring zipcodes share place and utility, so most differences are 0.
//
// The package may import only the standard library and does no I/O.
package facts
