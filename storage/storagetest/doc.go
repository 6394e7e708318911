// Package storagetest provides an in-memory log of record and replica for tests of
// packages that use package storage. It also provides the conformance test, which both
// this pair and the real pair pass.
//
// Only tests import this package.
package storagetest
