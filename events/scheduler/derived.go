package scheduler

import (
	"context"
	"maps"
	"strconv"
	"time"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/signals"
)

// checkDerived notifies subscribers of rate plans that appear, change or are removed, and
// of derived events that are new or have changed values.
func (c *changes) checkDerived(ctx context.Context) error {
	revision, now := c.Store.Revision(), c.Now()
	if !c.interest.complete.Load() || revision == c.revision && now.Sub(c.at) < daysEvery {
		return nil
	}
	found := derived{changes: c, now: now, found: map[storage.Ref]string{}, programs: map[string]map[string]bool{}, alerts: map[storage.Ref]alert{}}
	err := c.Store.View(func(v storage.View) error {
		revision = v.Revision()
		return storage.EachOrganization(v, func(org string) error { return found.read(v, org) })
	})
	if err != nil {
		return err
	}
	waiting := false
	for _, d := range found.changed {
		if c.pending[d.ref] != d.change.Fingerprint { // an import arrives in parts, so wait until two checks agree
			waiting = true
			continue
		}
		if err := c.orDropped(ctx, d.ref, c.follows(ctx, &d, revision)); err != nil {
			return err
		}
		c.seen[d.ref] = d.change.Fingerprint
	}
	c.pending = found.found
	maps.DeleteFunc(c.seen, func(ref storage.Ref, _ string) bool { return found.found[ref] == "" })
	c.noteAlerts(found.alerts, now)
	if !waiting {
		c.revision, c.at, c.programs = revision, now, found.programs
	}
	return nil
}

// noteAlerts adds the found alerts that were processed. It forgets the alerts that have ended
// or whose removal was processed.
func (c *changes) noteAlerts(found map[storage.Ref]alert, now time.Time) {
	maps.DeleteFunc(c.alerts, func(ref storage.Ref, a alert) bool { return !a.end.After(now) || c.seen[ref] == removedAlert })
	for ref, a := range found {
		if c.seen[ref] == a.change.Fingerprint {
			c.alerts[ref] = a
		}
	}
}

// derivedChange is a derived program or event that is new, has changed or was removed. The
// last trigger of an event decides its operation.
type derivedChange struct {
	ref    storage.Ref
	change events.Change
}

// derived collects the derived objects that subscriptions select.
type derived struct {
	*changes
	now time.Time
	// found holds the fingerprints of all objects. changed lists the objects with new
	// fingerprints.
	found   map[storage.Ref]string
	changed []derivedChange
	// programs holds the programs of each organization.
	programs map[string]map[string]bool
	alerts   map[storage.Ref]alert
}

// alert is the event of an alert that has not ended.
type alert struct {
	change events.Change
	end    time.Time
}

// add adds an object with its JSON, if its fingerprint is new.
func (f *derived) add(org string, change events.Change, object func() ([]byte, error)) (err error) {
	ref := storage.OpenADRRef(change.ObjectType, org, change.ObjectID)
	f.found[ref] = change.Fingerprint
	if f.seen[ref] == change.Fingerprint {
		return nil
	}
	change.Object, err = object()
	f.changed = append(f.changed, derivedChange{ref, change})
	return err
}

// read adds the derived objects of an organization.
func (f *derived) read(v storage.View, org string) error {
	if _, ok, err := f.subscribed(v, org); !ok || err != nil {
		return err
	}
	prices := f.Pricer.Reader(v, org)
	programs, err := prices.Programs()
	if err != nil {
		return err
	}
	known := f.changes.programs[org] // nil if the last check did not read the organization
	f.programs[org] = map[string]bool{}
	for i := range programs {
		p := &programs[i]
		f.programs[org][p.ID] = true
		if err := f.addProgram(org, p, known != nil && !known[p.ID]); err != nil {
			return err
		}
		if err := f.addDays(prices, org, p); err != nil {
			return err
		}
	}
	if err := f.addRemovedAlerts(org); err != nil {
		return err
	}
	removed, err := prices.RemovedPrograms()
	for i := range removed {
		if err == nil && f.now.Sub(removed[i].Update) < changesFor {
			err = f.addWritten(org, &removed[i], events.OperationDelete, events.OperationDelete)
		}
	}
	return err
}

