package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/events"
)

// triggers returns the resource of triggers.
func triggers(g *globals) resource {
	return resource{
		g: g, noun: "trigger", plural: "triggers", path: "/v1/webhook/price_signal/trigger", scope: g.forOrg, derive: deriveTrigger,
		columns: "ID:triggerId, STATUS:status, HOMES:homes, WALKED:walked, DELIVERIES:deliveries, CREATED:createdAt, COMPLETED:completedAt",
		more:    "WINDOW:window, RATE PLANS:ratePlanIds",
		fields: "trigger:triggerId, organization:organizationId, status:status, notification:about, window:window, rate plans:ratePlanIds, homes:homes, walked:walked" +
			outcomeFields() + ", created:createdAt, completed:completed",
	}
}

// outcomeFields lists the number of deliveries with each outcome.
func outcomeFields() (fields string) {
	for _, o := range events.Outcomes() {
		fields += fmt.Sprintf(", %s:outcomes.%s", o, o)
	}
	return fields
}

// newTriggerCommand returns the trigger command. Its subcommands show triggers.
func newTriggerCommand(g *globals) *cobra.Command {
	var (
		key     string
		watch   bool
		timeout time.Duration
	)
	r := triggers(g)
	cmd := r.run(operation{
		use: "trigger", short: "Deliver the price signals of an organization's homes",
		long: `Deliver the price signal of every home of an organization to its endpoints.

The command returns as soon as the server has stored the trigger. The deliveries then
happen even if processes fail. A home has a delivery for each endpoint that selects it.

With --watch the command shows progress and the reasons for retries until every delivery
has a final outcome. Retries may take 24 hours: --timeout limits the wait. The exit code
is 1 if a delivery failed or no endpoint selects any of the homes.`,
		example: `  gridhook trigger --org acme --watch
  gridhook trigger --org acme --watch --timeout 5m
  gridhook trigger --org acme --start 2026-07-01T00:00:00Z --end 2026-07-02T00:00:00Z
  gridhook trigger --org acme --plan e-elec --plan e-tou-c
  gridhook trigger get trg_01JZ0000000000000000000000 --org acme
  gridhook trigger list --org acme`,
		flags: append(windowFlags("start", "end"),
			bodyFlag{name: "plan", field: "ratePlanIds", value: []string{}, help: "rate `plan` of the homes to trigger; repeatable (default all)"}),
		prepare: func(*cobra.Command, []string, fields) error {
			switch {
			case timeout != 0 && !watch:
				return usagef("--timeout needs --watch")
			case timeout < 0:
				return usagef("--timeout must be 0 or more, not %s", timeout)
			}
			return nil
		},
	}, func(cmd *cobra.Command, _ []string, c *client.Client, body fields) error {
		g.warnWithoutEndpoint(cmd.Context(), c)
		accepted, err := client.Call[client.Accepted](cmd.Context(), c, r.path, body, key)
		if err != nil {
			return err
		}
		g.warnWithoutHomes(&accepted)
		if watch {
			return g.watch(cmd.Context(), c, accepted, timeout)
		}
		return r.show(accepted, operation{})
	})
	cmd.Flags().StringVar(&key, "idempotency-key", "", "your own `key`, which makes a repeated request harmless")
	cmd.Flags().BoolVar(&watch, "watch", false, "wait for the final outcome of every delivery")
	cmd.Flags().DurationVar(&timeout, "timeout", 0, "maximum wait of --watch, such as 5m (default no limit)")
	cmd.MarkFlagsRequiredTogether("start", "end")
	cmd.AddCommand(
		r.list("List the newest triggers of an organization", "  gridhook trigger list --org acme --limit 5",
			bodyFlag{name: "limit", value: 20, help: "maximum number of triggers to list, up to 1000"}),
		r.get("Show the progress of a trigger", "  gridhook trigger get trg_01JZ0000000000000000000000 --org acme"))
	return g.talks(cmd)
}

// deriveTrigger adds the window of a trigger, its outcomes, its end with its duration, and the
// OpenADR object that it is about.
func deriveTrigger(r record) {
	r["window"] = valueText(r["startTime"]) + " to " + valueText(r["endTime"])
	p, _ := convert[events.Progress](r) // the server's response always converts
	deliveries := outcomeLine(p)
	if n := p.Notification; n != nil {
		r["about"] = fmt.Sprintf("%s of the %s %s", n.Operation, n.ObjectType, n.ObjectID)
		deliveries += fmt.Sprintf(", notification of the %s %s", n.ObjectType, n.ObjectID)
	}
	r["deliveries"] = deliveries
	if !p.CompletedAt.IsZero() {
		r["completed"] = fmt.Sprintf("%s, after %s", moment(p.CompletedAt), p.CompletedAt.Sub(p.CreatedAt.Time).Round(time.Millisecond))
	}
}

// errUndelivered says that deliveries of a trigger failed.
var errUndelivered = errors.New("not every home was reached")

// reached reports whether an outcome leaves an endpoint up to date. The endpoint already
// has an unchanged signal. A newer signal replaces a superseded one.
func reached(o events.Outcome) bool {
	return o == events.OutcomeDelivered || o == events.OutcomeUnchanged || o == events.OutcomeSuperseded
}
