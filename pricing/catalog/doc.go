// Package catalog holds real residential rate plans of US utilities, so that a
// home can be given one by utility and name: a few read from tariff sheets with
// all their versions and components, and the US catalogue, some three hundred
// rates of the US Utility Rate Database. SOURCES.md names where each comes from
// and what it leaves out. Read takes a file of plans apart for import.
//
// It may import the standard library and its own internal packages only. The
// plans are embedded; it does no other I/O.
package catalog
