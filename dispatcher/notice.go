package dispatcher

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"github.com/gridhook/gridhook/dispatcher/gate"
	"github.com/gridhook/gridhook/dispatcher/policy"
	"github.com/gridhook/gridhook/dispatcher/tracing"
	"github.com/gridhook/gridhook/dispatcher/webhook"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// Each endpoint has its own task for a notice, so endpoints do not wait for one another.
// A failed attempt stores the task of the next attempt, until the retries are exhausted.

// noticeSlots is the number of notices that a worker sends at once. A hanging notice
// frees its slot.
const noticeSlots = 4

// handleNotice stores a task for each endpoint and channel that wants the notice.
func (w *Worker) handleNotice(ctx context.Context, n events.Notice, _ events.Taken) error {
	if w.Now().Sub(n.CreatedAt.Time) > events.LongestRetry {
		w.Log.Info("notice too old, dropped", "notice", n.ID, "type", n.Type, "org", n.OrganizationID)
		return nil
	}
	var attempts []events.NoticeAttempt
	err := w.view(func(v storage.View) (err error) {
		attempts, err = w.firstAttempts(v, &n)
		return err
	})
	for _, a := range attempts {
		var task events.Task
		if err == nil {
			task, err = a.Task(w.Now())
		}
		if err == nil {
			err = w.Bus.PutNewTask(ctx, task)
		}
	}
	return err
}

// firstAttempts returns the attempts for the operator's channels, and for the channels and the
// endpoints of the notice's organization if it is active.
func (w *Worker) firstAttempts(v storage.View, n *events.Notice) (list []events.NoticeAttempt, err error) {
	active, err := storage.IsActive(v, n.OrganizationID)
	if err != nil {
		return nil, err
	}
	owners := []string{storage.Shared}
	if active {
		owners = append(owners, n.OrganizationID)
	}
	for _, owner := range owners {
		for r, err := range storage.Live(v, storage.KindChannel, owner, "") {
			if err != nil {
				return nil, err
			}
			c, err := storage.Decode[storage.Channel](r)
			if err != nil {
				w.Log.Error("channel record invalid", "notice", n.ID, "org", owner, "channel", r.ID, "error", err)
			} else if c.Wants(n.Type) {
				list = append(list, events.NoticeAttempt{Notice: *n, Owner: owner, ChannelID: r.ID, Attempt: 1})
			}
		}
	}
	if !active || !slices.Contains(storage.EventTypes(), n.Type) { // the other types are for people
		return list, nil
	}
	targets, broken, err := w.targets.List(v, n.OrganizationID, n.Type)
	for _, b := range broken {
		w.Log.Error("endpoint record invalid", "notice", n.ID, "org", n.OrganizationID, "endpoint", b.ID, "error", b.Err)
	}
	for _, e := range targets {
		if e.ID != n.About { // the endpoint may have been enabled again
			list = append(list, events.NoticeAttempt{Notice: *n, EndpointID: e.ID, Attempt: 1})
		}
	}
	return list, err
}

// handleNoticeTask makes an attempt to send a notice to an endpoint.
func (w *Worker) handleNoticeTask(ctx context.Context, task events.Task, taken events.Taken) error {
	t, done, err := w.noticeAttempt(ctx, task)
	if done || err != nil {
		return err
	}
	n := &t.Notice
	trigger := &events.Trigger{ID: n.ID, OrganizationID: n.OrganizationID, CreatedAt: n.CreatedAt, Traceparent: n.Traceparent}
	to, gone, err := w.recipient(trigger, t.EndpointID)
	switch {
	case storage.NoRecord(err):
		gone = fmt.Sprintf("the stored organization %q cannot be used: update it", n.OrganizationID)
	case err != nil:
		return err
	case gone == "" && !to.Wants(n.Type):
		gone = "the endpoint no longer receives " + n.Type
	}
	if gone != "" {
		return w.dropNotice(ctx, t, gone)
	}
	ctx, span := tracing.Start(ctx, w.Tracer, "notify", trigger, attribute.String("gridhook.notice.id", n.ID), attribute.String("gridhook.event", n.Type))
	defer span.End()
	watch := w.gate.Watch(taken.Free)
	defer watch.End()
	results, _ := w.deliver(ctx, []job{{
		Message: webhook.Message{Trigger: trigger, EndpointID: t.EndpointID, Notice: n}, target: to, attempt: t.Attempt,
	}}, map[*gate.Endpoint]time.Time{to.Gate: w.unavailableUntil(to, w.Now())}, watch)
	return w.recordNotice(ctx, t, &results[0])
}

