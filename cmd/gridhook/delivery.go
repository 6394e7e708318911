package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/events"
)

func newDeliveryCommand(g *globals) *cobra.Command {
	return g.talks(group("delivery", "Deliveries: what became of each home", newDeliveryList(g), newDeliveryGet(g), newDeliveryRetry(g)))
}

func newDeliveryList(g *globals) *cobra.Command {
	var request client.DeliveriesRequest
	var outcome, since, until string
	var limit int
	cmd := &cobra.Command{
		Use: "list", Short: "List what became of homes, the newest triggers first", Args: takes(),
		Example: `  gridhook delivery list --org acme --trigger trg_01JZ0000000000000000000000
  gridhook delivery list --org acme --endpoint ep_01JZ0000000000000000000000 --outcome FAILED --since -1h --json
  gridhook delivery list --org acme --home home_1`,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			request.Outcome = events.Outcome(strings.ToUpper(outcome))
			if outcome != "" && !slices.Contains(events.Outcomes(), request.Outcome) {
				return usagef("--outcome must be one of %v, not %q", events.Outcomes(), outcome)
			}
			now := time.Now()
			if request.Since, err = instant("--since", since, now); err != nil {
				return err
			}
			if request.Until, err = instant("--until", until, now); err != nil {
				return err
			}
			c, err := g.connect()
			if err != nil {
				return err
			}
			found, err := deliveries(cmd.Context(), c, request, limit)
			if err != nil {
				return err
			}
			header := []any{"MESSAGE", "HOME", "ENDPOINT", "OUTCOME", "ATTEMPTS", "ANSWER", "AT", "NEXT", "REASON"}
			return showList(g, found, "such deliveries", header, func(d events.Delivery) []any {
				return []any{
					or(d.MessageID), d.HomeID, or(d.EndpointID), d.Outcome, d.Attempt, answered(d.Status),
					moment(d.At), moment(d.NextAt), or(d.Reason),
				}
			})
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&request.TriggerID, "trigger", "", "only of this `trigger`")
	flags.StringVar(&request.HomeID, "home", "", "only of this `home`")
	flags.StringVar(&request.EndpointID, "endpoint", "", "only to this `endpoint`")
	flags.StringVar(&outcome, "outcome", "", "only this `outcome`, such as FAILED")
	completes(cmd, "outcome", outcomeWords()...)
	flags.StringVar(&since, "since", "", "only those tried last since a `time`, or a duration from now such as -1h")
	flags.StringVar(&until, "until", "", "only those tried last before a `time`")
	flags.IntVar(&limit, "limit", 10_000, "the most deliveries to list, 0 for all")
	return g.forOrg(cmd)
}

func newDeliveryGet(g *globals) *cobra.Command {
	return g.forOrg(&cobra.Command{
		Use: "get MESSAGE", Short: "Show a delivery with all its attempts, by its webhook-id",
		Example: `  gridhook delivery get msg_01JZ000000ABCDEFGHJKMNPQRS --org acme`, Args: takes("the message"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := g.connect()
			if err != nil {
				return err
			}
			log, err := c.GetDelivery(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return g.show(log, func(w io.Writer) {
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
			})
		},
	})
}

func newDeliveryRetry(g *globals) *cobra.Command {
	return g.forOrg(&cobra.Command{
		Use: "retry MESSAGE", Short: "Take up a delivery again that was given up, as the same message",
		Example: `  gridhook delivery retry msg_01JZ000000ABCDEFGHJKMNPQRS --org acme`, Args: takes("the message"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := g.connect()
			if err != nil {
				return err
			}
			retry, err := c.RetryDelivery(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return g.show(retry, func(w io.Writer) {
				say(w, "%s is taken up again: see gridhook delivery get %s --org %s\n", retry.ID, retry.ID, g.org)
			})
		},
	})
}

// outcomeWords are the outcomes as a shell offers them.
func outcomeWords() []string {
	var words []string
	for _, o := range events.Outcomes() {
		words = append(words, string(o))
	}
	return words
}

// parts says how long the parts of an attempt took.
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

// deliveries reads pages up to the limit, 0 for all.
func deliveries(ctx context.Context, c *client.Client, request client.DeliveriesRequest, limit int) ([]events.Delivery, error) {
	read := 0
	all, err := client.All(ctx, func(ctx context.Context, p client.Page) ([]events.Delivery, string, error) {
		request.Page = p
		if limit > 0 {
			request.Limit = min(p.Limit, limit-read)
		}
		page, next, err := c.Deliveries(ctx, request)
		if read += len(page); limit > 0 && read >= limit {
			next = ""
		}
		return page, next, err
	})
	return all, err
}

// answered is the status that an endpoint answered with.
func answered(status int) string {
	if status == 0 {
		return "-"
	}
	return strconv.Itoa(status)
}
