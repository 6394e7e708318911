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

// newTriggerCommand triggers by itself, and looks at triggers by subcommands.
func newTriggerCommand(g *globals) *cobra.Command {
	var (
		request    client.TriggerRequest
		start, end string
		watch      bool
	)
	cmd := &cobra.Command{
		Use: "trigger", Short: "Deliver the price signals of an organization's homes", GroupID: groupOperate, Args: takes(),
		Long: `Deliver the price signal of every home of an organization to its endpoints.

It is accepted when the command returns, and will be carried out whatever fails.
With --watch it waits for the end, and exits 1 when some homes were not reached.`,
		Example: `  gridhook trigger --org acme --watch
  gridhook trigger --org acme --start 2026-07-01T00:00:00Z --end 2026-07-02T00:00:00Z
  gridhook trigger --org acme --plan e-elec --plan e-tou-c
  gridhook trigger get trg_01JZ0000000000000000000000 --org acme
  gridhook trigger list --org acme`,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if request.StartTime, request.EndTime, err = window("--start", start, "--end", end, time.Now()); err != nil {
				return err
			}
			c, err := g.connect()
			if err != nil {
				return err
			}
			accepted, err := c.Trigger(cmd.Context(), request)
			if err != nil {
				return err
			}
			if watch {
				return g.watch(cmd.Context(), c, accepted)
			}
			return g.show(accepted, func(w io.Writer) {
				row(w, "trigger", accepted.TriggerID)
				row(w, "status", accepted.Status)
				row(w, "window", span(accepted.StartTime, accepted.EndTime))
				row(w, "homes", accepted.Homes)
			})
		},
	}
	cmd.Flags().StringVar(&start, "start", "", "the window's start: a `time`, or a duration from now; by default the current quarter hour")
	cmd.Flags().StringVar(&end, "end", "", "the window's end, given with the start; by default 24 hours after it")
	cmd.Flags().StringSliceVar(&request.RatePlanIDs, "plan", nil, "a rate `plan` whose homes alone are meant, as after its prices changed; may be repeated")
	cmd.Flags().StringVar(&request.IdempotencyKey, "idempotency-key", "", "a `key` of your own that makes a repeat harmless")
	cmd.Flags().BoolVar(&watch, "watch", false, "wait for the end and show what became of the homes")
	cmd.AddCommand(newTriggerGet(g), newTriggerList(g))
	return g.talks(g.forOrg(cmd))
}

func newTriggerGet(g *globals) *cobra.Command {
	return g.forOrg(&cobra.Command{
		Use: "get TRIGGER", Short: "Show how far a trigger has come",
		Example: `  gridhook trigger get trg_01JZ0000000000000000000000 --org acme`, Args: takes("the trigger"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := g.connect()
			if err != nil {
				return err
			}
			p, err := c.GetTrigger(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return g.showTrigger(p)
		},
	})
}

func newTriggerList(g *globals) *cobra.Command {
	var limit int
	cmd := &cobra.Command{
		Use: "list", Short: "List the newest triggers of an organization",
		Example: `  gridhook trigger list --org acme --limit 5`, Args: takes(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := g.connect()
			if err != nil {
				return err
			}
			newest, err := c.Triggers(cmd.Context(), limit)
			if err != nil {
				return err
			}
			header := []any{"ID", "STATUS", "HOMES", "WALKED", "DELIVERED", "CREATED", "COMPLETED"}
			return showList(g, newest, "triggers", header, func(p events.Progress) []any {
				return []any{
					p.TriggerID, p.Status, p.Homes, p.Walked, p.Outcomes[events.OutcomeDelivered],
					moment(p.CreatedAt), moment(p.CompletedAt),
				}
			})
		},
	}
	cmd.Flags().IntVar(&limit, "limit", 20, "the most triggers to list, up to 1000")
	return g.forOrg(cmd)
}

func (g *globals) showTrigger(p events.Progress) error {
	return g.show(p, func(w io.Writer) {
		row(w, "trigger", p.TriggerID)
		row(w, "organization", p.OrganizationID)
		row(w, "status", p.Status)
		row(w, "window", span(p.StartTime, p.EndTime))
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
	})
}

func span(start, end storage.Time) string { return moment(start) + " to " + moment(end) }

// errUndelivered says that some homes of a trigger were not reached.
var errUndelivered = errors.New("not every home was reached")

// undelivered counts the deliveries that did not bring an endpoint up to date. An
// unchanged signal is there already, and a superseded one has a newer in its
// place.
func undelivered(p events.Progress) int {
	n := 0
	for outcome, count := range p.Outcomes {
		switch outcome {
		case events.OutcomeDelivered, events.OutcomeUnchanged, events.OutcomeSuperseded:
		default:
			n += count
		}
	}
	return n
}
