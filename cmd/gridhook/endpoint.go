package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

func newEndpointCommand(g *globals) *cobra.Command {
	r := resource[client.Endpoint]{
		g: g, noun: "endpoint", plural: "endpoints", path: "/v1/webhook/endpoints", scope: g.forOrg, show: showEndpoint,
		columns: []any{"ID", "URL", "ENABLED", "MODE", "EVENTS", "HEALTH", "BREAKER"}, more: []any{"FORMAT", "BATCH", "RATE LIMIT", "TIMEOUT", "DESCRIPTION"},
		cells: func(e client.Endpoint) []any {
			return []any{
				e.ID, e.URL, e.Enabled, e.DeliveryMode, eventList(e), or(string(e.Health.State)), or(string(e.Breaker.State)),
				or(string(e.Format)), e.BatchSize, e.RateLimit, fmt.Sprintf("%g s", e.TimeoutSeconds), or(e.Description),
			}
		},
	}
	const example = "  gridhook endpoint %s ep_01JZ0000000000000000000000 --org acme"
	enable := func(on bool) func(*cobra.Command, []string, fields) error {
		return func(_ *cobra.Command, _ []string, body fields) error {
			body["enabled"] = on
			return nil
		}
	}
	return g.talks(group("endpoint", "Webhook endpoints: where signals are delivered",
		newEndpointCreate(r),
		r.list("List the endpoints of an organization", "  gridhook endpoint list --org acme"),
		r.get("Show an endpoint", fmt.Sprintf(example, "get")),
		newEndpointUpdate(r),
		r.command(operation[client.Endpoint]{
			use: "pause ENDPOINT", path: "{id}/update", short: "Stop delivering to an endpoint: triggers pass it over, and nothing is queued for it",
			example: fmt.Sprintf(example, "pause"), prepare: enable(false),
		}),
		r.command(operation[client.Endpoint]{
			use: "resume ENDPOINT", path: "{id}/update", short: "Deliver to a paused or disabled endpoint again, from the next trigger on",
			example: fmt.Sprintf(example, "resume"), prepare: enable(true),
		}),
		r.remove("Remove an endpoint", fmt.Sprintf(example, "delete")),
		r.command(operation[client.Endpoint]{
			use: "rotate-secret ENDPOINT", short: "Make a new secret; the old one signs beside it for a day",
			example: fmt.Sprintf(example, "rotate-secret"),
		}),
		newEndpointTest(g, r), newEndpointReplay(g)))
}

func newEndpointCreate(r resource[client.Endpoint]) *cobra.Command {
	var auth authFlags
	cmd := r.command(operation[client.Endpoint]{
		use: "create", short: "Register an endpoint, and print its secret this once",
		example: `  gridhook endpoint create --org acme --url https://example.com/hooks
  gridhook endpoint create --org acme --url https://example.com/hooks --event price_signal.updated --mode onChange`,
		flags: append(endpointFlags(true), bodyFlag{
			name: "signature", field: "signature", value: "", help: "hmac, or ed25519 to verify with a public key (default hmac)",
			words: []string{string(storage.SignatureHMAC), string(storage.SignatureEd25519)},
		}),
		prepare: auth.prepare(r.g),
	})
	auth.add(cmd)
	return cmd
}

func newEndpointUpdate(r resource[client.Endpoint]) *cobra.Command {
	var auth authFlags
	cmd := r.command(operation[client.Endpoint]{
		use: "update ENDPOINT", short: "Change what the flags say, and nothing else",
		example: `  gridhook endpoint update ep_01JZ0000000000000000000000 --org acme --rate-limit 50 --timeout 5s`,
		flags:   endpointFlags(false), prepare: auth.prepare(r.g),
	})
	auth.add(cmd)
	return cmd
}

