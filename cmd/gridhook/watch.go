package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/cmd/internal/sandbox"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// These are the pauses of a watch.
const (
	// pollEvery is the pause between two polls of a watched trigger.
	pollEvery = 250 * time.Millisecond
	// progressEvery is the pause between two lines of progress, and between two queries of
	// the failures' reasons.
	progressEvery = 5 * time.Second
)

// pollTries is the number of failed polls in a row after which a watch ends: the server may
// restart meanwhile.
const pollTries = 40

// watch waits for a trigger's end and shows its progress, then the trigger with its
// outcomes, also after a timeout or an error. A timeout of 0 means no timeout.
func (g *globals) watch(ctx context.Context, c *client.Client, accepted client.Accepted, timeout time.Duration) error {
	w := watcher{g: g, c: c, progress: g.newProgress(), reported: time.Now()}
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	err := sandbox.Poll(ctx, g.pollEvery, func() (bool, error) {
		err := w.look(ctx, accepted.TriggerID)
		return w.p.Status == events.TriggerCompleted, err
	})
	w.progress.end()
	var last any = w.p
	if w.p.TriggerID == "" { // no poll has succeeded
		last = accepted
	}
	if err := triggers(g).show(last, operation{}); err != nil {
		return err
	}
	if err != nil {
		say(g.err, "The trigger continues: gridhook trigger get %s%s\n", accepted.TriggerID, g.orgFlag())
		if timeout > 0 && ctx.Err() != nil {
			return fmt.Errorf("%w within %s: %s", errUndelivered, short(timeout), w.line())
		}
		return err
	}
	switch worst := worstOutcome(w.p); {
	case worst != "":
		return fmt.Errorf("%w: %d %s, see gridhook delivery list%s --trigger %s --outcome %[3]s",
			errUndelivered, w.p.Outcomes[worst], worst, g.orgFlag(), w.p.TriggerID)
	case w.p.Walked > 0 && len(w.p.Outcomes) == 0:
		return fmt.Errorf("%w: no endpoint selects any of the homes: see gridhook endpoint list%s", errUndelivered, g.orgFlag())
	}
	return nil
}

// watcher polls a trigger and shows its progress.
type watcher struct {
	g        *globals
	c        *client.Client
	progress *progressLine
	p        events.Progress
	failed   failedPolls
	// reasons are the reasons for the wait at the time reported.
	reasons  []string
	reported time.Time
}

func (w *watcher) look(ctx context.Context, id string) (err error) {
	p, err := w.c.GetTrigger(ctx, id)
	if tolerated := w.failed.tolerate(ctx, err); err != nil {
		return tolerated
	}
	if w.p = p; p.Status == events.TriggerCompleted {
		return nil
	}
	if time.Since(w.reported) >= w.g.progressEvery {
		w.reported, w.reasons = time.Now(), w.why(ctx)
	}
	w.progress.show(fmt.Sprintf("%d of %d homes walked; %s", p.Walked, p.Homes, w.line()), 0, 0)
	return nil
}

// failedPolls counts failed polls in a row.
type failedPolls int

// tolerate counts the result of a poll. It returns an error that another poll cannot
// change, and any error after pollTries failed polls.
func (n *failedPolls) tolerate(ctx context.Context, err error) error {
	if err == nil {
		*n = 0
		return nil
	}
	if *n++; *n >= pollTries || ctx.Err() != nil || !temporary(err) {
		return err
	}
	return nil
}

// temporary reports whether the same request may succeed later: the server did not respond,
// or could not.
func temporary(err error) bool {
	refused, responded := errors.AsType[*client.Error](err)
	return !responded || refused.Status >= http.StatusInternalServerError || refused.Status == http.StatusTooManyRequests
}

// line returns the outcomes so far, the end of the retries and the reasons for the wait.
func (w *watcher) line() string {
	line := "deliveries: " + outcomeLine(w.p)
	if w.p.Outcomes[events.OutcomeRetrying] > 0 {
		line += fmt.Sprintf(" until %s at the latest", moment(storage.Time{Time: w.p.CreatedAt.Add(events.LongestRetry)}))
	}
	return strings.Join(append([]string{line}, w.reasons...), "; ")
}

// why returns the breakers that are not closed, for which walks and retries wait, and the
// reasons for retries, of one page of deliveries. A failed query returns nothing: the
// trigger goes on, and the next query may succeed.
func (w *watcher) why(ctx context.Context) (reasons []string) {
	const page, most = 200, 3
	endpoints, _ := client.All(ctx, w.c.Endpoints)
	for i := range endpoints {
		if e := &endpoints[i]; e.Breaker.Workers > 0 {
			reasons = append(reasons, fmt.Sprintf("endpoint %s: breaker %s: %s", e.ID, breakerText(e.Breaker), or(plain(e.Health.LastFailure))))
		}
	}
	if w.p.Outcomes[events.OutcomeRetrying] > 0 {
		failed, _, _ := w.c.Deliveries(ctx, client.DeliveriesRequest{
			TriggerID: w.p.TriggerID, Outcome: events.OutcomeRetrying, Limit: page,
		})
		for i := range failed {
			reason := plain(failed[i].Reason)
			if !slices.ContainsFunc(reasons, func(known string) bool { return strings.HasSuffix(known, reason) }) {
				reasons = append(reasons, reason)
			}
		}
	}
	if len(reasons) == 0 && w.p.Status == events.TriggerAccepted {
		return []string{"no worker has finished a slice"}
	}
	return reasons[:min(most, len(reasons))]
}

