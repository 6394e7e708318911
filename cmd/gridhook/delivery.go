package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/events"
)

const deliveriesPath = "/v1/webhook/deliveries"

func newDeliveryCommand(g *globals) *cobra.Command {
	one := resource[events.DeliveryLog]{g: g, noun: "message", path: deliveriesPath, scope: g.forOrg, show: showDelivery}
	retry := resource[client.AcceptedRetry]{g: g, noun: "message", path: deliveriesPath, scope: g.forOrg}
	return g.talks(group("delivery", "Deliveries: what became of each home", newDeliveryList(g),
		one.get("Show a delivery with all its attempts, by its webhook-id",
			"  gridhook delivery get msg_01JZ000000ABCDEFGHJKMNPQRS --org acme"),
		retry.command(operation[client.AcceptedRetry]{
			use: "retry MESSAGE", short: "Take up a delivery again that was given up, as the same message",
			example: "  gridhook delivery retry msg_01JZ000000ABCDEFGHJKMNPQRS --org acme",
			show: func(w io.Writer, r client.AcceptedRetry) {
				say(w, "%s is taken up again: see gridhook delivery get %s%s\n", r.ID, r.ID, g.orgFlag())
			},
		})))
}

func newDeliveryList(g *globals) *cobra.Command {
	return deliveriesOf(g).listOf(operation[events.Delivery]{
		use: "list", short: "List what became of homes, the newest triggers first",
		example: `  gridhook delivery list --org acme --trigger trg_01JZ0000000000000000000000
  gridhook delivery list --org acme --endpoint ep_01JZ0000000000000000000000 --outcome FAILED --since -1h --json
  gridhook delivery list --org acme --home home_1`,
		flags: append(deliveryFlags(),
			bodyFlag{name: "since", field: "since", value: instantText(""), help: "only those tried last since a `time`, or a duration from now such as -1h"},
			bodyFlag{name: "until", field: "until", value: instantText(""), help: "only those tried last before a `time`"},
			bodyFlag{name: "limit", field: "limit", value: 10_000, help: "the most deliveries to list, 0 for all"}),
		prepare: knownOutcome,
	})
}

// deliveriesOf returns the resource that lists deliveries.
func deliveriesOf(g *globals) resource[events.Delivery] {
	return resource[events.Delivery]{
		g: g, plural: "such deliveries", path: deliveriesPath, scope: g.forOrg,
		columns: []any{"MESSAGE", "HOME", "ENDPOINT", "OUTCOME", "ATTEMPTS", "ANSWER", "AT", "NEXT", "REASON"}, more: []any{"TOOK", "TRIGGER"},
		cells: func(d events.Delivery) []any {
			return []any{
				or(d.MessageID), d.HomeID, or(d.EndpointID), d.Outcome, d.Attempt, answered(d.Status),
				moment(d.At), moment(d.NextAt), or(d.Reason), fmt.Sprintf("%.0f ms", d.Milliseconds), or(d.TriggerID),
			}
		},
	}
}

// deliveryFlags filter deliveries.
func deliveryFlags() []bodyFlag {
	return []bodyFlag{
		{name: "trigger", field: "triggerId", value: "", help: "only of this `trigger`"},
		{name: "home", field: "homeId", value: "", help: "only of this `home`"},
		{name: "endpoint", field: "endpointId", value: "", help: "only to this `endpoint`"},
		{name: "outcome", field: "outcome", value: "", help: "only this `outcome`, such as FAILED", words: texts(events.Outcomes())},
	}
}

// knownOutcome accepts an outcome in upper or lower case.
func knownOutcome(_ *cobra.Command, _ []string, body fields) error {
	text, given := body["outcome"].(string)
	outcome := events.Outcome(strings.ToUpper(text))
	if given && !slices.Contains(events.Outcomes(), outcome) {
		return usagef("--outcome must be one of %v, not %q", events.Outcomes(), text)
	}
	if given {
		body["outcome"] = outcome
	}
	return nil
}

func showDelivery(w io.Writer, log events.DeliveryLog) {
	row(w, "message", log.MessageID)
	row(w, "trigger", log.TriggerID)
	row(w, "home", log.HomeID)
	row(w, "endpoint", or(log.EndpointID))
	row(w, "outcome", log.Outcome)
	if log.BatchID != "" {
		row(w, "last batch", log.BatchID)
	}
	if !log.NextAt.IsZero() {
		row(w, "next attempt", moment(log.NextAt))
	}
	say(w, "\n")
	row(w, "ATTEMPT", "AT", "TOOK", "PARTS", "ANSWER", "ERROR", "REASON")
	for _, a := range log.Attempts {
		row(w, a.Number, moment(a.At), fmt.Sprintf("%.1f ms", a.Milliseconds), or(parts(a.Timing)), answered(a.Status), or(string(a.ErrorClass)), or(a.Reason))
	}
	if log.Answer != "" {
		say(w, "\n%s\n", plain(log.Answer))
	}
}

// parts formats the durations of an attempt's phases.
func parts(t events.Timing) string {
	var list []string
	for _, part := range []struct {
		name string
		ms   float64
	}{{"dns", t.DNS}, {"connect", t.Connect}, {"tls", t.TLS}, {"first byte", t.FirstByte}} {
		if part.ms > 0 {
			list = append(list, fmt.Sprintf("%s %.1f", part.name, part.ms))
		}
	}
	return strings.Join(list, ", ")
}

// answered formats an endpoint's response status.
func answered(status int) string {
	if status == 0 {
		return "-"
	}
	return strconv.Itoa(status)
}
