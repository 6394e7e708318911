package scheduler

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// Gridhook notifies OpenADR subscribers of objects that clients write, which the log of
// record shows, and of derived programs and events that change. Every scheduler sees both. An
// object's last trigger records the last notified change. If several schedulers create
// the next trigger, only one is accepted. So a crash loses no notification, and no
// subscriber is notified twice. Only a program that appears without a write of its plan is
// lost if every scheduler ends within seconds.

// changes creates the triggers of OpenADR changes for a scheduler.
type changes struct {
	*Scheduler
	interest interest
	// seen holds the fingerprints of processed derived objects. pending holds the
	// fingerprints of the last check.
	seen, pending map[storage.Ref]string
	// after is the last revision whose change was announced.
	after uint64
	// revision, at and the programs of each organization belong to the last check that left
	// nothing pending.
	revision uint64
	at       time.Time
	programs map[string]map[string]bool
	// alerts holds the processed alerts that have not ended or been removed.
	alerts map[storage.Ref]alert
}

func (s *Scheduler) newChanges() *changes {
	return &changes{
		Scheduler: s, interest: interest{all: s.EveryChange, byOrg: map[string]map[wanted]bool{}},
		after: s.Store.Revision(), seen: map[storage.Ref]string{}, pending: map[storage.Ref]string{}, alerts: map[storage.Ref]alert{},
	}
}

const (
	// daysEvery is the interval between checks for a new day.
	daysEvery = time.Minute
	// retryDelay is the delay after the message system did not accept a trigger.
	retryDelay = time.Second
)

// follow notifies subscribers of objects that clients write, until ctx ends.
func (c *changes) follow(ctx context.Context) error {
	if err := c.recent(ctx); err != nil {
		return err
	}
	return c.State.Tail(ctx, c.after, func(batch []storage.Record) error {
		for _, r := range batch {
			if err := c.announce(ctx, r); err != nil {
				return err
			}
			c.after = r.Revision
		}
		return nil
	})
}

// recent notifies subscribers of objects written while no scheduler followed the log.
func (c *changes) recent(ctx context.Context) error {
	var found []storage.Record
	now := c.Now()
	err := c.Store.View(func(v storage.View) error {
		for _, t := range storage.OpenADRTypes() {
			for r, err := range storage.LiveEverywhere(v, t.Kind()) {
				if err != nil {
					return err
				}
				if t == storage.OpenADRSubscription {
					if o, err := storage.Decode[storage.OpenADRObject](r); err == nil {
						c.interest.note(&o)
					}
				}
				if now.Sub(r.At) < changesFor {
					r.Value = bytes.Clone(r.Value)
					found = append(found, r)
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	c.interest.complete.Store(true)
	for _, r := range found {
		if err := c.announce(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

// announce creates the trigger of a written object, unless it exists. It then removes a
// deleted object permanently. It drops a change that no retry can announce. The mark of a
// deleted organization ends its interest.
func (c *changes) announce(ctx context.Context, r storage.Record) error {
	if r.Kind == storage.KindErasure {
		c.interest.forget(r.Ref)
	}
	if r.Deleted || !strings.HasPrefix(string(r.Kind), "openadr") {
		return nil
	}
	o, err := storage.Decode[storage.OpenADRObject](r)
	if err != nil {
		c.Log.Error("OpenADR object cannot be used", "object", r.Ref.String(), "error", err)
		return nil
	}
	if o.Type == storage.OpenADRSubscription {
		c.interest.note(&o)
	}
	if err := c.Store.WaitFor(ctx, r.Revision); err != nil {
		return err
	}
	change := events.Change{ObjectType: o.Type, Operation: events.OperationUpdate, ObjectID: o.ID, ClientID: o.ClientID, Targets: o.Targets, Object: o.JSON()}
	switch {
	case o.Removed:
		change.Operation = events.OperationDelete
	case o.New():
		change.Operation = events.OperationCreate
	}
	change.ProgramID = o.ProgramID()
	if c.interest.has(r.Org, o.Type, change.Operation, change.ProgramID) {
		var last events.Trigger
		if last, err = c.Runs.LastOf(ctx, r.Org, o.ID); err == nil && last.Revision < r.Revision {
			err = c.accept(ctx, r.Org, change, r.Revision, last)
		}
	}
	if err == nil && o.Removed { // unless a client has created it again: a VEN then has the same identifier
		err = c.Store.DeleteEach(ctx, []storage.Record{r})
	}
	return c.orDropped(ctx, r.Ref, err)
}

// orDropped returns an error of announcing a change if a retry may help. Any other error would
// hold up the changes of all other objects. orDropped logs it and returns nil.
func (c *changes) orDropped(ctx context.Context, ref storage.Ref, err error) error {
	if err == nil || errors.Is(err, storage.ErrUnavailable) || errors.Is(err, storage.ErrConflict) || ctx.Err() != nil {
		return err
	}
	c.Log.Error("change of an OpenADR object dropped", "object", ref.String(), "error", err)
	return nil
}

// subscribed counts an organization's subscriptions and reports whether a notification may
// go to anybody. Nobody listens to an organization that is not active.
func (c *changes) subscribed(v storage.View, org string) (count int, ok bool, err error) {
	active, err := storage.IsActive(v, org)
	if err != nil || !active {
		return 0, false, err
	}
	count = v.Count(storage.KindOpenADRSubscription, org)
	return count, count > 0 || c.EveryChange, nil
}

// accept accepts the trigger of a change if a notification may go to anybody.
func (c *changes) accept(ctx context.Context, org string, change events.Change, revision uint64, last events.Trigger) error {
	var count int
	var ok bool
	err := c.Store.View(func(v storage.View) (err error) {
		count, ok, err = c.subscribed(v, org)
		return err
	})
	if err != nil || !ok {
		return err
	}
	t := events.NewChangeTrigger(org, change, revision, count, last, c.Now())
	_, err = c.Triggers.Accept(ctx, t)
	if errors.Is(err, storage.ErrConflict) {
		return nil // another scheduler's trigger was accepted
	}
	if err != nil {
		return fmt.Errorf("notify of %s %s: %w", change.ObjectType, change.ObjectID, err)
	}
	c.Log.Info("OpenADR object has changed", "object", change.ObjectID, "type", change.ObjectType, "operation", change.Operation,
		"org", org, "trigger", t.ID, "subscriptions", count)
	return nil
}