// endpointFlags are the flags of an endpoint's fields.
func endpointFlags(isNew bool) []bodyFlag {
	return []bodyFlag{
		{name: "url", field: "url", value: "", help: "where to deliver, an https `URL`", required: isNew},
		{name: "description", field: "description", value: "", help: "what it is for"},
		{name: "event", field: "eventTypes", value: []string{}, help: "an event `type` to send, by default all; may be repeated", words: storage.EventTypes()},
		{name: "header", field: "headers", value: headers{}, help: "a `header` to send, \"Name: value\"; may be repeated"},
		{name: "mode", field: "deliveryMode", value: "", help: "always, or onChange to skip signals that did not change", words: []string{string(storage.DeliverAlways), string(storage.DeliverOnChange)}},
		{name: "format", field: "format", value: "", help: "signal, or openadr3 for events of OpenADR 3", words: texts(storage.SignalFormats())},
		{name: "compression", field: "compression", value: "", help: "none, or gzip to compress the bodies", words: texts(storage.Compressions())},
		{name: "http-version", field: "httpVersion", value: "", help: "version of HTTP over TLS: auto, 1.1 or 2", words: texts(storage.HTTPVersions())},
		{name: "batch-size", field: "batchSize", value: 1, help: "how many homes' signals one request may carry, up to 64"},
		{name: "enabled", field: "enabled", value: true, help: "whether to deliver at all: false pauses the endpoint, and queues nothing for it"},
		{name: "rate-limit", field: "rateLimit", value: 0.0, help: "the most deliveries a second from each worker, 0 for no limit"},
		{name: "timeout", field: "timeoutSeconds", value: span{10 * time.Second, time.Second}, help: "how long one attempt may take: a `duration` such as 5s"},
	}
}

func newEndpointTest(g *globals, endpoints resource[client.Endpoint]) *cobra.Command {
	return g.forOrg(&cobra.Command{
		Use: "test ENDPOINT", Short: "Send a webhook.test, and exit 1 when it is not taken", Args: takes("the endpoint"),
		Example: `  gridhook endpoint test ep_01JZ0000000000000000000000 --org acme`, ValidArgsFunction: endpoints.completeID,
		RunE: func(cmd *cobra.Command, args []string) error {
			var outcome events.Outcome
			err := call(g, showTest, func(c *client.Client) (events.Delivery, error) {
				d, err := c.TestEndpoint(cmd.Context(), args[0])
				outcome = d.Outcome
				return d, err
			})
			if err == nil && outcome != events.OutcomeDelivered {
				err = fmt.Errorf("%w: the endpoint did not take the test", errSome)
			}
			return err
		},
	})
}

func showTest(w io.Writer, d events.Delivery) {
	row(w, "outcome", d.Outcome)
	row(w, "answer", answered(d.Status))
	row(w, "took", fmt.Sprintf("%.0f ms", d.Milliseconds))
	row(w, "message", d.MessageID)
}

func showEndpoint(w io.Writer, e client.Endpoint) {
	row(w, "endpoint", e.ID)
	row(w, "url", e.URL)
	if e.Description != "" {
		row(w, "description", e.Description)
	}
	row(w, "events", eventList(e))
	row(w, "enabled", e.Enabled)
	if e.Disabled != nil {
		row(w, "disabled", fmt.Sprintf("%s at %s: %s", e.Disabled.Reason, moment(e.Disabled.At), e.Disabled.Detail))
	}
	row(w, "mode", e.DeliveryMode)
	if e.Format == storage.FormatOpenADR3 {
		row(w, "format", e.Format)
	}
	if e.Compression == storage.CompressionGzip {
		row(w, "compression", e.Compression)
	}
	if v := e.HTTPVersion; v != "" && v != storage.HTTPVersionAuto {
		row(w, "HTTP", e.HTTPVersion)
	}
	if a := e.Authentication; a != nil {
		row(w, "authorized", strings.TrimSpace(string(a.Type)+" "+a.TokenURL))
	}
	if c := e.ClientCertificate; c != nil {
		row(w, "client cert", "until "+moment(c.ExpiresAt))
	}
	if e.Health.State != "" {
		row(w, "health", health(e.Health))
	}
	if b := e.Breaker; b.Workers > 0 {
		row(w, "breaker", fmt.Sprintf("%s since %s, next probe %s", b.State, moment(b.Since), moment(b.NextProbeAt)))
	}
	row(w, "timeout", fmt.Sprintf("%g s", e.TimeoutSeconds))
	if e.BatchSize > 1 {
		row(w, "batch", fmt.Sprintf("up to %d homes a request", e.BatchSize))
	}
	if e.RateLimit > 0 {
		row(w, "rate limit", fmt.Sprintf("%g/s", e.RateLimit))
	}
	if e.PublicKey != "" {
		row(w, "public key", e.PublicKey)
	}
	if e.Secret != "" {
		row(w, "secret", e.Secret)
		say(w, "\nKeep the secret now: it cannot be shown again.\n")
	}
}

// health formats an endpoint's health.
func health(h events.Health) string {
	if h.State != events.HealthFailing {
		return string(h.State)
	}
	return fmt.Sprintf("%s since %s, %d attempts: %s", h.State, moment(h.FailingSince), h.ConsecutiveFailures, or(h.LastFailure))
}

func eventList(e client.Endpoint) string {
	if len(e.EventTypes) == 0 {
		return "all"
	}
	return strings.Join(e.EventTypes, ",")
}
