package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

const secretNote = "Store the secret now: it cannot be shown again."

// showSecretNote prints the note below a new secret. Ed25519 has a public key instead.
func showSecretNote(w io.Writer, endpoint record) {
	if secret, _ := endpoint["secret"].(string); secret != "" {
		say(w, "\n%s\n", secretNote)
	}
}

func newEndpointCommand(g *globals) *cobra.Command {
	r := resource{
		g: g, noun: "endpoint", plural: "endpoints", path: "/v1/webhook/endpoints", scope: g.forOrg, derive: deriveEndpoint,
		columns: "ID:id, URL:url, ENABLED:enabled, MODE:deliveryMode, EVENTS:eventTypes, HEALTH:health.state, BREAKER:breaker.state",
		more:    "FORMAT:format, BATCH:batchSize, RATE LIMIT:rateLimit, TIMEOUT:timeoutSeconds:s, HEADERS:headerNames, RETRIES:retries, DESCRIPTION:description",
		fields: "endpoint:id, url:url, description:description, events:eventTypes, enabled:enabled, disabled:disabled, mode:deliveryMode, " +
			"least change:otherMinPriceChange:$/kWh, homes:homeIds, plans:ratePlanIds, format:otherFormat, compression:otherCompression, HTTP:otherHttpVersion, authorized:authentication.type, token URL:authentication.tokenUrl, " +
			"client cert until:clientCertificate.expiresAt, health:healthText, breaker:breakerText, timeout:timeoutSeconds:s, retries:retries, headers:headerNames, " +
			"batch:otherBatchSize:homes, rate limit:otherRateLimit:per second, public key:publicKey, secret:secret",
		below: showSecretNote,
	}
	const example = "  gridhook endpoint %s ep_01JZ0000000000000000000000 --org acme"
	return g.talks(group("endpoint", "Webhook endpoints: where signals are delivered",
		withAuth(r.command(operation{
			use: "create", short: "Register an endpoint and print its secret once",
			example: `  gridhook endpoint create --org acme --url https://example.com/hooks
  gridhook endpoint create --org acme --url https://example.com/hooks --event price_signal.updated --mode onChange`,
			flags:   slices.Concat(endpointFlags(true), retryFlags(), authFlags(), secretChoice("hmac")),
			prepare: checkAuth,
		})),
		r.list("List the endpoints of an organization", "  gridhook endpoint list --org acme"),
		r.get("Show an endpoint", fmt.Sprintf(example, "get")),
		withAuth(r.command(operation{
			use: "update ENDPOINT", short: "Change the settings that the flags name",
			example: `  gridhook endpoint update ep_01JZ0000000000000000000000 --org acme --rate-limit 50 --timeout 5s`,
			flags:   slices.Concat(endpointFlags(false), retryFlags(), authFlags()), prepare: checkAuth,
		})),
		r.command(operation{
			use: "pause ENDPOINT", path: "{id}/update", short: "Stop deliveries to an endpoint: triggers skip it and queue nothing",
			example: fmt.Sprintf(example, "pause"), usual: fields{"enabled": false},
		}),
		r.command(operation{
			use: "resume ENDPOINT", path: "{id}/update", short: "Resume deliveries to a paused or disabled endpoint, from the next trigger on",
			example: fmt.Sprintf(example, "resume"), usual: fields{"enabled": true},
		}),
		r.remove("Delete an endpoint", fmt.Sprintf(example, "delete")),
		r.command(operation{
			use: "rotate-secret ENDPOINT", short: "Create a new secret; the old secret also signs for one day",
			example: fmt.Sprintf(example, "rotate-secret"), flags: secretChoice("the current scheme"),
			note: "The old one also signs for 24 hours. Configure the new secret or public key in the receiver by then.",
		}),
		r.command(operation{
			use: "test ENDPOINT", short: "Send a webhook.test event; exit code 1 if the endpoint does not accept it",
			example: fmt.Sprintf(example, "test"),
			after:   failsIf("the endpoint did not accept the test", func(d events.Delivery) bool { return d.Outcome != events.OutcomeDelivered }),
			fields:  "outcome:outcome, status:status, reason:reason, response:answer, took:durationMs:ms, message:id",
		}),
		newEndpointReplay(g),
		group("replays", "Replays of the last week",
			replays(g).list("List the replays of an organization", "  gridhook endpoint replays list --org acme"),
			replays(g).get("Show the progress of a replay", "  gridhook endpoint replays get rpl_01JZ0000000000000000000000 --org acme"))))
}

