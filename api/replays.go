package api

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/events/replayer"
	"github.com/gridhook/gridhook/storage"
)

// Problems of retrying and replaying deliveries.
var (
	errNotGivenUp = &rest.Problem{
		Status: http.StatusConflict, Code: rest.CodeConflict,
		Message:  "The delivery was not given up: it has arrived, is being tried, or never was.",
		Recovery: "Get the delivery for its outcome. FAILED and EXPIRED can be retried.",
	}
	errNoInputs = &rest.Problem{
		Status: http.StatusConflict, Code: rest.CodeConflict,
		Message:  "The inputs of the delivery are not stored any more, so the same message cannot be made again.",
		Recovery: "Trigger the organization's webhooks again for new messages.",
	}
	errEndpointOff = &rest.Problem{
		Status: http.StatusConflict, Code: rest.CodeConflict,
		Message:  "The endpoint is disabled, or was deleted.",
		Recovery: "Enable the endpoint first.",
	}
	errReplaying = &rest.Problem{
		Status: http.StatusConflict, Code: rest.CodeConflict,
		Message:  "A replay of the endpoint is going on.",
		Recovery: "Wait until it is completed.",
	}
)

func (s *server) retryDelivery(ctx context.Context, c *rest.Call, _ *struct{}) (wire.AcceptedRetry, error) {
	log, err := s.Ledger.Delivery(c.Org, c.ID)
	switch {
	case err != nil:
		return wire.AcceptedRetry{}, err
	case !replayer.GivenUp(log.Outcome):
		return wire.AcceptedRetry{}, errNotGivenUp
	}
	if err := s.enabled(c.Org, log.EndpointID); err != nil {
		if errors.Is(err, storage.ErrNotFound) {
			err = errEndpointOff
		}
		return wire.AcceptedRetry{}, err
	}
	_, kept, err := s.Ledger.RetryInputs(c.Org, log.TriggerID, []events.Delivery{log.Delivery})
	switch {
	case err != nil:
		return wire.AcceptedRetry{}, err
	case len(kept) == 0:
		return wire.AcceptedRetry{}, errNoInputs
	}
	task, err := replayer.NewRetryTask(c.Org, c.ID, c.Now)
	if err != nil {
		return wire.AcceptedRetry{}, err
	}
	return wire.AcceptedRetry{ID: c.ID, Status: "ACCEPTED", CreatedAt: task.DueAt}, s.putTask(ctx, task)
}

// putTask schedules a task durably.
func (s *server) putTask(ctx context.Context, t events.Task) error {
	if s.Tasks == nil {
		return storage.ErrUnavailable
	}
	return s.Tasks.PutTask(ctx, t)
}

// enabled returns an error unless the endpoint exists and is enabled. Errors:
// storage.ErrNotFound, errEndpointOff.
func (s *server) enabled(org, endpointID string) error {
	e, err := storage.Get[storage.WebhookEndpoint](s.Store, storage.WebhookEndpointRef(org, endpointID))
	if err == nil && !e.Enabled {
		err = errEndpointOff
	}
	return err
}

type replayInput struct{ wire.ReplayInput }

func (in *replayInput) setDefaults() {
	in.Outcomes = []string{string(events.OutcomeFailed), string(events.OutcomeExpired)}
}

func (in *replayInput) check(_ *server, _ *rest.Call, p *rest.FieldErrors) {
	p.Check(!in.Since.IsZero(), "since", "is required")
}

func showReplay(r *storage.Replay) wire.Replay {
	return wire.Replay{
		ID: r.ID, EndpointID: r.EndpointID, Since: r.Since, Outcomes: r.Outcomes, Status: r.Status,
		Found: r.Found, Retried: r.Retried, Superseded: r.Superseded, Lost: r.Lost,
		CreatedAt: r.CreatedAt, CompletedAt: r.CompletedAt,
	}
}

func (s *server) replayEndpoint(ctx context.Context, c *rest.Call, in *replayInput) (wire.Replay, error) {
	id := storage.NewID("rpl_", c.Now)
	return rest.Idempotent(ctx, s.rest, c, c.Org, c.Org+"/"+c.ID, id, in, func(id string) (wire.Replay, error) {
		if err := s.enabled(c.Org, c.ID); err != nil {
			return wire.Replay{}, err
		}
		replay := storage.Replay{ID: id, EndpointID: c.ID, Since: in.Since, Outcomes: in.Outcomes, Status: storage.ReplayAccepted}
		replay.OrganizationID = c.Org
		switch going, err := s.replaying(c.Org, c.ID, id); {
		case err != nil:
			return wire.Replay{}, err
		case going:
			return wire.Replay{}, errReplaying
		}
		if err := s.Store.Create(ctx, &replay); err != nil && !errors.Is(err, storage.ErrExists) {
			return wire.Replay{}, err
		}
		if err := s.putTask(ctx, replayer.Task(&replay, c.Now)); err != nil {
			s.Log.Warn("a replay could not be put; a replayer will", "replay", id, "org", c.Org, "error", err)
		}
		return showReplay(&replay), nil
	})
}

// replaying reports whether an endpoint has an incomplete replay other than but.
func (s *server) replaying(org, endpointID, but string) (going bool, err error) {
	err = s.Store.View(func(v storage.View) error {
		list, err := storage.ReadList[storage.Replay](v, storage.KindReplay, org, "", v.Count(storage.KindReplay, org))
		going = slices.ContainsFunc(list, func(r storage.Replay) bool {
			return r.EndpointID == endpointID && r.Status != storage.ReplayCompleted && r.ID != but
		})
		return err
	})
	return going, err
}

func (s *server) getReplay(_ context.Context, c *rest.Call, _ *struct{}) (wire.Replay, error) {
	r, err := storage.Get[storage.Replay](s.Store, storage.ReplayRef(c.Org, c.ID))
	return showReplay(&r), err
}

func (s *server) listReplays(_ context.Context, c *rest.Call, in *wire.PageInput) (wire.Page[wire.Replay], error) {
	list, err := storage.List[storage.Replay](s.Store, storage.KindReplay, c.Org, in.After, in.Limit+1)
	page := rest.NewPage(list, in.Limit, func(r *storage.Replay) string { return r.ID })
	return rest.Show(page, showReplay), err
}
