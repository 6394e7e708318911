// Package openadr tests the OpenADR interface of a whole process from outside: the
// official document's rules for each operation, the requirements of a conformance suite,
// and the callbacks. It has tests only.
package openadr
