// Package examples runs the receivers of docs/examples, each in its language, against a
// real Gridhook. One list defines the requests that every receiver must accept, refuse or
// ignore. `.ci/examples` names the receivers that must be built elsewhere.
//
// It has tests only.
package examples
