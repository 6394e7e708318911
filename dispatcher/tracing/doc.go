// Package tracing makes the spans of the messages that a worker takes from its queues.
// Package send makes the spans of single requests.
//
// tracing may import events.
package tracing
