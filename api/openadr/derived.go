package openadr

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/signals"
)

// derivedProgram returns a derived program, or nil if there is no such program.
func (s *server) derivedProgram(v storage.View, org, id string) (*signals.Program, error) {
	list, err := s.Pricer.Reader(v).Programs(org)
	i := slices.IndexFunc(list, func(p signals.Program) bool { return p.ID == id })
	if err != nil || i < 0 {
		return nil, err
	}
	return &list[i], nil
}

// programOfEvent returns the program of a stored or derived event of any day, or of a home's
// own signal that the client may see. It returns an empty string if there is no such event.
func (s *server) programOfEvent(v storage.View, client caller, id string) (string, error) {
	org := client.OrganizationID
	if o, ok, err := stored(v, storage.OpenADREvent, org, id); ok || err != nil {
		return o.Parent, err
	}
	of := signals.ProgramOfEvent(id)
	if p, err := s.derivedProgram(v, org, of); p != nil || err != nil {
		return of, err
	}
	granted, err := storage.Granted(v, org, client.ID)
	homeID, own := strings.CutPrefix(of, signals.HomePrefix)
	if err != nil || !own || !granted[homeSignalPrefix+homeID] {
		return "", err
	}
	program, err := s.Pricer.Reader(v).HomeProgram(org, homeID)
	return program, storage.IgnoreNotFound(err)
}

// derivedFor returns the derived programs that match the query, each with its matching
// targets. A target may be a home. A home matches the program of its rate plan.
func (s *server) derivedFor(v storage.View, a *audience) (list []signals.Program, targets map[string][]string, err error) {
	prices := s.Pricer.Reader(v)
	if list, err = prices.Programs(a.OrganizationID); err != nil || len(a.requested) == 0 {
		return list, nil, err
	}
	targets = map[string][]string{}
	for _, t := range a.requested {
		if !storage.ValidID(t) || !a.business && !a.granted[t] {
			continue
		}
		id, err := prices.HomeProgram(a.OrganizationID, t)
		if errors.Is(err, storage.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		targets[id] = append(targets[id], t)
	}
	return slices.DeleteFunc(list, func(p signals.Program) bool { return targets[p.ID] == nil }), targets, nil
}

// listDerived adds the derived programs, or their events, to a page. It reports whether
// the page has space left.
func (s *server) listDerived(v storage.View, a *audience, r *request, p *page) (more bool, err error) {
	if !a.kind.venReads {
		return true, nil
	}
	list, targets, err := s.derivedFor(v, a)
	if err != nil {
		return false, err
	}
	matches := func(p *signals.Program) bool {
		return a.kind.matches(r.query, &storage.OpenADRObject{Name: p.Name, Parent: p.ID})
	}
	for i := range list {
		program := &list[i]
		switch {
		case !matches(program):
			continue
		case a.kind.of == storage.OpenADREvent:
			more, err = s.addDays(v, r, p, program, targets[program.ID])
		default:
			more, err = p.add(func() (json.RawMessage, error) {
				text, err := program.Encode()
				if err != nil {
					return nil, err
				}
				return events.WithTargets(text, targets[program.ID]), nil
			})
		}
		if err != nil || !more {
			return false, err
		}
	}
	if a.kind.of != storage.OpenADREvent {
		return true, nil
	}
	return s.eachHomeSignal(v, a, func(program *signals.Program, targets []string) (bool, error) {
		if !matches(program) {
			return true, nil
		}
		return s.addDays(v, r, p, program, targets)
	})
}

// homeSignalPrefix begins the targets that ask for a home's own signal. The home's
// identifier follows.
const homeSignalPrefix = "signal/"

// eachHomeSignal calls do for each home whose own signal the request asks for and may see,
// until do returns false.
func (s *server) eachHomeSignal(v storage.View, a *audience, do func(p *signals.Program, targets []string) (more bool, err error)) (more bool, err error) {
	more = true
	for _, t := range a.requested {
		homeID, ok := strings.CutPrefix(t, homeSignalPrefix)
		if !more || !ok || !storage.ValidID(homeID) || !a.business && !a.granted[t] {
			continue
		}
		p, err := s.Pricer.Reader(v).HomeSignal(a.OrganizationID, homeID)
		if errors.Is(err, storage.ErrNotFound) || signals.IsDataError(err) {
			continue
		}
		if err == nil {
			more, err = do(p, []string{t})
		}
		if err != nil {
			return false, err
		}
	}
	return more, nil
}

// addDays adds a program's events to a page. It reports whether the page has space left.
func (s *server) addDays(v storage.View, r *request, p *page, program *signals.Program, targets []string) (more bool, err error) {
	return s.eachDay(v, r, program, func(text json.RawMessage) (bool, error) {
		return p.add(func() (json.RawMessage, error) { return events.WithTargets(text, targets), nil })
	})
}

// eachDay calls do for each event of a program, until do returns false. If the request's path
// names an event, it calls do only for this event. A day without prices has no event.
func (s *server) eachDay(v storage.View, r *request, program *signals.Program, do func(text json.RawMessage) (more bool, err error)) (more bool, err error) {
	prices, org := s.Pricer.Reader(v), r.caller.OrganizationID
	days, err := prices.Events(org, program, r.Now)
	if err != nil {
		return false, err
	}
	for _, day := range days {
		if r.id != "" && r.id != day.ID {
			continue
		}
		e, err := prices.Encode(org, &day)
		if signals.IsDataError(err) {
			continue
		}
		if err != nil {
			return false, err
		}
		if more, err = do(e.JSON); err != nil || !more {
			return false, err
		}
	}
	return true, nil
}

// findDerived returns the derived program or event of a path, or nil if there is none.
func (s *server) findDerived(v storage.View, a *audience, r *request) (found json.RawMessage, err error) {
	switch a.kind.of {
	case storage.OpenADRProgram:
		p, err := s.derivedProgram(v, a.OrganizationID, r.id)
		if p == nil {
			return nil, err
		}
		return p.Encode()
	case storage.OpenADREvent:
		find := func(p *signals.Program, targets []string) (more bool, err error) {
			return s.eachDay(v, r, p, func(text json.RawMessage) (bool, error) {
				found = events.WithTargets(text, targets)
				return false, nil
			})
		}
		p, err := s.derivedProgram(v, a.OrganizationID, signals.ProgramOfEvent(r.id))
		switch {
		case err != nil:
		case p != nil:
			_, err = find(p, nil)
		default:
			_, err = s.eachHomeSignal(v, a, find)
		}
		return found, err
	}
	return nil, nil
}