// deriveEndpoint adds the settings that differ from the default, and sentences about the
// endpoint's health.
func deriveEndpoint(r record) {
	if types, _ := r["eventTypes"].([]any); len(types) == 0 {
		r["eventTypes"] = "all"
	}
	for name, usual := range map[string]any{
		"format": string(storage.FormatSignal), "compression": string(storage.CompressionNone), "httpVersion": string(storage.HTTPVersionAuto),
		"minPriceChange": 0.0, "batchSize": 1.0, "rateLimit": 0.0,
	} {
		if r[name] != usual {
			r["other"+string(name[0]-'a'+'A')+name[1:]] = r[name]
		}
	}
	if headers, _ := r["headers"].(map[string]any); len(headers) > 0 {
		r["headerNames"] = strings.Join(slices.Sorted(maps.Keys(headers)), ",")
	}
	if state, err := convert[struct {
		Health      events.Health
		Breaker     events.Breaker
		RetryPolicy *storage.RetryPolicy
	}](r); err == nil {
		if state.RetryPolicy != nil {
			r["retries"] = retryText(state.RetryPolicy)
		}
		r["healthText"] = health(state.Health)
		if b := state.Breaker; b.Workers > 0 {
			r["breakerText"] = breakerText(b)
		}
	}
}

// endpointFlags are the flags of an endpoint's fields.
func endpointFlags(isNew bool) []bodyFlag {
	return []bodyFlag{
		{name: "url", help: "https `URL` of the receiver", required: isNew},
		{name: "description", help: "`purpose` of the endpoint"},
		{name: "event", field: "eventTypes", value: []string{}, help: "event `type` to send; repeatable (default all)", words: storage.EventTypes()},
		{name: "header", field: "headers", value: headers{}, help: "request `header` to send, as \"Name: value\"; repeatable; an update replaces all headers, and \"\" removes them"},
		{name: "mode", field: "deliveryMode", help: "delivery `mode`: always, or onChange to skip unchanged signals (default always)", words: []string{string(storage.DeliverAlways), string(storage.DeliverOnChange)}},
		{name: "min-price-change", field: "minPriceChange", value: 0.0, help: "with onChange, least price change that is sent, in $/kWh, 0 for any"},
		{name: "home", field: "homeIds", value: []string{}, help: "`home` whose signals to send; repeatable (default all)"},
		{name: "plan", field: "ratePlanIds", value: []string{}, help: "rate `plan` whose homes' signals to send; repeatable (default all)"},
		{name: "format", help: "signal `format`: signal, openadr3 for OpenADR 3 events, or thin for signals without prices (default signal)", words: wire.Texts(storage.SignalFormats())},
		{name: "compression", help: "body `compression`: none or gzip (default none)", words: wire.Texts(storage.Compressions())},
		{name: "http-version", field: "httpVersion", help: "HTTP `version` over TLS: auto, 1.1 or 2 (default auto)", words: wire.Texts(storage.HTTPVersions())},
		{name: "batch-size", field: "batchSize", value: 1, help: "maximum number of homes per request, up to 64"},
		{name: "verify-url", field: "verifyUrl", value: false, help: "challenge to a new URL, which must respond to a GET with the value of the parameter echo"},
		{name: "enabled", value: true, help: "delivery to the endpoint; false pauses it and queues nothing"},
		{name: "rate-limit", field: "rateLimit", value: 0.0, help: "maximum number of deliveries per second from each worker, 0 for no limit"},
		{name: "timeout", field: "timeoutSeconds", value: span{10 * time.Second, time.Second}, help: "timeout of one attempt"},
	}
}

// health describes an endpoint's health.
func health(h events.Health) string {
	if h.State != events.HealthFailing {
		return string(h.State)
	}
	return fmt.Sprintf("%s since %s, failures in a row: %d, last: %s", h.State, moment(h.FailingSince), h.ConsecutiveFailures, or(h.LastFailure))
}

// breakerText describes a breaker that is not closed.
func breakerText(b events.Breaker) string {
	return fmt.Sprintf("%s since %s, next probe %s", b.State, moment(b.Since), moment(b.NextProbeAt))
}
