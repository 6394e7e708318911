package channel

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gridhook/gridhook/dispatcher/policy"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// Each notification channel has its own task for a notice. These tasks and the tasks for
// endpoints have separate queues. So neither an endpoint nor another channel waits for an
// SMTP server that hangs.

const (
	// Slots is the number of messages to channels that a worker sends at once.
	Slots = 4
	// hangs is the time after which a message frees its slot.
	hangs = 500 * time.Millisecond
)

// Tasks stores tasks. See events.Tasks.
type Tasks interface {
	PutTask(ctx context.Context, t events.Task) error
	PutNewTask(ctx context.Context, t events.Task) error
}

// Handler makes the tasks of notices, and sends their messages.
type Handler struct {
	Sender *Sender
	Store  *storage.Store
	Tasks  Tasks
	// Persist repeats a write while NATS is unavailable.
	Persist func(ctx context.Context, store func(ctx context.Context) error) error
	Log     *slog.Logger
	Now     func() time.Time
	// Jitter returns a number in [0,1).
	Jitter func() float64
	// Attempts counts attempts by outcome.
	Attempts *prometheus.CounterVec
}

// errFlooded says that a channel's rate has no place for a message within a day.
var errFlooded = errors.New("the channel has too many messages")

// PutTasks stores a task for each channel that wants a notice: the channels of the
// notice's organization unless it is suspended, and the operator's channels.
func (h *Handler) PutTasks(ctx context.Context, n *events.Notice) error {
	var wanted []storage.Ref
	err := h.Store.View(func(v storage.View) error {
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
					h.Log.Error("channel record invalid", "notice", n.ID, "org", owner, "channel", r.ID, "error", err)
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
		if task, err = first.Task(h.Now()); err == nil {
			err = h.Tasks.PutNewTask(ctx, task)
		}
	}
	return err
}

// Handle makes an attempt to send a notice to a channel.
func (h *Handler) Handle(ctx context.Context, task events.Task, taken events.Taken) error {
	var t events.ChannelAttempt
	if err := json.Unmarshal(task.Body, &t); err != nil {
		return err
	}
	ref := storage.ChannelRef(t.Owner, t.ChannelID)
	c, err := storage.Get[storage.Channel](h.Store, ref)
	switch {
	case errors.Is(err, storage.ErrNotFound), err == nil && !c.Wants(t.Notice.Type):
		h.Log.Info("notice no longer wanted, dropped", "notice", t.Notice.ID, "org", t.Owner, "channel", t.ChannelID)
		return nil
	case err != nil:
		return err
	}
	if !t.Admitted {
		now := h.Now()
		wait, ok := h.Sender.Admit(ref, now, t.Notice.CreatedAt.Add(events.LongestRetry).Sub(now))
		if !ok {
			return h.record(ctx, &t, errFlooded)
		}
		if t.Admitted = true; wait > 0 {
			return h.putTask(ctx, &t, now.Add(wait))
		}
	}
	defer time.AfterFunc(hangs, taken.Free).Stop()
	err = h.Sender.Send(ctx, c, &t.Notice, h.Now())
	if err != nil && ctx.Err() != nil {
		return ctx.Err() // the next worker repeats the attempt
	}
	return h.record(ctx, &t, err)
}

// record counts an attempt and stores the task of the next attempt after a failure.
func (h *Handler) record(ctx context.Context, t *events.ChannelAttempt, failure error) error {
	outcome := events.OutcomeDelivered
	defer func() { h.Attempts.WithLabelValues(string(outcome)).Inc() }()
	if failure == nil {
		return nil
	}
	deadline := t.Notice.CreatedAt.Add(events.LongestRetry)
	due, ok := policy.Next(storage.DefaultRetryPolicy(), t.Attempt, h.Now(), deadline, 0, h.Jitter())
	ok = ok && !errors.Is(failure, errFlooded)
	details := []any{"notice", t.Notice.ID, "type", t.Notice.Type, "org", t.Owner, "channel", t.ChannelID, "attempt", t.Attempt, "reason", failure}
	if !ok {
		outcome = events.OutcomeFailed
		h.Log.Warn("channel retries exhausted", details...)
		return nil
	}
	outcome = events.OutcomeRetrying
	h.Log.Info("channel attempt failed, retrying", details...)
	t.Attempt++
	return h.putTask(ctx, t, due)
}

func (h *Handler) putTask(ctx context.Context, t *events.ChannelAttempt, due time.Time) error {
	task, err := t.Task(due)
	if err != nil {
		return err
	}
	return h.Persist(ctx, func(ctx context.Context) error { return h.Tasks.PutTask(ctx, task) })
}
