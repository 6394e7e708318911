package openadr

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// Common refusals of the operations.
var (
	errRole = &rest.Problem{Status: http.StatusForbidden, Message: "The token's role may not do this.", Recovery: "Use a key with the scope for the operation: openadr:ven or openadr:bl."}
	errGone = errors.New("the object is missing, or the client may not see it") // operate names it
)

// gone refuses an object. A client must not learn whether an object of others exists.
func gone(kind, id string) error {
	return &rest.Problem{Status: http.StatusNotFound, Message: fmt.Sprintf("There is no %s %q, or the client may not see it.", kind, id)}
}

func conflict(message string) error {
	return &rest.Problem{Status: http.StatusConflict, Message: message}
}

// kind is a type of objects with its specific rules.
type kind struct {
	path string
	of   storage.OpenADRType
	// venReads is set if VENs see the objects by their targets. Otherwise, VENs see only
	// their own objects.
	venReads bool
	// business and ven report which roles may write.
	business, ven bool
	// filters maps the query parameters of a list to the value that each compares.
	filters map[string]func(o *storage.OpenADRObject) string
	// decode decodes a request's body into a new or existing object.
	decode func(s *server, r *request, o *storage.OpenADRObject) error
	// children is the type of objects that are deleted with their parent.
	children storage.OpenADRType
}

func (s *server) objectRoutes() (all []route) {
	for _, k := range kinds() {
		one := k.path + "/" + parameter
		all = append(all,
			route{method: http.MethodGet, path: k.path, business: true, ven: true, run: func(r *request) (any, error) { return s.list(k, r) }},
			route{method: http.MethodPost, path: k.path, business: k.business, ven: k.ven, run: func(r *request) (any, error) { return s.create(k, r) }},
			route{method: http.MethodGet, path: one, business: true, ven: true, run: func(r *request) (any, error) { return s.get(k, r) }},
			route{method: http.MethodPut, path: one, business: k.business, ven: k.ven, run: func(r *request) (any, error) { return s.update(k, r) }},
			route{method: http.MethodDelete, path: one, business: k.business, ven: k.ven, run: func(r *request) (any, error) { return s.remove(k, r) }},
		)
	}
	return all
}

// audience decides which objects a caller sees.
type audience struct {
	caller
	kind *kind
	// requested are the targets of the query. granted are the targets that the caller may
	// see.
	requested []string
	granted   map[string]bool
}

func (s *server) audience(v storage.View, k *kind, r *request) (a audience, err error) {
	a = audience{caller: r.caller, kind: k, requested: r.query["targets"]}
	if !a.business && k.venReads {
		a.granted, err = storage.Granted(v, r.caller.OrganizationID, r.caller.ID)
	}
	return a, err
}

// sees returns the visible targets of an object. ok is false if the caller may not see
// the object or the query excludes it.
func (a *audience) sees(o *storage.OpenADRObject) (shown []string, ok bool) {
	requested := len(a.requested) == 0 || slices.ContainsFunc(o.Targets, func(t string) bool { return slices.Contains(a.requested, t) })
	switch {
	case o.Removed || !requested:
		return nil, false
	case a.business:
		return o.Targets, true
	case a.kind.venReads:
		return storage.Shown(o.Targets, a.requested, a.granted)
	}
	return o.Targets, o.ClientID == a.ID
}

// page is the requested part of a list.
type page struct {
	skip, limit int
	list        []json.RawMessage
}

// maxLimit is the maximum and the default number of objects on a page.
const maxLimit = 50

func newPage(r *request) (*page, error) {
	var p rest.FieldErrors
	number := func(name string, otherwise, limit int) int {
		text := r.query.Get(name)
		if text == "" {
			return otherwise
		}
		n, err := strconv.Atoi(text)
		p.Check(err == nil && n >= 0 && n <= limit, name, "must be a whole number from 0 to %d", limit)
		return n
	}
	const maxNumber = 1<<31 - 1
	made := &page{skip: number("skip", 0, maxNumber), limit: number("limit", maxLimit, maxLimit), list: []json.RawMessage{}}
	for _, t := range r.query["targets"] {
		p.Check(t != "" && utf8.RuneCountInString(t) <= 128, "targets", "must have 1 to 128 characters each")
	}
	for _, of := range r.query["objects"] {
		p.Check(storage.OpenADRType(of).Kind() != "", "objects", "must be PROGRAM, EVENT, REPORT, SUBSCRIPTION, VEN or RESOURCE: %q", of)
	}
	if text := r.query.Get("active"); text != "" {
		_, err := strconv.ParseBool(text)
		p.Check(err == nil, "active", "must be true or false")
	}
	return made, p.Err()
}

