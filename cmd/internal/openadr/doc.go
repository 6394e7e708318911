// Package openadr has a client of the OpenADR interface for developers' commands. Its
// tests check the interface of a whole process from outside: the official document's
// rules for each operation, the requirements of a conformance suite, and the callbacks.
package openadr
