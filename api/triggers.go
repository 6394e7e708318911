package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

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
	// RatePlanIDs are the plans whose homes alone are meant, such as those of which
	// a critical peak has changed the prices; by default all homes are.
	RatePlanIDs []string `json:"ratePlanIds,omitempty"`

	window pricing.Window
}

func (in *triggerInput) check(_ *server, c *call, p *problems) {
	if in.OrganizationID != nil {
		checkID(p, "organizationId", *in.OrganizationID)
	}
	p.Check(len(in.RatePlanIDs) <= maxTriggeredPlans, "ratePlanIds", "must be at most %d", maxTriggeredPlans)
	for i, plan := range in.RatePlanIDs {
		checkID(p, fmt.Sprintf("ratePlanIds[%d]", i), plan)
	}
	in.window = resolveWindow(in.StartTime, in.EndTime, c.now, p)
}

// maxTriggeredPlans bounds the plans that a trigger names.
const maxTriggeredPlans = 100

// AcceptedTrigger is a trigger that is stored durably and will be walked to its
// end.
type AcceptedTrigger struct {
	TriggerID      string               `json:"triggerId"`
	OrganizationID string               `json:"organizationId"`
	Status         events.TriggerStatus `json:"status"`
	StartTime      storage.Time         `json:"startTime"`
	EndTime        storage.Time         `json:"endTime"`
	// RatePlanIDs are the plans whose homes alone are meant, absent where all are.
	RatePlanIDs []string `json:"ratePlanIds,omitempty"`
	// Homes is how many homes the organization has now, of those meant.
	Homes     int          `json:"homes"`
	CreatedAt storage.Time `json:"createdAt"`
}

func accepted(t *events.Trigger) AcceptedTrigger {
	return AcceptedTrigger{
		TriggerID: t.ID, OrganizationID: t.OrganizationID, Status: events.TriggerAccepted,
		StartTime: t.Start, EndTime: t.End, RatePlanIDs: t.RatePlanIDs, Homes: t.Homes, CreatedAt: t.CreatedAt,
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
	t.RequestID, t.RatePlanIDs = c.requestID, in.RatePlanIDs
	var err error
	if c.idempotencyKey != "" {
		t.OnceKey = digest(c.idempotencyKey)
		if t.Fingerprint, err = fingerprint(in); err != nil {
			return AcceptedTrigger{}, err
		}
	}
	err = s.Store.View(func(v storage.View) error {
		t.Revision = v.Revision()
		t.Homes, err = countMeant(v, &t)
		return err
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

// countMeant counts the homes that a trigger means.
func countMeant(v storage.View, t *events.Trigger) (n int, err error) {
	if len(t.RatePlanIDs) == 0 {
		return v.Count(storage.KindHome, t.OrganizationID), nil
	}
	err = eachHomeOn(v, t.OrganizationID, "", t.RatePlanIDs, func(*storage.Home) bool { n++; return true })
	return n, err
}

// eachHomeOn hands an organization's homes on some rate plans to do, those that sort
// after an identifier, for as long as it wants more.
func eachHomeOn(v storage.View, org, after string, plans []string, do func(h *storage.Home) (more bool)) error {
	// The stored text tells most others apart without decoding it.
	marks := make([][]byte, len(plans))
	for i, plan := range plans {
		marks[i] = []byte(`"ratePlanId":"` + plan + `"`)
	}
	var failed error
	err := v.Scan(storage.KindHome, org, after, func(r storage.Record) bool {
		if r.Deleted || !slices.ContainsFunc(marks, func(mark []byte) bool { return bytes.Contains(r.Value, mark) }) {
			return true
		}
		home, err := storage.Decode[storage.Home](r)
		if failed = err; err != nil {
			return false
		}
		return !slices.Contains(plans, home.RatePlanID) || do(&home)
	})
	return errors.Join(err, failed)
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
