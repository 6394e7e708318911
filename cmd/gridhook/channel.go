package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

func newChannelCommand(g *globals) *cobra.Command {
	r := resource{
		g: g, noun: "channel", plural: "channels", path: "/v1/channels", scope: g.forOrgOrOperator, derive: func(r record) {
			if selected, _ := r["events"].([]any); len(selected) == 0 {
				r["events"] = "all"
			}
			if state, err := convert[struct{ Health events.Health }](r); err == nil {
				r["healthText"] = health(state.Health)
			}
		},
		columns: "ID:id, KIND:kind, ADDRESS:address, ENABLED:enabled, HEALTH:health.state, EVENTS:events, DESCRIPTION:description",
		fields:  "channel:id, kind:kind, address:address, events:events, enabled:enabled, health:healthText, description:description",
	}
	const example = "  gridhook channel %s ch_01JZ0000000000000000000000 --org acme"
	return g.talks(group("channel", "Notification channels: email or chat messages about failures. The operator has channels without --org",
		r.command(operation{
			use: "create", short: "Create a notification channel",
			example: `  gridhook channel create --org acme --kind email --address ops@acme.example
  gridhook channel create --kind slack --address https://hooks.slack.com/services/T0/B0/secret --event endpoint.disabled`,
			flags: channelFlags(true),
		}),
		r.list("List the notification channels", "  gridhook channel list --org acme"),
		r.get("Show a notification channel", fmt.Sprintf(example, "get")),
		r.command(operation{
			use: "update CHANNEL", short: "Change the settings that the flags name",
			example: fmt.Sprintf(example, "update") + " --enabled=false", flags: channelFlags(false),
		}),
		r.remove("Delete a notification channel", fmt.Sprintf(example, "delete")),
		r.command(operation{
			use: "test CHANNEL", short: "Send a test message; exit code 1 if the receiver does not accept it",
			example: fmt.Sprintf(example, "test"), after: channelTested(g), done: "The receiver accepted the message.",
		})))
}

// channelFlags are the flags of a channel's fields.
func channelFlags(isNew bool) []bodyFlag {
	flags := []bodyFlag{
		{name: "address", help: "email `address`, or URL of the receiver", required: isNew},
		{name: "event", field: "events", value: []string{}, help: "`event` to send; repeatable (default all)", words: storage.ChannelEvents()},
		{name: "description", help: "`purpose` of the channel"},
		{name: "enabled", value: true, help: "activity of the channel; false stops its messages"},
	}
	if isNew {
		flags = append(flags, bodyFlag{
			name: "kind", value: enum(""), help: "`kind` of the receiver: email, slack, teams or alertmanager",
			words: []string{"email", "slack", "teams", "alertmanager"}, required: true,
		})
	}
	return flags
}

// channelTested returns a function that returns an error if a test message was not delivered.
// Only JSON shows the response then.
func channelTested(g *globals) func(context.Context, *client.Client, json.RawMessage) (json.RawMessage, error) {
	return func(_ context.Context, _ *client.Client, response json.RawMessage) (json.RawMessage, error) {
		var t events.ChannelTest
		err := json.Unmarshal(response, &t)
		if err == nil && !t.Delivered {
			err = fmt.Errorf("the channel did not accept the test: %s", t.Reason)
		}
		if err != nil && !g.json() {
			response = nil
		}
		return response, err
	}
}
