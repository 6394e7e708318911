package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// lateness is the maximum delay with which a delivery becomes visible: outcomes are stored
// one slice at a time.
const lateness = 10 * time.Second

func newLogsCommand(g *globals) *cobra.Command {
	r := deliveries(g)
	return g.talks(group("logs", "Deliveries as they happen", r.run(operation{
		use: "tail", short: "Print deliveries as they happen, until Ctrl-C",
		flags: append(deliveryFlags(),
			bodyFlag{name: "since", value: pastText(""), help: "start: a `time`, or a duration before now such as 1h (default now)"}),
		example: `  gridhook logs tail --org acme
  gridhook logs tail --org acme --outcome failed --since 1h
  gridhook logs tail --org acme --endpoint ep_01JZ0000000000000000000000 --json`,
	}, func(cmd *cobra.Command, _ []string, c *client.Client, body fields) error {
		t := tail{
			g: g, c: c, r: r, body: body, from: time.Now(), seen: map[seenDelivery]time.Time{},
			failed: pollTries - 1, // an error of the first poll ends the tail
		}
		if since, ok := body["since"].(*storage.Time); ok {
			t.from = since.Time
		}
		return repeat(cmd, 4*g.pollEvery, t.look)
	})))
}

// tail prints deliveries that it has not printed yet.
type tail struct {
	g    *globals
	c    *client.Client
	r    resource
	body fields
	// from is the start of the next poll. seen holds the deliveries printed since then.
	from time.Time
	seen map[seenDelivery]time.Time
	// failed counts failed polls.
	failed failedPolls
}

// seenDelivery identifies an attempt.
type seenDelivery struct {
	trigger, home, endpoint string
	attempt                 int
	outcome                 events.Outcome
}

// look prints deliveries since the last poll, the oldest first.
func (t *tail) look(ctx context.Context) error {
	t.body["since"], t.body["limit"] = storage.Time{Time: t.from.UTC()}, 0
	delete(t.body, "after")
	all, err := all[events.Delivery](ctx, t.c, t.r, t.body)
	if err := t.failed.tolerate(ctx, err); err != nil {
		return err
	}
	slices.SortStableFunc(all, func(a, b events.Delivery) int { return a.At.Compare(b.At.Time) })
	newest := t.from
	for i := range all {
		d := &all[i]
		newest = d.At.Time
		key := seenDelivery{d.TriggerID, d.HomeID, d.EndpointID, d.Attempt, d.Outcome}
		if _, known := t.seen[key]; known {
			continue
		}
		t.seen[key] = d.At.Time
		if err := t.print(d); err != nil {
			return err
		}
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
	words := []string{d.At.UTC().Format("15:04:05.000"), outcome, plain(d.HomeID), or(plain(d.EndpointID)), or(plain(d.MessageID))}
	if last := d.Last(); last.Tried() {
		words = append(words, fmt.Sprintf("attempt %d, %s, %.0f ms", d.Attempt, status(d.Status), d.Milliseconds))
	}
	if d.Reason != "" {
		words = append(words, plain(d.Reason))
	}
	say(t.g.out, "%s\n", strings.Join(words, " "))
	return nil
}

// status formats an endpoint's response status.
func status(code int) string {
	if code == 0 {
		return "no response"
	}
	return fmt.Sprintf("status %d", code)
}
