package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// newTriggerCommand returns the trigger command. Its subcommands show triggers.
func newTriggerCommand(g *globals) *cobra.Command {
	var (
		request    client.TriggerRequest
		start, end string
		watch      bool
		timeout    time.Duration
	)
	cmd := &cobra.Command{
		Use: "trigger", Short: "Deliver the price signals of an organization's homes", GroupID: groupOperate, Args: takes(),
		Long: `Deliver the price signal of every home of an organization to its endpoints.

It is accepted when the command returns, and will be carried out whatever fails.
With --watch it waits for the end, and exits 1 when some homes were not reached. On the
way it tells how far it is, and for which reasons deliveries are retried.`,
		Example: `  gridhook trigger --org acme --watch
  gridhook trigger --org acme --watch --timeout 5m
  gridhook trigger --org acme --start 2026-07-01T00:00:00Z --end 2026-07-02T00:00:00Z
  gridhook trigger --org acme --plan e-elec --plan e-tou-c
  gridhook trigger get trg_01JZ0000000000000000000000 --org acme
  gridhook trigger list --org acme`,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if timeout != 0 && !watch {
				return usagef("--timeout goes with --watch")
			}
			if request.StartTime, request.EndTime, err = window("--start", start, "--end", end, time.Now()); err != nil {
				return err
			}
			c, err := g.connect()
			if err != nil {
				return err
			}
			g.warnWithoutEndpoint(cmd.Context(), c)
			accepted, err := c.Trigger(cmd.Context(), request)
			if err != nil {
				return err
			}
			if watch {
				return g.watch(cmd.Context(), c, accepted, timeout)
			}
			return g.show(accepted, func(w io.Writer) {
				row(w, "trigger", accepted.TriggerID)
				row(w, "status", accepted.Status)
				row(w, "window", between(accepted.StartTime, accepted.EndTime))
				row(w, "homes", accepted.Homes)
			})
		},
	}
	cmd.Flags().StringVar(&start, "start", "", "the window's start: a `time`, or a duration from now; by default the current quarter hour")
	cmd.Flags().StringVar(&end, "end", "", "the window's end, given with the start; by default 24 hours after it")
	cmd.Flags().StringSliceVar(&request.RatePlanIDs, "plan", nil, "a rate `plan` whose homes alone are meant, as after its prices changed; may be repeated")
	cmd.Flags().StringVar(&request.IdempotencyKey, "idempotency-key", "", "a `key` of your own that makes a repeat harmless")
	cmd.Flags().BoolVar(&watch, "watch", false, "wait for the end and show what became of the homes")
	cmd.Flags().DurationVar(&timeout, "timeout", 0, "how long --watch waits at most, such as 5m; by default until the end")
	r := resource[events.Progress]{
		g: g, noun: "trigger", plural: "triggers", path: "/v1/webhook/price_signal/trigger", scope: g.forOrg, show: showTrigger,
		columns: []any{"ID", "STATUS", "HOMES", "WALKED", "DELIVERED", "CREATED", "COMPLETED"}, more: []any{"WINDOW", "RATE PLANS"},
		cells: func(p events.Progress) []any {
			return []any{
				p.TriggerID, p.Status, p.Homes, p.Walked, p.Outcomes[events.OutcomeDelivered],
				moment(p.CreatedAt), moment(p.CompletedAt), between(p.StartTime, p.EndTime), list(p.RatePlanIDs),
			}
		},
	}
	cmd.AddCommand(
		r.list("List the newest triggers of an organization", "  gridhook trigger list --org acme --limit 5",
			bodyFlag{name: "limit", field: "limit", value: 20, help: "the most triggers to list, up to 1000"}),
		r.get("Show how far a trigger has come", "  gridhook trigger get trg_01JZ0000000000000000000000 --org acme"))
	return g.talks(g.forOrg(cmd))
}

func showTrigger(w io.Writer, p events.Progress) {
	row(w, "trigger", p.TriggerID)
	row(w, "organization", p.OrganizationID)
	row(w, "status", p.Status)
	row(w, "window", between(p.StartTime, p.EndTime))
	if len(p.RatePlanIDs) > 0 {
		row(w, "rate plans", strings.Join(p.RatePlanIDs, ", "))
	}
	row(w, "homes", p.Homes)
	row(w, "walked", p.Walked)
	for _, o := range events.Outcomes() {
		if n := p.Outcomes[o]; n > 0 {
			row(w, o, n)
		}
	}
	row(w, "created", moment(p.CreatedAt))
	if !p.CompletedAt.IsZero() {
		row(w, "completed", fmt.Sprintf("%s, after %s", moment(p.CompletedAt), p.CompletedAt.Sub(p.CreatedAt.Time).Round(time.Millisecond)))
	}
}

func between(start, end storage.Time) string { return moment(start) + " to " + moment(end) }

// errUndelivered says that deliveries of a trigger failed.
var errUndelivered = errors.New("not every home was reached")

// undelivered counts the deliveries that did not bring an endpoint up to date.
func undelivered(p events.Progress) int {
	n := 0
	for outcome, count := range p.Outcomes {
		if !reached(outcome) {
			n += count
		}
	}
	return n
}

// reached reports whether an outcome leaves an endpoint up to date. The endpoint already
// has an unchanged signal. A newer signal replaces a superseded one.
func reached(o events.Outcome) bool {
	return o == events.OutcomeDelivered || o == events.OutcomeUnchanged || o == events.OutcomeSuperseded
}
