// Package telemetry sends the spans, metrics and log records of a process to an
// OpenTelemetry collector by OTLP, over HTTP or gRPC. Other packages receive a tracer and a
// logger, and know nothing of the collector.
package telemetry
