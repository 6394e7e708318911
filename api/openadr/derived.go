package openadr

import (
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"strings"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/signals"
)

// derivedProgram returns a derived program, or nil if there is no such program.
func (s *server) derivedProgram(v storage.View, org, id string) (*signals.Program, error) {
	list, err := s.Pricer.Reader(v, org).Programs()
	i := slices.IndexFunc(list, func(p signals.Program) bool { return p.ID == id })
	if err != nil || i < 0 {
		return nil, err
	}
	return &list[i], nil
}

// programOfEvent returns the program of a stored event or of a home's own signal, if the client
// may see them, or of a derived event of any day. It returns an empty string if there is no such
// event.
func (s *server) programOfEvent(v storage.View, client caller, id string) (string, error) {
	org := client.OrganizationID
	if o, ok, err := visible(v, client, storage.OpenADREvent, id); ok || err != nil {
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
	program, err := s.Pricer.Reader(v, org).HomeProgram(homeID)
	return program, storage.IgnoreNotFound(err)
}

// shownProgram is a derived program with its targets in a response.
type shownProgram struct {
	*signals.Program
	targets []string
}

// derivedFor returns the derived programs that match a request, each with its matching
// targets. A target may be a home. A home matches the program of its rate plan. For events,
// the homes' own signals follow.
func (s *server) derivedFor(v storage.View, a *audience) (list []shownProgram, err error) {
	prices, targets := s.Pricer.Reader(v, a.OrganizationID), map[string][]string{}
	for _, t := range a.requested {
		if !storage.ValidID(t) || !a.business && !a.granted[t] {
			continue
		}
		id, err := prices.HomeProgram(t)
		if storage.IgnoreNotFound(err) != nil && !signals.IsDataError(err) {
			return nil, err
		}
		targets[id] = append(targets[id], t) // a missing or damaged home has an empty id, which no program has
	}
	programs, err := prices.Programs()
	for i := range programs {
		p := shownProgram{&programs[i], targets[programs[i].ID]}
		if len(a.requested) == 0 || p.targets != nil {
			list = append(list, p)
		}
	}
	if err != nil || a.kind.of != storage.OpenADREvent {
		return list, err
	}
	own, err := s.homeSignals(v, a)
	return append(list, own...), err
}

// homeSignalPrefix begins the targets that ask for a home's own signal. The home's
// identifier follows.
const homeSignalPrefix = "signal/"

// homeSignals returns the homes' own signals that the request asks for and may see.
func (s *server) homeSignals(v storage.View, a *audience) (list []shownProgram, err error) {
	for _, t := range a.requested {
		homeID, ok := strings.CutPrefix(t, homeSignalPrefix)
		if !ok || !storage.ValidID(homeID) || !a.business && !a.granted[t] {
			continue
		}
		p, err := s.Pricer.Reader(v, a.OrganizationID).HomeSignal(homeID)
		switch {
		case err == nil:
			list = append(list, shownProgram{p, []string{t}})
		case !errors.Is(err, storage.ErrNotFound) && !signals.IsDataError(err):
			return nil, err
		}
	}
	return list, nil
}

// listDerived adds the derived programs, or their events, to a page. It reports whether
// the page has space left.
func (s *server) listDerived(v storage.View, a *audience, r *request, p *page) (more bool, err error) {
	if !a.kind.venReads {
		return true, nil
	}
	list, err := s.derivedFor(v, a)
	if err != nil {
		return false, err
	}
	for _, program := range list {
		if !a.kind.matches(r.query, &storage.OpenADRObject{Name: program.Name, Parent: program.ID}) {
			continue
		}
		for text, err := range s.objects(v, a, r, program.Program) {
			if err != nil || !p.add(events.WithTargets(text, program.targets)) {
				return false, err
			}
		}
	}
	return true, nil
}

// findDerived returns the derived program or event of a path, or nil if there is none.
func (s *server) findDerived(v storage.View, a *audience, r *request) (found json.RawMessage, err error) {
	if !a.kind.venReads {
		return nil, nil
	}
	id, ofEvent := r.id, a.kind.of == storage.OpenADREvent
	if ofEvent {
		id = signals.ProgramOfEvent(r.id)
	}
	var list []shownProgram
	p, err := s.derivedProgram(v, a.OrganizationID, id)
	switch {
	case p != nil:
		list = []shownProgram{{p, nil}}
	case err == nil && ofEvent:
		list, err = s.homeSignals(v, a)
	}
	for _, program := range list {
		for text, err := range s.objects(v, a, r, program.Program) {
			if err != nil {
				return nil, err
			}
			found = events.WithTargets(text, program.targets)
		}
	}
	return found, err
}

// objects yields the JSON of a program, or of its events if the request is about events. If
// the request's path names an event, objects yields only this event. A day without prices
// has no event.
func (s *server) objects(v storage.View, a *audience, r *request, program *signals.Program) iter.Seq2[json.RawMessage, error] {
	return func(yield func(json.RawMessage, error) bool) {
		if a.kind.of == storage.OpenADRProgram {
			yield(program.Encode())
			return
		}
		prices := s.Pricer.Reader(v, a.OrganizationID)
		days, err := prices.Events(program, r.Now)
		if err != nil {
			yield(nil, err)
			return
		}
		for _, day := range days {
			if r.id != "" && r.id != day.ID {
				continue
			}
			e, err := prices.Encode(&day)
			if signals.IsDataError(err) {
				continue
			}
			if !yield(e.JSON, err) || err != nil {
				return
			}
		}
	}
}
