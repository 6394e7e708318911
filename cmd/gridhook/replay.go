package main

import (
	"context"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

func newEndpointReplay(g *globals) *cobra.Command {
	var since string
	var outcomes []string
	var watch bool
	cmd := &cobra.Command{
		Use: "replay ENDPOINT", Short: "Take up again all that an endpoint did not get since a time", Args: takes("the endpoint"),
		Long: `Take up again all deliveries to an endpoint that were given up since a time, as
the same messages. What a newer trigger has taken the place of is left.

It is accepted when the command returns, and will be carried out whatever fails.
With --watch it waits until all were come to.`,
		Example: `  gridhook endpoint replay ep_01JZ0000000000000000000000 --org acme --since -6h --watch`,
		RunE: func(cmd *cobra.Command, args []string) error {
			from, err := instant("--since", since, time.Now())
			if err != nil {
				return err
			}
			request := client.ReplayRequest{Since: *from}
			for _, o := range outcomes {
				outcome := events.Outcome(strings.ToUpper(o))
				if !slices.Contains([]events.Outcome{events.OutcomeFailed, events.OutcomeExpired}, outcome) {
					return usagef("--outcome must be FAILED or EXPIRED, not %q", o)
				}
				request.Outcomes = append(request.Outcomes, string(outcome))
			}
			c, err := g.connect()
			if err != nil {
				return err
			}
			replay, err := c.ReplayEndpoint(cmd.Context(), args[0], request)
			if err != nil {
				return err
			}
			if watch {
				if replay, err = g.watchReplay(cmd.Context(), c, replay); err != nil {
					return err
				}
			}
			return g.showReplay(replay)
		},
	}
	cmd.Flags().StringVar(&since, "since", "", "from when on: a `time`, or a duration from now such as -6h")
	cmd.Flags().StringSliceVar(&outcomes, "outcome", nil, "FAILED or EXPIRED `outcomes` alone, by default both")
	cmd.Flags().BoolVar(&watch, "watch", false, "wait until all were come to")
	_ = cmd.MarkFlagRequired("since") // it was added above
	return g.forOrg(cmd)
}

// watchReplay waits until a replay is completed.
func (g *globals) watchReplay(ctx context.Context, c *client.Client, replay client.Replay) (client.Replay, error) {
	tick := time.NewTicker(g.pollEvery)
	defer tick.Stop()
	for replay.Status != storage.ReplayCompleted {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return replay, ctx.Err()
		}
		var err error
		if replay, err = c.GetReplay(ctx, replay.ID); err != nil {
			return replay, err
		}
	}
	return replay, nil
}

func (g *globals) showReplay(r client.Replay) error {
	return g.show(r, func(w io.Writer) {
		row(w, "replay", r.ID)
		row(w, "endpoint", r.EndpointID)
		row(w, "since", moment(r.Since))
		row(w, "status", r.Status)
		row(w, "found", r.Found)
		row(w, "retried", r.Retried)
		if r.Superseded > 0 {
			row(w, "superseded", r.Superseded)
		}
		if r.Lost > 0 {
			row(w, "lost", r.Lost)
		}
	})
}
