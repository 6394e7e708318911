package dispatcher

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/gridhook/gridhook/dispatcher/policy"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// Each notification channel has its own task for a notice, on a queue apart from that of
// endpoints. So neither an endpoint nor another channel waits for an SMTP server that
// hangs.

const (
	// channelSlots is the number of messages to channels that a worker sends at once.
	channelSlots = 4
	// channelHangs is the time after which a message frees its slot.
	channelHangs = 500 * time.Millisecond
)

// errFlooded says that a channel's rate has no place for a message within a day.
var errFlooded = errors.New("the channel has too many messages")

// putChannelTasks stores a task for each channel that wants a notice: the channels of the
// notice's organization unless it is suspended, and the operator's channels.
func (w *Worker) putChannelTasks(ctx context.Context, n *events.Notice) error {
	var wanted []storage.Ref
	err := w.view(func(v storage.View) error {
		suspended, err := storage.IsSuspended(v, n.OrganizationID)
		if err != nil {
			return err
		}
		owners := []string{storage.Shared}
		if !suspended {
			owners = append(owners, n.OrganizationID)
		}
		for _, owner := range owners {
			for r, err := range storage.Live(v, storage.KindChannel, owner, "") {
				if err != nil {
					return err
				}
				c, err := storage.Decode[storage.Channel](r)
				if err != nil {
					w.Log.Error("channel record invalid", "notice", n.ID, "org", owner, "channel", r.ID, "error", err)
				} else if c.Wants(n.Type) {
					wanted = append(wanted, r.Ref)
				}
			}
		}
		return nil
	})
	for _, ref := range wanted {
		if err != nil {
			break
		}
		first := events.ChannelAttempt{Notice: *n, Owner: ref.Org, ChannelID: ref.ID, Attempt: 1}
		var task events.Task
		if task, err = first.Task(w.Now()); err == nil {
			err = w.Bus.PutNewTask(ctx, task)
		}
	}
	return err
}

// handleChannelTask makes an attempt to send a notice to a channel.
func (w *Worker) handleChannelTask(ctx context.Context, task events.Task, taken events.Taken) error {
	var t events.ChannelAttempt
	if err := json.Unmarshal(task.Body, &t); err != nil {
		return err
	}
	ref := storage.ChannelRef(t.Owner, t.ChannelID)
	c, err := storage.Get[storage.Channel](w.Store, ref)
	switch {
	case errors.Is(err, storage.ErrNotFound), err == nil && !c.Wants(t.Notice.Type):
		w.Log.Info("notice no longer wanted, dropped", "notice", t.Notice.ID, "org", t.Owner, "channel", t.ChannelID)
		return nil
	case err != nil:
		return err
	}
	if !t.Admitted {
		now := w.Now()
		wait, ok := w.channels.Admit(ref, now, t.Notice.CreatedAt.Add(events.LongestRetry).Sub(now))
		if !ok {
			return w.recordChannel(ctx, &t, errFlooded)
		}
		if t.Admitted = true; wait > 0 {
			return w.putChannelTask(ctx, &t, now.Add(wait))
		}
	}
	defer time.AfterFunc(channelHangs, taken.Free).Stop()
	err = w.channels.Send(ctx, c, &t.Notice, w.Now())
	if err != nil && ctx.Err() != nil {
		return ctx.Err() // the next worker repeats the attempt
	}
	return w.recordChannel(ctx, &t, err)
}

// recordChannel counts an attempt and stores the task of the next attempt after a failure.
func (w *Worker) recordChannel(ctx context.Context, t *events.ChannelAttempt, failure error) error {
	outcome := events.OutcomeDelivered
	defer func() { w.metrics.channels.WithLabelValues(string(outcome)).Inc() }()
	if failure == nil {
		return nil
	}
	deadline := t.Notice.CreatedAt.Add(events.LongestRetry)
	due, ok := policy.Next(storage.DefaultRetryPolicy(), t.Attempt, w.Now(), deadline, 0, w.Jitter())
	ok = ok && !errors.Is(failure, errFlooded)
	details := []any{"notice", t.Notice.ID, "type", t.Notice.Type, "org", t.Owner, "channel", t.ChannelID, "attempt", t.Attempt, "reason", failure}
	if !ok {
		outcome = events.OutcomeFailed
		w.Log.Warn("channel retries exhausted", details...)
		return nil
	}
	outcome = events.OutcomeRetrying
	w.Log.Info("channel attempt failed, retrying", details...)
	t.Attempt++
	return w.putChannelTask(ctx, t, due)
}

func (w *Worker) putChannelTask(ctx context.Context, t *events.ChannelAttempt, due time.Time) error {
	task, err := t.Task(due)
	if err != nil {
		return err
	}
	return w.persist(ctx, func(ctx context.Context) error { return w.Bus.PutTask(ctx, task) })
}