// add appends an element, unless the page skips it. It reports whether the page has space
// left.
func (p *page) add(element json.RawMessage) (more bool) {
	switch {
	case p.skip > 0:
		p.skip--
		return true
	case len(p.list) < p.limit:
		p.list = append(p.list, element)
	}
	return len(p.list) < p.limit
}

// list returns the objects that the caller sees. Derived objects come first.
func (s *server) list(k *kind, r *request) (any, error) {
	p, err := newPage(r)
	if err != nil {
		return nil, err
	}
	err = s.REST.Scan(r.Context(), r.Call, func(v storage.View) error {
		a, err := s.audience(v, k, r)
		if err != nil {
			return err
		}
		more, err := s.listDerived(v, &a, r, p)
		if err != nil || !more {
			return err
		}
		return s.listStored(v, &a, r, p)
	})
	return p.list, err
}

func (s *server) listStored(v storage.View, a *audience, r *request, p *page) error {
	k, query := a.kind, r.query
	active, _ := strconv.ParseBool(query.Get("active"))
	own := []byte(`"clientId":"` + a.ID + `"`) // avoids decoding other clients' objects
	for record, err := range storage.Live(v, k.of.Kind(), a.OrganizationID, "") {
		if err != nil {
			return err
		}
		if !a.business && !k.venReads && !bytes.Contains(record.Value, own) {
			continue
		}
		o, err := storage.Decode[storage.OpenADRObject](record)
		if err != nil {
			s.REST.LeftOut(err)
			continue
		}
		shown, ok := a.sees(&o)
		if !ok || !k.matches(query, &o) || !wantsObjects(&o, query["objects"]) || active && transpired(&o, r.Now) {
			continue
		}
		if !p.add(events.WithTargets(o.JSON(), shown)) {
			return nil
		}
	}
	return nil
}

// matches reports whether an object has the values of the query's parameters.
func (k *kind) matches(query url.Values, o *storage.OpenADRObject) bool {
	for name, value := range k.filters {
		if want := query.Get(name); want != "" && value(o) != want {
			return false
		}
	}
	return true
}

// wantsObjects reports whether a subscription covers all of the object types. Other objects
// have no such filter.
func wantsObjects(o *storage.OpenADRObject, objects []string) bool {
	for _, of := range objects {
		if o.Type == storage.OpenADRSubscription && !slices.ContainsFunc(o.Callbacks, func(c storage.Callback) bool { return slices.Contains(c.Objects, storage.OpenADRType(of)) }) {
			return false
		}
	}
	return true
}

// get returns one object.
func (s *server) get(k *kind, r *request) (any, error) {
	var found json.RawMessage
	err := s.Store.View(func(v storage.View) error {
		a, err := s.audience(v, k, r)
		if err != nil {
			return err
		}
		if found, err = s.findDerived(v, &a, r); found != nil || err != nil {
			return err
		}
		o, shown, err := read(v, &a, r.id)
		found = events.WithTargets(o.JSON(), shown)
		return err
	})
	return found, err
}

// stored returns an object. ok is false if it does not exist or is removed.
func stored(v storage.View, of storage.OpenADRType, org, id string) (o storage.OpenADRObject, ok bool, err error) {
	o, _, err = storage.Read[storage.OpenADRObject](v, storage.OpenADRRef(of, org, id))
	return o, err == nil && !o.Removed, storage.IgnoreNotFound(err)
}

// visible is stored for a program or an event that a client refers to. ok is also false if the
// client may not see the object, whichever targets its request names.
func visible(v storage.View, client caller, of storage.OpenADRType, id string) (o storage.OpenADRObject, ok bool, err error) {
	o, ok, err = stored(v, of, client.OrganizationID, id)
	if !ok || client.business {
		return o, ok, err
	}
	granted, err := storage.Granted(v, client.OrganizationID, client.ID)
	_, ok = storage.Shown(o.Targets, o.Targets, granted)
	return o, ok, err
}

// read returns an object that the caller sees. Errors: errGone.
func read(v storage.View, a *audience, id string) (o storage.OpenADRObject, shown []string, err error) {
	o, ok, err := stored(v, a.kind.of, a.OrganizationID, id)
	if ok {
		shown, ok = a.sees(&o)
	}
	if err == nil && !ok {
		err = errGone
	}
	return o, shown, err
}

