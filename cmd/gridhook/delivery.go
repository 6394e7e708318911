package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/events"
)

func newDeliveryCommand(g *globals) *cobra.Command {
	r := deliveries(g)
	ofAny := r
	ofAny.scope = g.forOrgOrOperator
	ofEvents := ofAny
	ofEvents.noun, ofEvents.plural, ofEvents.columns = "event delivery", "matching deliveries of events", deliveryColumns("EVENT:eventType")
	period := []bodyFlag{
		{name: "since", value: pastText(""), help: "earliest last attempt: a `time`, or a duration before now such as 1h"},
		{name: "until", value: pastText(""), help: "latest last attempt: a `time`, or a duration before now"},
		{name: "limit", value: 10_000, help: "maximum number of deliveries to list, 0 for all"},
	}
	return g.talks(group("delivery", "Deliveries: the outcome of each home",
		r.listOf(operation{
			use: "list", short: "List deliveries and their outcomes, newest triggers first",
			example: `  gridhook delivery list --org acme --trigger trg_01JZ0000000000000000000000
  gridhook delivery list --org acme --endpoint ep_01JZ0000000000000000000000 --outcome FAILED --since 1h --json
  gridhook delivery list --org acme --home home_1`,
			flags: append(deliveryFlags(), period...),
		}),
		ofEvents.listOf(operation{
			use: "events", short: "List deliveries of events such as flex_alert, newest first. The operator's channels are listed without --org",
			example: `  gridhook delivery events --org acme --since 24h
  gridhook delivery events --org acme --endpoint ep_01JZ0000000000000000000000 --outcome FAILED
  gridhook delivery events --outcome FAILED`,
			usual: fields{"events": true}, flags: append(receiverFlags(), period...),
		}),
		ofAny.get("Show a delivery with all its attempts, by its webhook-id",
			"  gridhook delivery get msg_01JZ000000ABCDEFGHJKMNPQRS --org acme"),
		r.command(operation{
			use: "request MESSAGE", short: "Show the HTTP request of a delivery, with its body",
			example: "  gridhook delivery request msg_01JZ000000ABCDEFGHJKMNPQRS --org acme --json | jq -r .body",
			fields:  "message:id, body source:bodySource, url:url, headers:headers, body:body",
		}),
		r.command(operation{
			use: "retry MESSAGE", short: "Retry an exhausted or expired delivery as the same message",
			example: "  gridhook delivery retry msg_01JZ000000ABCDEFGHJKMNPQRS --org acme",
			done:    "{id} is queued for a retry: see gridhook delivery get {id}{org}",
		})))
}

// deliveries returns the resource of deliveries.
func deliveries(g *globals) resource {
	return resource{
		g: g, noun: "message", plural: "matching deliveries", path: "/v1/webhook/deliveries", scope: g.forOrg,
		columns: deliveryColumns("HOME:homeId"),
		more:    "TOOK:durationMs:ms, TRIGGER:triggerId",
		fields:  "message:id, trigger:triggerId, event:eventType, home:homeId, endpoint:endpointId, outcome:outcome, last batch:batchId, next attempt:nextAt",
		below:   showAttempts,
	}
}

// deliveryColumns returns the columns of deliveries. subject is the column of the homes or of the
// events.
func deliveryColumns(subject string) string {
	return "MESSAGE:id, " + subject + ", ENDPOINT:endpointId, OUTCOME:outcome, ATTEMPTS:attempt, STATUS:status, AT:at, NEXT:nextAt, REASON:reason"
}

// deliveryFlags filter deliveries of signals.
func deliveryFlags() []bodyFlag {
	return append([]bodyFlag{
		{name: "trigger", field: "triggerId", help: "`trigger` of the deliveries (default all)"},
		{name: "home", field: "homeId", help: "`home` of the deliveries (default all)"},
	}, receiverFlags()...)
}

// receiverFlags filter deliveries by their receivers and outcomes.
func receiverFlags() []bodyFlag {
	return []bodyFlag{
		{name: "endpoint", field: "endpointId", help: "`endpoint` of the deliveries (default all)"},
		{name: "outcome", value: enum(""), help: "`outcome` of the deliveries, such as FAILED (default all)", words: wire.Texts(events.Outcomes())},
	}
}

// showAttempts prints the attempts of a delivery and the body of the last response. An
// outcome without a request repeats the number of the row before, so it is shown without one.
func showAttempts(w io.Writer, r record) {
	rows, _ := r["attempts"].([]any)
	answer := ""
	for _, row := range rows {
		fields, _ := row.(map[string]any)
		if a, err := convert[events.Attempt](fields); err != nil || !a.Counts() {
			delete(fields, "attempt")
			continue
		}
		answer = record(fields).text("answer")
	}
	printBelow(w, rows, "ATTEMPT:attempt, AT:at, TOOK:durationMs:ms, DNS ms:timing.dnsMs, CONNECT ms:timing.connectMs, TLS ms:timing.tlsMs, FIRST BYTE ms:timing.firstByteMs, STATUS:status, ERROR:errorClass, REASON:reason")
	if answer != "" {
		say(w, "\nlast response: %s\n", plain(answer))
	}
}
