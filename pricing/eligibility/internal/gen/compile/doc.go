// Package compile builds the facts of the zipcodes from the tables in SOURCES.md.
//
// It reads the tables from a directory, and may import only the standard library, facts,
// climate, pack and plain. Only the generator uses it, never the service.
package compile
