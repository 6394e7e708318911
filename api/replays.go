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
	errEndpointOff = rest.NewProblem(rest.CodeConflict, "The endpoint is disabled or deleted.", "Enable the endpoint first.")
	errCallback    = rest.NewProblem(rest.CodeConflict, "The delivery went to the callback of an OpenADR subscription and cannot be retried.", "Read the object with the OpenADR interface.")
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
	case strings.HasPrefix(log.EndpointID, storage.SubscriptionPrefix):
		return wire.AcceptedRetry{}, errCallback
	}
	if err := s.enabled(c.Org, log.EndpointID); err != nil {
		if errors.Is(err, storage.ErrNotFound) {
			err = errEndpointOff
		}
		return wire.AcceptedRetry{}, err
	}
	_, stored, err := s.Ledger.RetryInputs(c.Org, log.TriggerID, []events.Delivery{log.Delivery})
	switch {
	case err != nil:
		return wire.AcceptedRetry{}, err
	case len(stored) == 0:
		return wire.AcceptedRetry{}, errInputsExpired
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
		if err := s.enabled(c.Org, c.ID); err != nil {
			return wire.Replay{}, err
		}
		replay := storage.Replay{ReplayProgress: storage.ReplayProgress{
			ID: id, EndpointID: c.ID, Since: in.Since, Outcomes: in.Outcomes, Status: storage.ReplayAccepted,
		}}
		replay.OrganizationID = c.Org
		switch going, err := s.replaying(c.Org, c.ID, id); {
		case err != nil:
			return wire.Replay{}, err
		case going:
			return wire.Replay{}, errReplaying
		}
		if err := createOnce(ctx, s.Store, &replay); err != nil {
			return wire.Replay{}, err
		}
		// Of simultaneous requests the first one that is stored wins: each sees the earlier
		// ones after its own write.
		going, err := s.replaying(c.Org, c.ID, id)
		if going {
			err = cmp.Or(s.Store.Delete(ctx, replay.Ref()), error(errReplaying))
		}
		if err != nil {
			return wire.Replay{}, err
		}
		if err := s.Tasks.PutTask(ctx, replayer.Task(&replay, c.Now)); err != nil {
			s.Log.Warn("replay not scheduled, a replayer retries", "replay", id, "org", c.Org, "error", err)
		}
		return showReplay(&replay), nil
	})
}

// replaying reports whether an endpoint has an incomplete replay that was created before
// the replay id, which may not be stored yet.
func (s *server) replaying(org, endpointID, id string) (earlier bool, err error) {
	err = s.Store.View(func(v storage.View) error {
		own, err := v.Get(storage.KindReplay.Ref(org, id))
		if storage.IgnoreNotFound(err) != nil {
			return err
		}
		for record, err := range storage.Live(v, storage.KindReplay, org, "") {
			if err != nil {
				return err
			}
			r, err := storage.Decode[storage.Replay](record)
			if err == nil && r.EndpointID == endpointID && r.Status != storage.ReplayCompleted && r.ID != id && (own.First == 0 || record.First < own.First) {
				earlier = true
			}
		}
		return nil
	})
	return earlier, err
}