// noticeAttempt returns the attempt of a task, and whether it is done: a redelivered notice
// stores its tasks again.
func (w *Worker) noticeAttempt(ctx context.Context, task events.Task) (t events.NoticeAttempt, done bool, err error) {
	if err = json.Unmarshal(task.Body, &t); err == nil {
		owner, id := t.Logged()
		done, err = w.Bus.HasReceipt(ctx, owner, id, noticeKey(&t))
	}
	return t, done, err
}

// noticeKey identifies an attempt among the receipts of its notice.
func noticeKey(t *events.NoticeAttempt) string {
	return "n" + strconv.Itoa(t.Attempt) + "." + t.Receiver()
}

// recordNotice stores an attempt to send a notice to an endpoint.
func (w *Worker) recordNotice(ctx context.Context, t events.NoticeAttempt, r *result) error {
	n, d := &t.Notice, &r.delivery
	if d.Outcome.GivenUp() {
		w.Log.Warn("notice retries exhausted", "notice", n.ID, "type", n.Type, "org", n.OrganizationID,
			"endpoint", t.EndpointID, "attempts", d.Attempt, "reason", d.Reason)
	}
	if last := d.Last(); last.Counts() {
		w.metrics.notices.WithLabelValues(string(d.Outcome)).Inc()
	}
	return w.putOutcome(ctx, t, r)
}

// putOutcome stores the task of the next attempt, and then the outcome of this attempt.
func (w *Worker) putOutcome(ctx context.Context, t events.NoticeAttempt, r *result) error {
	owner, id := t.Logged()
	receipt := events.Receipt{
		TriggerID: id, OrganizationID: owner, Key: noticeKey(&t), EventType: t.Notice.Type, Deliveries: []events.Delivery{r.delivery},
	}
	if !r.dueAt.IsZero() {
		t.Attempt = r.nextAttempt
		if err := w.putAttempt(ctx, &t, r.dueAt); err != nil {
			return err
		}
	}
	if last := r.delivery.Last(); !last.Counts() && !last.Outcome.Final() {
		return nil // the next task has the same key
	}
	return w.persist(ctx, func(ctx context.Context) error { return w.Bus.PutReceipt(ctx, receipt) })
}

// dropNotice stores that a receiver no longer receives a notice, and why. It is no failure to
// alert about.
func (w *Worker) dropNotice(ctx context.Context, t events.NoticeAttempt, reason string) error {
	w.Log.Info("notice no longer wanted, dropped", "notice", t.Notice.ID, "org", t.Notice.OrganizationID, "receiver", t.Receiver(), "reason", reason)
	return w.putOutcome(ctx, t, &result{delivery: events.Delivery{
		EndpointID: t.Receiver(), Outcome: events.OutcomeFailed, Attempt: t.Attempt - 1, At: storage.Time{Time: w.Store.Now()}, Reason: reason,
	}})
}

// Each notification channel has its own task for a notice, too. These tasks and the tasks
// for endpoints have separate queues. So neither an endpoint nor another channel waits for
// an SMTP server that hangs.

const (
	// channelSlots is the number of messages to channels that a worker sends at once.
	channelSlots = 4
	// channelHangs is the time after which a message frees its slot.
	channelHangs = 500 * time.Millisecond
)

