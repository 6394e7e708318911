// Package tracing sends the spans of a process to an OpenTelemetry collector, by OTLP
// over HTTP. Making them is the matter of the rooms that they are about, which are
// given a tracer.
package tracing
