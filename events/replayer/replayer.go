package replayer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"golang.org/x/sync/errgroup"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/events/periodic"
	"github.com/gridhook/gridhook/storage"
)

// Ledger is the part of the ledger that a replayer uses.
type Ledger interface {
	Deliveries(org string, q events.DeliveryQuery) (page []events.Delivery, next string, err error)
	Delivery(org, messageID string) (events.DeliveryLog, error)
	RetryInputs(org, triggerID string, deliveries []events.Delivery) (events.Trigger, []events.RetryInputs, error)
}

// Bus is the part of the message system that a replayer uses. Every Put returns when its
// message is durable.
type Bus interface {
	PutRetries(ctx context.Context, retries []events.Retry) (size int, err error)
	PutReceipt(ctx context.Context, r events.Receipt) error
	HasReceipt(ctx context.Context, org, triggerID, key string) (bool, error)
	Newest(ctx context.Context, org string) (events.Trigger, error)
}

// Deps are the dependencies of a replayer.
type Deps struct {
	Store      *storage.Store
	Ledger     Ledger
	Bus        Bus
	Tasks      events.Tasks
	Log        *slog.Logger
	Registerer prometheus.Registerer
	Now        func() time.Time
}

// Replayer performs replays and manual retries. Any number of replayers may run: each
// replay is a task of one replayer, and another replayer can resume it.
type Replayer struct {
	Deps
	retried prometheus.Counter
	planner events.Planner
}

// New returns a replayer. Run starts it.
func New(d Deps) *Replayer {
	return &Replayer{
		Deps: d, planner: events.Planner{Tasks: d.Tasks, Store: d.Store, Log: d.Log, Kind: events.TaskReplay},
		retried: promauto.With(d.Registerer).NewCounter(prometheus.CounterOpts{
			Namespace: "gridhook", Name: "deliveries_retried_manually_total", Help: "Exhausted or expired deliveries that were retried manually.",
		}),
	}
}

// Numbers of simultaneous replays and manual retries of a process.
const (
	replaySlots = 2
	retrySlots  = 2
)

// Run performs replays and manual retries until ctx ends.
func (r *Replayer) Run(ctx context.Context) error {
	// A replay may take long, so it ends with ctx. The next replayer resumes it.
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return r.Tasks.ConsumeTasks(ctx, ctx, events.TaskReplay, replaySlots, r.replay) })
	group.Go(func() error { return r.Tasks.ConsumeTasks(ctx, ctx, events.TaskRetry, retrySlots, r.retry) })
	group.Go(func() error { return periodic.Run(ctx, planEvery, r.Log, "plan replays", r.plan) })
	return group.Wait()
}

// pageSize is the number of deliveries between two updates of a replay's progress.
const pageSize = 512

// turn is the time after which a replay goes to the end of the queue. Otherwise two long
// replays of one organization would delay all others until their end.
const turn = 10 * time.Second

// errCompleted cancels the update of a completed replay.
var errCompleted = errors.New("the replay is completed")

// replay performs a replay from its cursor on, for one turn.
func (r *Replayer) replay(ctx context.Context, task events.Task, _ events.Taken) error {
	if err := r.Store.CatchUp(ctx); err != nil {
		return err
	}
	ref := storage.KindReplay.Ref(task.OrganizationID, task.ID)
	replay, err := storage.Get[storage.Replay](r.Store, ref)
	began := r.Now()
	for err == nil && replay.Status != storage.ReplayCompleted {
		if r.Now().Sub(began) > turn {
			return r.Tasks.PutTask(ctx, task) // its due time has passed
		}
		var page []events.Delivery
		var next string
		page, next, err = r.Ledger.Deliveries(ref.Org, query(&replay))
		if err != nil {
			break
		}
		var n counts
		if n, err = r.retryDeliveries(ctx, ref.Org, page, replay.CreatedAt); err != nil {
			break
		}
		replay, err = r.note(ctx, ref, replay.Cursor, next, n)
	}
	if storage.NoRecord(err) || errors.Is(err, errCompleted) {
		return nil // the replay was deleted or does not decode: see plan; or another replayer has done this part
	}
	return err
}

func query(replay *storage.Replay) events.DeliveryQuery {
	q := events.DeliveryQuery{EndpointID: replay.EndpointID, Since: replay.Since.Time, After: replay.Cursor, Limit: pageSize}
	for _, o := range replay.Outcomes {
		q.Outcomes = append(q.Outcomes, events.Outcome(o))
	}
	return q
}

