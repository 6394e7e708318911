package api

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/events/replayer"
	"github.com/gridhook/gridhook/storage"
)

// The problems of taking up again what was given up.
var (
	errNotGivenUp = &Problem{
		Status: http.StatusConflict, Code: CodeConflict,
		Message:  "The delivery was not given up: it has arrived, is being tried, or never was.",
		Recovery: "Get the delivery for its outcome. FAILED and EXPIRED can be retried.",
	}
	errNotKept = &Problem{
		Status: http.StatusConflict, Code: CodeConflict,
		Message:  "What the delivery was made of is not kept, so the same message cannot be made again.",
		Recovery: "Trigger the organization's webhooks again for new messages.",
	}
	errEndpointOff = &Problem{
		Status: http.StatusConflict, Code: CodeConflict,
		Message:  "The endpoint is disabled, or was deleted.",
		Recovery: "Enable the endpoint first.",
	}
	errReplaying = &Problem{
		Status: http.StatusConflict, Code: CodeConflict,
		Message:  "A replay of the endpoint is going on.",
		Recovery: "Wait until it is completed.",
	}
)

// AcceptedRetry is a retry that is stored durably.
type AcceptedRetry struct {
	// ID is the delivery's.
	ID string `json:"id"`
	// Status is ACCEPTED.
	Status    string       `json:"status"`
	CreatedAt storage.Time `json:"createdAt"`
}

func (s *server) retryDelivery(ctx context.Context, c *call, _ *struct{}) (AcceptedRetry, error) {
	log, err := s.Ledger.Delivery(c.org, c.id)
	switch {
	case err != nil:
		return AcceptedRetry{}, err
	case !replayer.GivenUp(log.Outcome):
		return AcceptedRetry{}, errNotGivenUp
	}
	if err := s.enabled(c.org, log.EndpointID); err != nil {
		if errors.Is(err, storage.ErrNotFound) {
			err = errEndpointOff
		}
		return AcceptedRetry{}, err
	}
	_, kept, err := s.Ledger.Kept(c.org, log.TriggerID, []events.Delivery{log.Delivery})
	switch {
	case err != nil:
		return AcceptedRetry{}, err
	case len(kept) == 0:
		return AcceptedRetry{}, errNotKept
	}
	task, err := replayer.NewRetryTask(c.org, c.id, c.now)
	if err != nil {
		return AcceptedRetry{}, err
	}
	return AcceptedRetry{ID: c.id, Status: "ACCEPTED", CreatedAt: task.DueAt}, s.putTask(ctx, task)
}

// putTask has a task wait, durably.
func (s *server) putTask(ctx context.Context, t events.Task) error {
	if s.Tasks == nil {
		return storage.ErrUnavailable
	}
	return s.Tasks.PutTask(ctx, t)
}

// enabled checks that an endpoint can be sent to. Errors: storage.ErrNotFound.
func (s *server) enabled(org, endpointID string) error {
	e, err := storage.Get[storage.WebhookEndpoint](s.Store, storage.WebhookEndpointRef(org, endpointID))
	if err == nil && !e.Enabled {
		err = errEndpointOff
	}
	return err
}

// replayInput says which deliveries of an endpoint are to be taken up again.
type replayInput struct {
	// Since is from when on, by the time of the last attempt.
	Since storage.Time `json:"since" null:"no"`
	// Outcomes are FAILED, EXPIRED, or by default both.
	Outcomes []string `json:"outcomes"`
}

// replayable are the outcomes that can be taken up again.
func replayable() []string {
	return []string{string(events.OutcomeFailed), string(events.OutcomeExpired)}
}

func (in *replayInput) setDefaults() { in.Outcomes = replayable() }

func (in *replayInput) check(_ *server, _ *call, p *problems) {
	p.Check(!in.Since.IsZero(), "since", "is required")
	p.Check(len(in.Outcomes) > 0, "outcomes", "must name at least one outcome")
	for i, o := range in.Outcomes {
		p.Check(slices.Contains(replayable(), o), "outcomes["+strconv.Itoa(i)+"]", "must be one of %s", oneOf(replayable()))
	}
}

// Replay is a replay as it is shown.
type Replay struct {
	ID         string               `json:"id"`
	EndpointID string               `json:"endpointId"`
	Since      storage.Time         `json:"since"`
	Outcomes   []string             `json:"outcomes"`
	Status     storage.ReplayStatus `json:"status"`
	// Found is how many deliveries it has come to so far.
	Found int `json:"found"`
	// Retried is how many of them were taken up again.
	Retried int `json:"retried"`
	// Superseded is how many were left as a newer trigger has taken their place.
	Superseded int `json:"superseded"`
	// Lost is how many were left as what they were made of is not kept.
	Lost        int          `json:"lost"`
	CreatedAt   storage.Time `json:"createdAt"`
	CompletedAt storage.Time `json:"completedAt"`
}

func showReplay(r *storage.Replay) Replay {
	return Replay{
		ID: r.ID, EndpointID: r.EndpointID, Since: r.Since, Outcomes: r.Outcomes, Status: r.Status,
		Found: r.Found, Retried: r.Retried, Superseded: r.Superseded, Lost: r.Lost,
		CreatedAt: r.CreatedAt, CompletedAt: r.CompletedAt,
	}
}

func (s *server) replayEndpoint(ctx context.Context, c *call, in *replayInput) (Replay, error) {
	id := storage.NewID("rpl_", c.now)
	return once(ctx, s, c, c.org, c.org+"/"+c.id, id, in, func(id string) (Replay, error) {
		if err := s.enabled(c.org, c.id); err != nil {
			return Replay{}, err
		}
		replay := storage.Replay{ID: id, EndpointID: c.id, Since: in.Since, Outcomes: in.Outcomes, Status: storage.ReplayAccepted}
		replay.OrganizationID = c.org
		switch going, err := s.replaying(c.org, c.id, id); {
		case err != nil:
			return Replay{}, err
		case going:
			return Replay{}, errReplaying
		}
		if err := s.Store.Create(ctx, &replay); err != nil && !errors.Is(err, storage.ErrExists) {
			return Replay{}, err
		}
		if err := s.putTask(ctx, replayer.Task(&replay, c.now)); err != nil {
			s.Log.Warn("a replay could not be put; a replayer will", "replay", id, "org", c.org, "error", err)
		}
		return showReplay(&replay), nil
	})
}

// replaying reports whether another replay of an endpoint is not completed.
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

func (s *server) getReplay(_ context.Context, c *call, _ *struct{}) (Replay, error) {
	r, err := storage.Get[storage.Replay](s.Store, storage.ReplayRef(c.org, c.id))
	return showReplay(&r), err
}

func (s *server) listReplays(_ context.Context, c *call, in *pageInput) (Page[Replay], error) {
	list, err := storage.List[storage.Replay](s.Store, storage.KindReplay, c.org, in.After, in.Limit+1)
	page := newPage(list, in.Limit, func(r *storage.Replay) string { return r.ID })
	return show(page, showReplay), err
}
