// Package compile makes the facts of the zipcodes from the tables that
// SOURCES.md names.
//
// It reads the tables from a file system that is given to it, and may import the
// standard library and facts only. It runs when the facts are made, never in the
// service.
package compile
