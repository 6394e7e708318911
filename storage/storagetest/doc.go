// Package storagetest has a log of record and a replica in memory, for the tests
// of whatever works with package storage, and the conformance test that the real
// pair and this one pass alike.
//
// It is imported by tests alone.
package storagetest
