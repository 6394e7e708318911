package api

import (
	"context"
	"errors"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/storage"
)

// triggerInput asks for the price signals of an organization's homes.
type triggerInput struct {
	// OrganizationID is by default the organization of the key.
	OrganizationID *string `json:"organizationId" null:"no"`
	// StartTime and EndTime are given together or not at all: then it is the
	// 24 hours from the start of the current quarter hour.
	StartTime storage.Time `json:"startTime"`
	EndTime   storage.Time `json:"endTime"`

	window pricing.Window
}

func (in *triggerInput) check(_ *server, c *call, p *problems) {
	if in.OrganizationID != nil {
		checkID(p, "organizationId", *in.OrganizationID)
	}
	in.window = resolveWindow(in.StartTime, in.EndTime, c.now, p)
}

// AcceptedTrigger is a trigger that is stored durably and will be walked to its
// end.
type AcceptedTrigger struct {
	TriggerID      string               `json:"triggerId"`
	OrganizationID string               `json:"organizationId"`
	Status         events.TriggerStatus `json:"status"`
	StartTime      storage.Time         `json:"startTime"`
	EndTime        storage.Time         `json:"endTime"`
	// Homes is how many homes the organization has now.
	Homes     int          `json:"homes"`
	CreatedAt storage.Time `json:"createdAt"`
}

func accepted(t *events.Trigger) AcceptedTrigger {
	return AcceptedTrigger{
		TriggerID: t.ID, OrganizationID: t.OrganizationID, Status: events.TriggerAccepted,
		StartTime: t.Start, EndTime: t.End, Homes: t.Homes, CreatedAt: t.CreatedAt,
	}
}

func (s *server) trigger(ctx context.Context, c *call, in *triggerInput) (AcceptedTrigger, error) {
	org := c.org
	if in.OrganizationID != nil {
		org = *in.OrganizationID
		if err := s.mayActFor(&c.caller, org); err != nil {
			return AcceptedTrigger{}, err
		}
	}
	t := events.NewTrigger(org, in.window, c.now)
	t.RequestID = c.requestID
	var err error
	if c.idempotencyKey != "" {
		t.OnceKey = digest(c.idempotencyKey)
		if t.Fingerprint, err = fingerprint(in); err != nil {
			return AcceptedTrigger{}, err
		}
	}
	err = s.Store.View(func(v storage.View) error {
		t.Homes, t.Revision = v.Count(storage.KindHome, org), v.Revision()
		return nil
	})
	if err != nil {
		return AcceptedTrigger{}, err
	}
	_, err = s.Triggers.Accept(ctx, t)
	var again *events.AlreadyAccepted
	switch {
	case errors.As(err, &again) && again.First.Fingerprint == t.Fingerprint:
		return accepted(&again.First), nil
	case again != nil:
		return AcceptedTrigger{}, errOtherBody
	}
	return accepted(&t), err
}

func (s *server) getTrigger(_ context.Context, c *call, _ *struct{}) (events.Progress, error) {
	return s.Ledger.Progress(c.org, c.id)
}

// listTriggersInput asks for the newest triggers.
type listTriggersInput struct {
	// Limit is the most that is wanted, by default 100.
	Limit int `json:"limit"`
}

func (in *listTriggersInput) setDefaults() { in.Limit = defaultPage }

func (in *listTriggersInput) check(_ *server, _ *call, p *problems) { checkLimit(p, in.Limit) }

func (s *server) listTriggers(_ context.Context, c *call, in *listTriggersInput) (Page[events.Progress], error) {
	list, err := s.Ledger.Recent(c.org, in.Limit)
	return Page[events.Progress]{Data: list}, err
}