// create stores a new object.
func (s *server) create(k *kind, r *request) (any, error) {
	o := storage.OpenADRObject{Type: k.of}
	o.OrganizationID = r.caller.OrganizationID
	if err := k.decode(s, r, &o); err != nil {
		return nil, err
	}
	r.Call.ID = o.ID // for the audit log, also if the outcome is unknown
	fresh := o
	err := s.Store.Create(r.Context(), &o)
	if errors.Is(err, storage.ErrExists) {
		o, err = storage.UpdateWithin(r.Context(), s.Store, o.Ref(), func(was *storage.OpenADRObject) error {
			if !was.Removed {
				return conflict(fmt.Sprintf("The client %q has a VEN already.", fresh.ClientID))
			}
			*was = fresh // subscribers are not yet notified of the deletion
			return nil
		})
	}
	if errors.Is(err, storage.ErrNotFound) { // they are meanwhile, and the deleted object is gone
		o = fresh
		err = s.Store.Create(r.Context(), &o)
	}
	if err == nil {
		err = s.keepUnique(r, &o)
	}
	if err != nil {
		return nil, err
	}
	return created{json.RawMessage(events.WithTargets(o.JSON(), o.Targets))}, nil
}

// writable returns an object that the caller may write.
func (s *server) writable(k *kind, r *request) (o storage.OpenADRObject, err error) {
	err = s.Store.View(func(v storage.View) error {
		a, err := s.audience(v, k, r)
		if err != nil {
			return err
		}
		if derived, err := s.findDerived(v, &a, r); derived != nil || err != nil {
			return cmp.Or[error](err, errDerived)
		}
		o, _, err = read(v, &a, r.id)
		return err
	})
	return o, err
}

var errDerived = &rest.Problem{
	Status: http.StatusForbidden, Message: "The object is derived from a rate plan or from the emissions of a region, and cannot be written.",
	Recovery: "Change the rate plan instead.",
}

// update replaces the fields of an object that a client may write. It decodes the body over
// the object as it is when it is stored. The client decides how long its body takes, and
// meanwhile another client may have changed what this client may not write.
func (s *server) update(k *kind, r *request) (any, error) {
	o, err := s.writable(k, r)
	if err != nil {
		return nil, err
	}
	o, err = storage.UpdateWithin(r.Context(), s.Store, o.Ref(), func(was *storage.OpenADRObject) error {
		if was.Removed {
			return errGone
		}
		was.Disabled = nil
		return k.decode(s, r, was)
	})
	if err != nil {
		return nil, err
	}
	return json.RawMessage(events.WithTargets(o.JSON(), o.Targets)), nil
}

// remove deletes an object after its children, so that a repeat continues a deletion that
// failed. Then it deletes the children that were created meanwhile.
func (s *server) remove(k *kind, r *request) (any, error) {
	o, err := s.writable(k, r)
	if err == nil {
		err = s.removeChildren(r, k.children, o.ID)
	}
	if err == nil {
		o, err = s.markRemoved(r, o.Ref())
	}
	if err == nil {
		err = s.removeChildren(r, k.children, o.ID)
	}
	if err != nil {
		return nil, err
	}
	return json.RawMessage(events.WithTargets(o.JSON(), o.Targets)), nil
}

// markRemoved hides an object immediately. The object is deleted after its subscribers
// are notified.
func (s *server) markRemoved(r *request, ref storage.Ref) (storage.OpenADRObject, error) {
	return storage.Update(r.Context(), s.Store, ref, func(o *storage.OpenADRObject) error {
		if o.Removed {
			return errGone
		}
		o.Removed = true
		return nil
	})
}

// removeChildren deletes the children of an object. An empty type has none.
func (s *server) removeChildren(r *request, of storage.OpenADRType, parent string) error {
	if of == "" {
		return nil
	}
	var refs []storage.Ref
	err := s.REST.Scan(r.Context(), r.Call, func(v storage.View) error {
		return v.Scan(of.Kind(), r.caller.OrganizationID, "", func(record storage.Record) bool {
			if o, err := storage.Decode[storage.OpenADRObject](record); err == nil && o.Parent == parent && !o.Removed {
				refs = append(refs, record.Ref)
			}
			return true
		})
	})
	for _, ref := range refs {
		if err == nil {
			if _, err = s.markRemoved(r, ref); errors.Is(err, errGone) || errors.Is(err, storage.ErrNotFound) {
				err = nil
			}
		}
	}
	return err
}