// note stores the progress of a replay.
func (r *Replayer) note(ctx context.Context, ref storage.Ref, from, next string, n counts) (storage.Replay, error) {
	now := storage.Time{Time: r.Store.Now()}
	replay, err := storage.Update(ctx, r.Store, ref, func(replay *storage.Replay) error {
		if replay.Status == storage.ReplayCompleted || replay.Cursor != from {
			return errCompleted
		}
		replay.Status, replay.Cursor = storage.ReplayRunning, next
		replay.Found += n.found
		replay.Retried += n.retried
		replay.Superseded += n.superseded
		replay.Lost += n.found - n.retried - n.superseded
		if next == "" {
			replay.Status, replay.CompletedAt = storage.ReplayCompleted, now
		}
		return nil
	})
	if err == nil && next == "" {
		r.Log.Info("replay completed", "replay", ref.ID, "org", ref.Org, "endpoint", replay.EndpointID,
			"found", replay.Found, "retried", replay.Retried, "superseded", replay.Superseded, "lost", replay.Lost)
	}
	return replay, err
}

// counts are the results of retrying deliveries.
type counts struct{ found, retried, superseded int }

// retryDeliveries retries deliveries of an organization, in the order of their triggers.
func (r *Replayer) retryDeliveries(ctx context.Context, org string, deliveries []events.Delivery, again storage.Time) (n counts, err error) {
	newest, err := r.Bus.Newest(ctx, org)
	for len(deliveries) > 0 && err == nil {
		of := 1
		for of < len(deliveries) && deliveries[of].TriggerID == deliveries[0].TriggerID {
			of++
		}
		if err = r.retryTrigger(ctx, org, &newest, deliveries[:of], again, &n); err != nil {
			err = fmt.Errorf("retry deliveries of %s: %w", deliveries[0].TriggerID, err)
		}
		deliveries = deliveries[of:]
	}
	r.retried.Add(float64(n.retried))
	return n, err
}

// retryTrigger retries deliveries of one trigger, unless a newer trigger supersedes it.
func (r *Replayer) retryTrigger(ctx context.Context, org string, newest *events.Trigger, deliveries []events.Delivery, again storage.Time, n *counts) error {
	t, kept, err := r.Ledger.RetryInputs(org, deliveries[0].TriggerID, deliveries)
	if err != nil {
		return err
	}
	n.found += len(deliveries)
	if newest.Supersedes(&t, r.Now()) {
		n.superseded += len(deliveries)
		return nil
	}
	for i := range kept {
		n.retried += len(kept[i].Homes)
		retry, receipt := kept[i].Retry(t, again, r.Now())
		if err := r.putOnce(ctx, retry, receipt); err != nil {
			return err
		}
	}
	return nil
}

// putOnce stores a retry and then the receipt of the manual retry. It does nothing if the
// retry itself has a receipt. An earlier replayer has then stored the retry, and a worker
// has handled it.
func (r *Replayer) putOnce(ctx context.Context, retry events.Retry, receipt events.Receipt) error {
	done, err := r.Bus.HasReceipt(ctx, receipt.OrganizationID, receipt.TriggerID, retry.Key())
	if done || err != nil {
		return err
	}
	if receipt.RetryBytes, err = r.Bus.PutRetries(ctx, []events.Retry{retry}); err != nil {
		return err
	}
	return r.Bus.PutReceipt(ctx, receipt)
}

// RetryRequest is the body of a TaskRetry.
type RetryRequest struct {
	// Again is the time of the request.
	Again storage.Time `json:"again"`
}

// NewRetryTask returns the task of a manual retry of one delivery.
func NewRetryTask(org, messageID string, now time.Time) (events.Task, error) {
	at := storage.Time{Time: now}
	body, err := json.Marshal(RetryRequest{Again: at})
	return events.Task{TaskName: events.TaskName{Kind: events.TaskRetry, OrganizationID: org, ID: messageID}, DueAt: at, Body: body}, err
}

// lagFor is how long one ledger may lag behind another ledger.
const lagFor = 15 * time.Second

var errLagging = errors.New("the ledger does not show the delivery yet")

// retry retries one delivery.
func (r *Replayer) retry(ctx context.Context, task events.Task, _ events.Taken) error {
	var request RetryRequest
	if err := json.Unmarshal(task.Body, &request); err != nil {
		return err
	}
	log, err := r.Ledger.Delivery(task.OrganizationID, task.ID)
	if found := err == nil && log.Outcome.GivenUp(); !found {
		err = storage.IgnoreNotFound(err)
		if err == nil && log.Outcome != events.OutcomeDelivered && r.Now().Sub(task.DueAt.Time) < lagFor {
			err = errLagging
		}
		return err
	}
	_, err = r.retryDeliveries(ctx, task.OrganizationID, []events.Delivery{log.Delivery}, request.Again)
	return err
}
