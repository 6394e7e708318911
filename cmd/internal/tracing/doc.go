// Package tracing sends the spans of a process to an OpenTelemetry collector by OTLP over
// HTTP. Other packages receive a tracer and create the spans.
package tracing
