// Package examples runs the receivers of docs/examples, each in its language,
// against a real Gridhook: what every one of them must take, refuse and ignore is
// one list. `.ci/examples` names the ones that have to be built elsewhere.
//
// It has tests only.
package examples
