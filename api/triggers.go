package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/storage"
)

// triggerInput requests the price signals of an organization's homes.
type triggerInput struct {
	wire.TriggerInput

	window pricing.Window
}

func (in *triggerInput) check(c *rest.Call) {
	if in.OrganizationID != nil {
		storage.CheckID(&c.Wrong, "organizationId", *in.OrganizationID)
	}
	in.window = resolveWindow(c, in.StartTime, in.EndTime)
}

func accepted(t *events.Trigger) wire.AcceptedTrigger {
	return wire.AcceptedTrigger{
		TriggerID: t.ID, OrganizationID: t.OrganizationID, Status: events.TriggerAccepted,
		StartTime: t.Start, EndTime: t.End, RatePlanIDs: t.RatePlanIDs, Homes: t.Homes, CreatedAt: t.CreatedAt,
	}
}

func (s *server) trigger(ctx context.Context, c *rest.Call, in *triggerInput) (wire.AcceptedTrigger, error) {
	org := c.Org
	if in.OrganizationID != nil {
		org = *in.OrganizationID
		if err := s.rest.MayActFor(&c.Caller, org); err != nil {
			return wire.AcceptedTrigger{}, err
		}
	}
	t := events.NewTrigger(org, in.window, c.Now)
	t.RequestID, t.RatePlanIDs = c.RequestID, in.RatePlanIDs
	var err error
	if c.IdempotencyKey != "" {
		t.IdempotencyKey = rest.Digest(c.IdempotencyKey)
		if t.Fingerprint, err = rest.Fingerprint(in); err != nil {
			return wire.AcceptedTrigger{}, err
		}
	}
	if err := s.Triggers.Admit(ctx, t); err != nil {
		return wire.AcceptedTrigger{}, err
	}
	if err := s.catchUp(ctx); err != nil {
		return wire.AcceptedTrigger{}, err
	}
	start := func(v storage.View) error {
		homes, err := countHomes(v, &t)
		if err != nil {
			return err
		}
		return t.StartFrom(v, homes)
	}
	if len(t.RatePlanIDs) == 0 {
		err = s.Store.View(start)
	} else {
		err = s.rest.Scan(ctx, c, start)
	}
	if err != nil {
		return wire.AcceptedTrigger{}, err
	}
	_, err = s.Triggers.Accept(ctx, t)
	switch again, ok := errors.AsType[*events.AlreadyAccepted](err); {
	case ok && again.First.Fingerprint == t.Fingerprint:
		return accepted(&again.First), nil
	case ok:
		return wire.AcceptedTrigger{}, rest.ErrOtherBody
	}
	return accepted(&t), err
}

// catchUpTimeout is how long a trigger waits for a replica that lags.
const catchUpTimeout = 5 * time.Second

// catchUp waits until the replica has the earlier writes of every process.
// A trigger at an older revision would skip the homes created since.
func (s *server) catchUp(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, catchUpTimeout)
	defer cancel()
	if err := s.Store.CatchUp(ctx); err != nil {
		return fmt.Errorf("%w: replica cannot catch up with the log of record: %w", rest.ErrUnavailable, err)
	}
	return nil
}

// countHomes counts the homes that a trigger covers.
func countHomes(v storage.View, t *events.Trigger) (n int, err error) {
	if len(t.RatePlanIDs) == 0 {
		return v.Count(storage.KindHome, t.OrganizationID), nil
	}
	// A search in the encoded record avoids decoding most homes on other plans.
	marks := make([][]byte, len(t.RatePlanIDs))
	for i, plan := range t.RatePlanIDs {
		marks[i] = []byte(`"ratePlanId":"` + plan + `"`)
	}
	for r, err := range storage.Live(v, storage.KindHome, t.OrganizationID, "") {
		if err != nil {
			return 0, err
		}
		if !slices.ContainsFunc(marks, func(mark []byte) bool { return bytes.Contains(r.Value, mark) }) {
			continue
		}
		home, err := storage.Decode[storage.Home](r)
		if err != nil || slices.Contains(t.RatePlanIDs, home.RatePlanID) { // a damaged home has an outcome too
			n++
		}
	}
	return n, nil
}

func (s *server) getTrigger(_ context.Context, c *rest.Call, _ *struct{}) (events.Progress, error) {
	p, err := s.Ledger.Progress(c.Org, c.ID)
	return p, storage.NotFound(err, storage.Ref{Kind: "trigger", Org: c.Org, ID: c.ID})
}

// listTriggers reads in turn: a trigger has up to 256 KiB if it notifies of an OpenADR object.
func (s *server) listTriggers(ctx context.Context, c *rest.Call, in *wire.ListTriggersInput) (page wire.Page[events.Progress], err error) {
	err = s.rest.InTurn(ctx, c, func() error {
		page.Data, err = s.Ledger.Recent(c.Org, in.Limit)
		return err
	})
	return page, err
}
