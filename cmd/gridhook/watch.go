package main

import (
	"context"
	"fmt"
	"time"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/events"
)

// pollEvery is the pause between two looks at a trigger that is watched.
const pollEvery = 250 * time.Millisecond

// watch waits for a trigger's end, shows its progress on the way, and then what
// became of its homes.
func (g *globals) watch(ctx context.Context, c *client.Client, accepted client.Accepted) error {
	var p events.Progress
	bar := newBar(g.err, "homes", int64(accepted.Homes))
	tick := time.NewTicker(g.pollEvery)
	defer tick.Stop()
	for p.Status != events.TriggerCompleted {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
		var err error
		if p, err = c.GetTrigger(ctx, accepted.TriggerID); err != nil {
			bar.end()
			say(g.err, "The trigger goes on: gridhook trigger get %s --org %s\n", accepted.TriggerID, accepted.OrganizationID)
			return err
		}
		bar.show(int64(p.Walked), outcomeLine(p))
	}
	bar.end()
	if err := g.showTrigger(p); err != nil {
		return err
	}
	if n := undelivered(p); n > 0 {
		return fmt.Errorf("%w: see gridhook delivery list --org %s --trigger %s (%d of them)", errUndelivered, p.OrganizationID, p.TriggerID, n)
	}
	return nil
}

// outcomeLine sums up a trigger in one line.
func outcomeLine(p events.Progress) string {
	line := fmt.Sprintf("%d delivered", p.Outcomes[events.OutcomeDelivered])
	if n := p.Outcomes[events.OutcomeRetrying]; n > 0 {
		line += fmt.Sprintf(", %d retrying", n)
	}
	if n := undelivered(p) - p.Outcomes[events.OutcomeRetrying]; n > 0 {
		line += fmt.Sprintf(", %d not delivered", n)
	}
	return line
}
