package config

import (
	"net/url"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// traceSettings are of the traces that are made for OpenTelemetry.
func traceSettings() []Setting {
	return []Setting{
		{
			Name: "trace-endpoint", Roles: everywhere, secret: true, shown: withoutPassword,
			Help:  "the OpenTelemetry collector that traces are sent to by OTLP over HTTP, such as http://127.0.0.1:4318; by default none are made",
			field: func(c *Config) any { return &c.Traces.Endpoint }, check: func(c *Config) string { return collector(c.Traces.Endpoint) },
		},
		{
			Name: "trace-headers", Roles: everywhere, secret: true, shown: masked,
			Help:  "the headers that the collector wants, as name=value with commas between them",
			field: func(c *Config) any { return &c.Traces.Headers }, check: func(c *Config) string { return headerList(c.Traces.Headers) },
		},
		{
			Name: "trace-sample", Default: "1", Roles: everywhere,
			Help:  "the share of traces that is recorded, from 0 to 1; a caller that sends a traceparent decides for its own",
			field: func(c *Config) any { return &c.Traces.Sample }, check: func(c *Config) string { return share(c.Traces.Sample) },
		},
		{
			Name: "trace-requests", Default: "1", Roles: delivering,
			Help:  "how many webhook requests of each 64 homes, and to one endpoint, have a span of their own; the others say in their traceparent that they have none",
			field: func(c *Config) any { return &c.Traces.Requests }, check: func(c *Config) string { return tracedRequests(c.Traces.Requests) },
		},
	}
}

func collector(s string) string {
	u, err := url.Parse(s)
	if s != "" && (err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https") {
		return "must be an http or https URL, such as http://127.0.0.1:4318"
	}
	return ""
}

func headerList(s string) string {
	for name, value := range HeaderPairs(s) {
		if !httpguts.ValidHeaderFieldName(name) || value == "" || !httpguts.ValidHeaderFieldValue(value) {
			return "must be headers such as authorization=secret, with commas between them"
		}
	}
	return ""
}

// HeaderPairs are the headers of a list of name=value with commas between them.
func HeaderPairs(list string) map[string]string {
	pairs := map[string]string{}
	for part := range strings.SplitSeq(list, ",") {
		if part = strings.TrimSpace(part); part != "" {
			name, value, _ := strings.Cut(part, "=")
			pairs[strings.TrimSpace(name)] = strings.TrimSpace(value)
		}
	}
	return pairs
}

func share(f float64) string {
	if f < 0 || f > 1 {
		return "must be from 0 to 1"
	}
	return ""
}

func tracedRequests(n int) string {
	if n < 0 || n > 64 {
		return "must be from 0 to 64"
	}
	return ""
}