// warnWithoutEndpoint warns that there is no endpoint to deliver to, or that the
// organization is suspended.
func (g *globals) warnWithoutEndpoint(ctx context.Context, c *client.Client) {
	if !g.isPartner() { // a suspended partner's key is refused
		if o, err := c.GetOrganization(ctx, g.org); err == nil && o.Suspended {
			say(g.err, "warning: %s is suspended, so each home ends as %s: gridhook org update %s --suspended=false resumes it\n", g.org, events.OutcomeNoEndpoint, g.org)
			return
		}
	}
	endpoints, err := client.All(ctx, c.Endpoints)
	enabled := func(e client.Endpoint) bool { return e.Enabled }
	switch {
	case err != nil, slices.ContainsFunc(endpoints, enabled):
	case len(endpoints) == 0:
		say(g.err, "warning: no endpoint, so each home ends as %s: register one with gridhook endpoint create%s --url URL\n", events.OutcomeNoEndpoint, g.orgFlag())
	default:
		say(g.err, "warning: no enabled endpoint, so each home ends as %s: see gridhook endpoint list%s\n", events.OutcomeNoEndpoint, g.orgFlag())
	}
}

// warnWithoutHomes prints a warning if a trigger has no homes, such as for a misspelled plan.
func (g *globals) warnWithoutHomes(t *client.Accepted) {
	switch {
	case t.Homes > 0:
	case len(t.RatePlanIDs) > 0:
		say(g.err, "warning: no home has the rate plan %s: see gridhook home list%s\n", strings.Join(t.RatePlanIDs, " or "), g.orgFlag())
	default:
		say(g.err, "warning: the organization has no homes: see gridhook import --help\n")
	}
}

// worstOutcome returns the outcome of most deliveries that did not reach their home's endpoint.
func worstOutcome(p events.Progress) events.Outcome {
	var worst events.Outcome
	for _, o := range events.Outcomes() {
		if !reached(o) && p.Outcomes[o] > p.Outcomes[worst] {
			worst = o
		}
	}
	return worst
}

// outcomeLine sums up a trigger in one line.
func outcomeLine(p events.Progress) string {
	undelivered := 0
	for outcome, n := range p.Outcomes {
		if !reached(outcome) && outcome != events.OutcomeRetrying {
			undelivered += n
		}
	}
	line := fmt.Sprintf("%d delivered", p.Outcomes[events.OutcomeDelivered])
	if undelivered > 0 {
		line += fmt.Sprintf(", %d not delivered", undelivered)
	}
	if n := p.Outcomes[events.OutcomeRetrying]; n > 0 {
		line += fmt.Sprintf(", %d retrying", n)
	}
	return line
}

// watchable adds the flag --watch, which repeats a command until it is interrupted. Each
// output that differs from the last is printed. A terminal is cleared before it.
func (g *globals) watchable(cmd *cobra.Command) *cobra.Command {
	var watch bool
	cmd.Flags().BoolVar(&watch, "watch", false, "repetition every 2 s until Ctrl-C, with an output after each change")
	once := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if !watch {
			return once(cmd, args)
		}
		w := watchedOutput{out: g.out}
		defer func() { g.out = w.out }()
		return repeat(cmd, 8*g.pollEvery, func(ctx context.Context) error { return w.look(ctx, g, func() error { return once(cmd, args) }) })
	}
	return cmd
}

// repeat repeats look until it fails or a signal arrives. The signal is not an error.
func repeat(cmd *cobra.Command, every time.Duration, look func(ctx context.Context) error) error {
	ctx := cmd.Context()
	err := sandbox.Poll(ctx, every, func() (bool, error) { return false, look(ctx) })
	if ctx.Err() == nil {
		return err
	}
	return nil
}

// watchedOutput is the output of a command that repeats.
type watchedOutput struct {
	out  io.Writer
	last string
}

// look runs the command once and prints its output if it has changed. It returns an error
// only if a repetition does not help, or if the first run shows nothing.
func (w *watchedOutput) look(ctx context.Context, g *globals, once func() error) error {
	var text bytes.Buffer
	g.out = &text
	err := once()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	problem := ""
	if err != nil {
		if isUsage(err) || !temporary(err) || w.last == "" && text.Len() == 0 {
			return err
		}
		problem = "gridhook: " + g.sentence(err) + "\n"
	}
	if shown := text.String() + problem; shown == w.last {
		return nil
	} else if w.last = shown; isTerminal(w.out) {
		say(w.out, "\x1b[2J\x1b[H")
	}
	say(g.err, "%s", problem)
	_, err = text.WriteTo(w.out)
	return err
}