// errFlooded says that a channel's rate has no place for a message within a day.
var errFlooded = errors.New("the channel has too many messages")

// handleChannelTask makes an attempt to send a notice to a channel.
func (w *Worker) handleChannelTask(ctx context.Context, task events.Task, taken events.Taken) error {
	t, done, err := w.noticeAttempt(ctx, task)
	if done || err != nil {
		return err
	}
	ref := storage.KindChannel.Ref(t.Owner, t.ChannelID)
	c, err := storage.Get[storage.Channel](w.Store, ref)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return w.dropNotice(ctx, t, "the channel was deleted")
	case storage.NoRecord(err):
		return w.dropNotice(ctx, t, fmt.Sprintf("the stored channel %q cannot be used: update it", t.ChannelID))
	case err != nil:
		return err
	case !c.Wants(t.Notice.Type):
		return w.dropNotice(ctx, t, "the channel is disabled or no longer receives "+t.Notice.Type)
	}
	if !t.Admitted {
		now := w.Now()
		wait, ok := w.channels.Admit(ref, now, t.Notice.CreatedAt.Add(events.LongestRetry).Sub(now))
		if !ok {
			return w.recordChannel(ctx, t, 0, errFlooded)
		}
		if t.Admitted = true; wait > 0 {
			return w.putAttempt(ctx, &t, now.Add(wait))
		}
	}
	defer time.AfterFunc(channelHangs, taken.Free).Stop()
	began := time.Now() // only measures the duration
	err = w.channels.Send(ctx, c, &t.Notice, w.Now())
	if err != nil && ctx.Err() != nil {
		return ctx.Err() // the next worker repeats the attempt
	}
	return w.recordChannel(ctx, t, max(time.Since(began), time.Microsecond), err)
}

// recordChannel stores an attempt to send a notice to a channel, which took a time. After a
// failure other than errFlooded another attempt follows.
func (w *Worker) recordChannel(ctx context.Context, t events.NoticeAttempt, took time.Duration, failure error) error {
	now := w.Now()
	r := result{delivery: events.Delivery{
		EndpointID: t.ChannelID, Outcome: events.OutcomeDelivered, Attempt: t.Attempt, At: storage.Time{Time: now.UTC()},
		Milliseconds: float64(took) / float64(time.Millisecond),
	}}
	d := &r.delivery
	defer func() { w.metrics.channels.WithLabelValues(string(d.Outcome)).Inc() }()
	if failure == nil {
		return w.putOutcome(ctx, t, &r)
	}
	d.Reason = failure.Error()
	due, ok := policy.Next(storage.DefaultRetryPolicy(), t.Attempt, now, t.Notice.CreatedAt.Add(events.LongestRetry), 0, w.Jitter())
	details := []any{"notice", t.Notice.ID, "type", t.Notice.Type, "org", t.Owner, "channel", t.ChannelID, "attempt", t.Attempt, "reason", failure}
	switch {
	case errors.Is(failure, errFlooded):
		d.Attempt--
		fallthrough
	case !ok:
		d.Outcome = events.OutcomeFailed
		w.Log.Warn("channel retries exhausted", details...)
	default:
		d.Outcome, d.NextAt = events.OutcomeRetrying, storage.Time{Time: due.UTC()}
		r.dueAt, r.nextAttempt = due, t.Attempt+1
		w.Log.Info("channel attempt failed, retrying", details...)
	}
	return w.putOutcome(ctx, t, &r)
}

// putAttempt stores the task of an attempt to send a notice.
func (w *Worker) putAttempt(ctx context.Context, a *events.NoticeAttempt, due time.Time) error {
	task, err := a.Task(due)
	if err != nil {
		return err
	}
	return w.persist(ctx, func(ctx context.Context) error { return w.Bus.PutTask(ctx, task) })
}
