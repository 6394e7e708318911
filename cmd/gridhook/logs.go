package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// These are the limits of a tail.
const (
	// lateness is the maximum delay with which a delivery becomes visible: outcomes are
	// stored one slice at a time.
	lateness = 10 * time.Second
	// maxTail bounds the deliveries of one poll.
	maxTail = 10_000
)

func newLogsCommand(g *globals) *cobra.Command {
	return g.talks(group("logs", "Deliveries as they happen", newLogsTail(g)))
}

func newLogsTail(g *globals) *cobra.Command {
	var since time.Duration
	r, flags := deliveriesOf(g), deliveryFlags()
	cmd := &cobra.Command{
		Use: "tail", Short: "Print deliveries as they happen, until interrupted", Args: takes(),
		Example: `  gridhook logs tail --org acme
  gridhook logs tail --org acme --outcome failed --since 1h
  gridhook logs tail --org acme --endpoint ep_01JZ0000000000000000000000 --json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			body, err := r.body(cmd, args, flags, knownOutcome)
			if err != nil {
				return err
			}
			c, err := g.connect()
			if err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			t := tail{g: g, c: c, r: r, body: body, from: time.Now().Add(-since), seen: map[seenDelivery]time.Time{}}
			return t.follow(ctx)
		},
	}
	addFlags(cmd, flags)
	cmd.Flags().DurationVar(&since, "since", 0, "how far back to begin, such as 1h; by default now")
	return g.forOrg(cmd)
}

// tail prints deliveries that it has not printed yet.
type tail struct {
	g    *globals
	c    *client.Client
	r    resource[events.Delivery]
	body fields
	// from is the start of the next poll. seen holds the deliveries printed since then.
	from time.Time
	seen map[seenDelivery]time.Time
}

// seenDelivery identifies an attempt.
type seenDelivery struct {
	trigger, home, endpoint string
	attempt                 int
	outcome                 events.Outcome
}

func (t *tail) follow(ctx context.Context) error {
	tick := time.NewTicker(4 * t.g.pollEvery)
	defer tick.Stop()
	for {
		if err := t.look(ctx); err != nil && ctx.Err() == nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// look prints deliveries since the last poll, the oldest first.
func (t *tail) look(ctx context.Context) error {
	t.body["since"], t.body["limit"] = storage.Time{Time: t.from.UTC()}, maxTail
	delete(t.body, "after")
	all, err := t.r.all(ctx, t.c, t.body)
	if err != nil {
		return err
	}
	slices.SortStableFunc(all, func(a, b events.Delivery) int { return a.At.Compare(b.At.Time) })
	newest := t.from
	for i := range all {
		d := &all[i]
		key := seenDelivery{d.TriggerID, d.HomeID, d.EndpointID, d.Attempt, d.Outcome}
		if _, known := t.seen[key]; known {
			continue
		}
		t.seen[key] = d.At.Time
		if err := t.print(d); err != nil {
			return err
		}
		newest = d.At.Time
	}
	if len(all) == maxTail {
		say(t.g.err, "there are more than %d deliveries at once: gridhook delivery list%s shows them all\n", maxTail, t.g.orgFlag())
	}
	if begin := newest.Add(-lateness); begin.After(t.from) {
		t.from = begin
	}
	for key, at := range t.seen {
		if at.Before(t.from) {
			delete(t.seen, key)
		}
	}
	return nil
}

func (t *tail) print(d *events.Delivery) error {
	if t.g.json() {
		text, err := json.Marshal(d)
		if err == nil {
			_, err = fmt.Fprintf(t.g.out, "%s\n", text)
		}
		return err
	}
	paint := t.g.painter(t.g.out)
	outcome := string(d.Outcome)
	switch {
	case reached(d.Outcome):
		outcome = paint.good(outcome)
	case d.Outcome == events.OutcomeRetrying:
		outcome = paint.notice(outcome)
	default:
		outcome = paint.bad(outcome)
	}
	say(t.g.out, "%s %s %s %s attempt %d, %s, %.0f ms %s\n", d.At.UTC().Format("15:04:05.000"), outcome, plain(d.HomeID), or(plain(d.EndpointID)),
		d.Attempt, answered(d.Status), d.Milliseconds, plain(d.Reason))
	return nil
}
