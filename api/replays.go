package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/events/replayer"
	"github.com/gridhook/gridhook/storage"
)

// Problems of retrying and replaying deliveries.
var (
	errInputsExpired = rest.NewProblem(rest.CodeConflict, "The inputs of the message are past their retention, so the message cannot be created again.",
		"Trigger the organization's webhooks for new messages.")
	errSuperseded  = rest.NewProblem(rest.CodeConflict, "A newer trigger supersedes the delivery.", "Retry the delivery of the newest trigger, or trigger again.")
	errEndpointOff = rest.NewProblem(rest.CodeConflict, "The endpoint is disabled or deleted.", "Enable the endpoint first.")
	errCallback    = rest.NewProblem(rest.CodeConflict, "The delivery went to the callback of an OpenADR subscription and cannot be retried.", "Read the object with the OpenADR interface.")
	errEvent       = rest.NewProblem(rest.CodeConflict, "The delivery is of an event. Gridhook does not store the bodies of events.", "Read the state that the event is about.")
	errReplaying   = rest.NewProblem(rest.CodeConflict, "A replay of the endpoint is running.", "Wait until the replay is completed.")
)

// errNotRetryable says that a delivery has not ended as FAILED or EXPIRED.
func errNotRetryable(d *events.Delivery) *rest.Problem {
	message := fmt.Sprintf("The delivery is %s.", d.Outcome)
	if !d.NextAt.IsZero() {
		message = fmt.Sprintf("The delivery is %s, and its next attempt is at %s.", d.Outcome, d.NextAt.UTC().Format(storage.TimeLayout))
	}
	return rest.NewProblem(rest.CodeConflict, message, "Only FAILED and EXPIRED deliveries can be retried.")
}

func (s *server) retryDelivery(ctx context.Context, c *rest.Call, _ *struct{}) (wire.AcceptedRetry, error) {
	log, err := s.getDelivery(ctx, c, nil)
	switch {
	case err != nil:
		return wire.AcceptedRetry{}, err
	case !log.Outcome.GivenUp():
		return wire.AcceptedRetry{}, errNotRetryable(&log.Delivery)
	case log.EventType != "":
		return wire.AcceptedRetry{}, errEvent
	case strings.HasPrefix(log.EndpointID, storage.SubscriptionPrefix):
		return wire.AcceptedRetry{}, errCallback
	}
	if err := s.enabled(c.Org, log.EndpointID); err != nil {
		if errors.Is(err, storage.ErrNotFound) {
			err = errEndpointOff
		}
		return wire.AcceptedRetry{}, err
	}
	trigger, stored, err := s.Ledger.RetryInputs(c.Org, log.TriggerID, []events.Delivery{log.Delivery})
	if err != nil {
		return wire.AcceptedRetry{}, err
	}
	newest, err := s.Triggers.Newest(ctx, c.Org)
	switch {
	case err != nil:
		return wire.AcceptedRetry{}, err
	case len(stored) == 0:
		return wire.AcceptedRetry{}, errInputsExpired
	case newest.Supersedes(&trigger, c.Now): // the replayer would drop the retry without a trace
		return wire.AcceptedRetry{}, errSuperseded
	}
	task, err := replayer.NewRetryTask(c.Org, c.ID, c.Now)
	if err != nil {
		return wire.AcceptedRetry{}, err
	}
	return wire.AcceptedRetry{ID: c.ID, Status: "ACCEPTED", CreatedAt: task.DueAt}, s.Tasks.PutTask(ctx, task)
}

// enabled returns an error unless the endpoint exists and is enabled. Errors:
// storage.ErrNotFound, errEndpointOff.
func (s *server) enabled(org, endpointID string) error {
	e, err := storage.Get[storage.WebhookEndpoint](s.Store, storage.KindWebhookEndpoint.Ref(org, endpointID))
	if err == nil && !e.Enabled {
		err = errEndpointOff
	}
	return err
}

type replayInput struct{ wire.ReplayInput }

func (in *replayInput) setDefaults() {
	in.Outcomes = []string{string(events.OutcomeFailed), string(events.OutcomeExpired)}
}

func showReplay(r *storage.Replay) wire.Replay {
	return wire.Replay{ReplayProgress: r.ReplayProgress, CreatedAt: r.CreatedAt}
}

func (s *server) replayEndpoint(ctx context.Context, c *rest.Call, in *replayInput) (wire.Replay, error) {
	id := storage.NewID("rpl_", c.Now)
	return rest.Idempotent(ctx, s.rest, c, id, in, func(id string) (wire.Replay, error) {
		replay := storage.Replay{ReplayProgress: storage.ReplayProgress{
			ID: id, EndpointID: c.ID, Since: in.Since, Outcomes: in.Outcomes, Status: storage.ReplayAccepted,
		}}
		replay.OrganizationID = c.Org
		if err := s.startReplay(ctx, c, &replay); err != nil {
			return wire.Replay{}, err
		}
		if err := s.Tasks.PutTask(ctx, events.TaskOf(replay.Ref(), 0, c.Now)); err != nil {
			s.Log.Warn("replay not scheduled, a replayer retries", "replay", id, "org", c.Org, "error", err)
		}
		return showReplay(&replay), nil
	})
}

// startReplay stores a replay, unless another one of its endpoint is incomplete.
func (s *server) startReplay(ctx context.Context, c *rest.Call, replay *storage.Replay) error {
	check := func(v storage.View) error { return replaying(v, replay) }
	err := s.enabled(replay.OrganizationID, replay.EndpointID)
	if err == nil {
		err = s.rest.Scan(ctx, c, check)
	}
	if err == nil {
		err = createOnce(ctx, s.Store, replay)
	}
	if err != nil {
		return err
	}
	// Of simultaneous requests the first one that is stored wins: each sees the earlier
	// ones after its own write. A stored replay waits for no turn, which could be refused.
	if err = s.Store.View(check); errors.Is(err, errReplaying) {
		err = cmp.Or(s.Store.Delete(ctx, replay.Ref()), err)
	}
	return err
}

// replaying returns errReplaying if the endpoint of a replay has an incomplete replay that was
// created before it. The replay may not be stored yet.
func replaying(v storage.View, replay *storage.Replay) error {
	own, err := v.Get(replay.Ref())
	if storage.IgnoreNotFound(err) != nil {
		return err
	}
	for record, err := range storage.Live(v, storage.KindReplay, replay.OrganizationID, "") {
		if err != nil {
			return err
		}
		r, err := storage.Decode[storage.Replay](record)
		if err == nil && r.EndpointID == replay.EndpointID && r.Status != storage.ReplayCompleted && r.ID != replay.ID && (own.First == 0 || record.First < own.First) {
			return errReplaying
		}
	}
	return nil
}