// addProgram adds the program of a rate plan that was written lately, or that has become a
// program since the last check. A plan becomes a program late if its place was unknown
// before. The emission programs never change.
func (f *derived) addProgram(org string, p *signals.Program, late bool) error {
	written := events.OperationUpdate
	if p.New {
		written = events.OperationCreate
	}
	switch {
	case p.Region != nil:
		return nil
	case late:
		return f.addWritten(org, p, written, events.OperationCreate)
	case f.now.Sub(p.Update) >= changesFor:
		return nil
	}
	return f.addWritten(org, p, written, written)
}

// addWritten adds the program of a rate plan. written says how the plan was written last.
func (f *derived) addWritten(org string, p *signals.Program, written, operation string) error {
	if !f.interest.hasAny(org, storage.OpenADRProgram, p.ID) {
		return nil
	}
	return f.add(org, events.Change{
		ObjectType: storage.OpenADRProgram, ObjectID: p.ID, ProgramID: p.ID, Operation: operation,
		Fingerprint: written + strconv.FormatInt(p.Update.UnixMilli(), 10),
	}, p.Encode)
}

// removedAlert is the fingerprint of the removal of an alert.
const removedAlert = "removed"

// addRemovedAlerts adds the alerts that are gone before their end. Nobody is notified of a
// removed alert if every scheduler ends within seconds.
func (f *derived) addRemovedAlerts(org string) error {
	for ref, a := range f.changes.alerts {
		if ref.Org != org || f.found[ref] != "" || !a.end.After(f.now) {
			continue
		}
		removed := a.change
		removed.Operation, removed.Fingerprint = events.OperationDelete, removedAlert
		if err := f.add(org, removed, func() ([]byte, error) { return a.change.Object, nil }); err != nil {
			return err
		}
	}
	return nil
}

// addDays adds the events of a program. A day without prices has no event.
func (f *derived) addDays(prices *signals.Reader, org string, p *signals.Program) error {
	if !f.interest.hasAny(org, storage.OpenADREvent, p.ID) {
		return nil
	}
	days, err := prices.Events(p, f.now)
	if err != nil {
		return err
	}
	for _, day := range days {
		e, err := prices.Encode(&day)
		if signals.IsDataError(err) {
			continue
		}
		if err == nil {
			change := events.Change{ObjectType: storage.OpenADREvent, ObjectID: day.ID, ProgramID: p.ID, Fingerprint: e.Fingerprint, Alert: day.Alert != ""}
			err = f.add(org, change, func() ([]byte, error) { return e.JSON, nil })
			if change.Object = e.JSON; change.Alert {
				f.alerts[storage.OpenADRRef(change.ObjectType, org, change.ObjectID)] = alert{change, day.Window.End}
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// follows creates the trigger of a derived object, unless its last trigger had the same
// fingerprint.
func (c *changes) follows(ctx context.Context, d *derivedChange, revision uint64) error {
	last, err := c.Runs.LastOf(ctx, d.ref.Org, d.ref.ID)
	switch {
	case err != nil:
		return err
	case last.Change != nil && last.Change.Fingerprint == d.change.Fingerprint:
		return nil
	case d.change.Operation == events.OperationDelete && last.Change != nil:
		d.change.Object = last.Change.Object // a tombstone has no more than the identifier
	case d.change.Operation != "":
	case last.Change == nil && c.seen[d.ref] == "", last.Change != nil && last.Change.Operation == events.OperationDelete:
		d.change.Operation = events.OperationCreate
	default:
		d.change.Operation = events.OperationUpdate
	}
	if !c.interest.has(d.ref.Org, d.change.ObjectType, d.change.Operation, d.change.ProgramID) {
		return nil
	}
	return c.accept(ctx, d.ref.Org, d.change, revision, last)
}
