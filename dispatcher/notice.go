package dispatcher

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"

	"go.opentelemetry.io/otel/attribute"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// A notice is told to each endpoint by a task of its own, so that none waits for
// another: what fails puts the task of its next attempt, until the endpoint's
// patience ends.

// tellingSlots is how many endpoints a worker tells at once; those that hang give
// their slots up.
const tellingSlots = 4

// handleNotice has every endpoint told that wants to be.
func (w *Worker) handleNotice(ctx context.Context, n events.Notice, _ events.Taken) error {
	if w.Now().Sub(n.CreatedAt.Time) > events.LongestRetry {
		w.Log.Info("a notice is too old to be told", "notice", n.ID, "type", n.Type, "org", n.OrganizationID)
		return nil
	}
	var targets []*endpoint
	err := w.Store.View(func(v storage.View) (err error) {
		targets, err = w.endpoints.of(v, n.OrganizationID, n.Type)
		return err
	})
	if err != nil {
		return err
	}
	for _, e := range targets {
		if e.ID == n.About {
			continue // it may have been enabled again
		}
		telling := events.Telling{Notice: n, EndpointID: e.ID, Attempt: 1}
		task, err := telling.Task(w.Now())
		if err != nil {
			return err
		}
		if err := w.Bus.PutNewTask(ctx, task); err != nil {
			return err
		}
	}
	return nil
}

// handleTelling makes an attempt to tell an endpoint.
func (w *Worker) handleTelling(ctx context.Context, task events.Task, taken events.Taken) error {
	var t events.Telling
	if err := json.Unmarshal(task.Body, &t); err != nil {
		return err
	}
	n := &t.Notice
	// A notice that is handed out again puts its tasks again, also those that are done.
	if done, err := w.Bus.HasReceipt(ctx, n.OrganizationID, n.ID, tellingKey(&t)); done || err != nil {
		return err
	}
	var target *endpoint
	err := w.Store.View(func(v storage.View) (err error) {
		target, err = w.endpoints.get(v, n.OrganizationID, t.EndpointID)
		return err
	})
	switch {
	case errors.Is(err, storage.ErrNotFound), err == nil && !target.Wants(n.Type):
		w.metrics.tellings.WithLabelValues(string(events.OutcomeFailed)).Inc()
		w.Log.Info("an endpoint that was to be told does not want to be any more", "notice", n.ID, "org", n.OrganizationID, "endpoint", t.EndpointID)
		return nil
	case err != nil:
		return err
	}
	trigger := &events.Trigger{ID: n.ID, OrganizationID: n.OrganizationID, CreatedAt: n.CreatedAt, Traceparent: n.Traceparent}
	ctx, span := w.tracing.begin(ctx, "tell", trigger, attribute.String("gridhook.notice.id", n.ID), attribute.String("gridhook.event", n.Type))
	defer span.End()
	results := w.attempt(ctx, []job{{
		message: message{id: n.MessageID(t.EndpointID), trigger: trigger, notice: n}, endpoint: target, attempt: t.Attempt,
	}}, taken.Free)
	return w.settleTelling(ctx, t, &results[0])
}

// tellingKey names an attempt among the receipts of its notice.
func tellingKey(t *events.Telling) string { return "n" + strconv.Itoa(t.Attempt) + "." + t.EndpointID }

// settleTelling stores the next attempt, and what came of this one.
func (w *Worker) settleTelling(ctx context.Context, t events.Telling, r *result) error {
	n, d, key := &t.Notice, &r.delivery, tellingKey(&t)
	w.metrics.tellings.WithLabelValues(string(d.Outcome)).Inc()
	if !r.dueAt.IsZero() {
		t.Attempt = r.nextAttempt
		task, err := t.Task(r.dueAt)
		if err != nil {
			return err
		}
		if err := w.hold(ctx, func(ctx context.Context) error { return w.Bus.PutTask(ctx, task) }); err != nil {
			return err
		}
	} else if d.Outcome != events.OutcomeDelivered {
		w.Log.Warn("an endpoint could not be told and is given up", "notice", n.ID, "type", n.Type, "org", n.OrganizationID,
			"endpoint", t.EndpointID, "attempts", d.Attempt, "reason", d.Reason)
	}
	if last := d.Last(); !last.Tried() {
		return nil
	}
	receipt := events.Receipt{
		TriggerID: n.ID, OrganizationID: n.OrganizationID, Key: key,
		Notice: true, Deliveries: []events.Delivery{*d},
	}
	return w.hold(ctx, func(ctx context.Context) error { return w.Bus.PutReceipt(ctx, receipt) })
}
