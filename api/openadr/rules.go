package openadr

import (
	"cmp"
	"fmt"
	"math"
	"reflect"

	adrjson "github.com/go-json-experiment/json"
	"golang.org/x/net/http/httpguts"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/api/schema"
	"github.com/gridhook/gridhook/storage"
)

type filters = map[string]func(o *storage.OpenADRObject) string

func nameOf(o *storage.OpenADRObject) string   { return o.Name }
func parentOf(o *storage.OpenADRObject) string { return o.Parent }

// kinds returns the types of objects.
func kinds() []*kind {
	return []*kind{
		{
			path: "programs", of: storage.OpenADRProgram, venReads: true, business: true, children: storage.OpenADREvent,
			filters: filters{"programName": nameOf}, decode: shaped((*server).setProgram),
		},
		{
			path: "events", of: storage.OpenADREvent, venReads: true, business: true,
			filters: filters{"programID": parentOf}, decode: shaped((*server).setEvent),
		},
		{
			path: "reports", of: storage.OpenADRReport, ven: true,
			filters: filters{"eventID": parentOf, "clientName": nameOf, "programID": func(o *storage.OpenADRObject) string { return o.Program }}, decode: shaped((*server).setReport),
		},
		{
			path: "subscriptions", of: storage.OpenADRSubscription, business: true, ven: true,
			filters: filters{"programID": parentOf, "clientName": nameOf}, decode: shaped((*server).setSubscription),
		},
		{
			path: "vens", of: storage.OpenADRVEN, business: true, ven: true, children: storage.OpenADRResource,
			filters: filters{"venName": nameOf}, decode: shaped((*server).setVEN),
		},
		{
			path: "resources", of: storage.OpenADRResource, business: true, ven: true,
			filters: filters{"resourceName": nameOf, "venID": parentOf}, decode: shaped((*server).setResource),
		},
	}
}

// shaped returns a function that decodes a body into a T and passes it to set. set moves
// fields from the T to the object. The rest of the T becomes the object's body. Errors:
// *storage.InvalidError, or an error of body or set.
func shaped[T any](set func(s *server, r *request, in *T, o *storage.OpenADRObject, p *rest.FieldErrors) error) func(*server, *request, *storage.OpenADRObject) error {
	described := types.Of(reflect.TypeFor[T](), schema.Request)
	return func(s *server, r *request, o *storage.OpenADRObject) error {
		var in T
		if err := s.body(r, &in, described); err != nil {
			return err
		}
		var p rest.FieldErrors
		if err := set(s, r, &in, o, &p); err != nil {
			return err
		}
		if err := p.Err(); err != nil {
			return err
		}
		body, err := adrjson.Marshal(&in)
		o.Body = body
		return err
	}
}

func (s *server) setProgram(r *request, in *program, o *storage.OpenADRObject, p *rest.FieldErrors) error {
	checkValues(p, "attributes", in.Attributes)
	o.ID = cmp.Or(o.ID, storage.NewID("program_", r.Now))
	o.Name, o.Targets, in.Targets = in.ProgramName, in.Targets, nil
	return s.view(r, func(v storage.View) error {
		derived, err := s.Pricer.Reader(v, o.OrganizationID).Programs()
		for i := range derived {
			if derived[i].Name == o.Name {
				return conflict(fmt.Sprintf("The program %q is derived from a rate plan: use another programName.", o.Name))
			}
		}
		if err != nil {
			return err
		}
		return unique(r, v, o, math.MaxUint64)
	})
}

func (s *server) setEvent(r *request, in *event, o *storage.OpenADRObject, p *rest.FieldErrors) error {
	checkIntervals(p, "intervals", in.Intervals)
	checkDescriptors(p, in.PayloadDescriptors, "EVENT_PAYLOAD_DESCRIPTOR")
	o.ID = cmp.Or(o.ID, storage.NewID("event_", r.Now))
	o.Parent, o.Name, o.Targets, in.Targets = in.ProgramID, in.EventName, in.Targets, nil
	return s.checkProgram(r, in.ProgramID, p)
}

// checkProgram adds a field error if the program does not exist, or if the client may not see it.
func (s *server) checkProgram(r *request, id string, p *rest.FieldErrors) error {
	return s.view(r, func(v storage.View) error {
		exists, err := s.isProgram(v, r.caller, id)
		p.Check(exists, "programID", "names no program: %q", id)
		return err
	})
}

func (s *server) isProgram(v storage.View, client caller, id string) (bool, error) {
	if _, ok, err := visible(v, client, storage.OpenADRProgram, id); ok || err != nil {
		return ok, err
	}
	program, err := s.derivedProgram(v, client.OrganizationID, id)
	return program != nil, err
}

func (s *server) setReport(r *request, in *report, o *storage.OpenADRObject, p *rest.FieldErrors) error {
	for i := range in.Resources {
		checkIntervals(p, fmt.Sprintf("resources[%d].intervals", i), in.Resources[i].Intervals)
	}
	checkDescriptors(p, in.PayloadDescriptors, "REPORT_PAYLOAD_DESCRIPTOR")
	if o.ID == "" {
		o.ID, o.ClientID = storage.NewID("report_", r.Now), r.caller.ID
	}
	stays := r.importer != nil || o.Parent == in.EventID // a report stays when its event is deleted
	o.Parent, o.Name = in.EventID, in.ClientName
	return s.view(r, func(v storage.View) error {
		program, err := s.programOfEvent(v, r.caller, in.EventID)
		p.Check(program != "" || stays, "eventID", "names no event: %q", in.EventID)
		if program != "" {
			o.Program = program
		}
		return err
	})
}

func (s *server) setSubscription(r *request, in *subscription, o *storage.OpenADRObject, p *rest.FieldErrors) error {
	before := *o
	if o.ID == "" {
		o.ID, o.ClientID = storage.NewID(storage.SubscriptionPrefix, r.Now), r.caller.ID
	}
	o.Parent, o.Name, o.Targets, in.Targets, o.Callbacks = in.ProgramID, in.ClientName, in.Targets, nil, nil
	for i := range in.ObjectOperations {
		var had storage.WebhookEndpoint
		if i < len(before.Callbacks) {
			had = before.Endpoint(i)
		}
		if err := s.addCallback(r, &in.ObjectOperations[i], o, &had, p); err != nil {
			return err
		}
	}
	if in.ProgramID == "" || in.ProgramID == before.Parent || r.importer != nil { // a subscription stays when its program is deleted
		return nil
	}
	return s.checkProgram(r, in.ProgramID, p)
}

// addCallback adds a callback to a subscription, and seals and masks its secrets. had is the
// stored callback with the same number, empty if there is none.
func (s *server) addCallback(r *request, op *objectOperation, o *storage.OpenADRObject, had *storage.WebhookEndpoint, p *rest.FieldErrors) error {
	n, was := len(o.Callbacks), *had
	field := fmt.Sprintf("objectOperations[%d].", n)
	if err := s.Vault.OpenEndpoint(&was); err != nil {
		return err
	}
	rest.UnmaskURL(&op.CallbackURL, was.URL, field+"callbackUrl", p)
	c := storage.Callback{URL: op.CallbackURL, Objects: op.Objects, Operations: op.Operations}
	if err := s.CheckDestination(field+"callbackUrl", c.URL, p); err != nil {
		return err
	}
	switch {
	case op.BearerToken == storage.Masked && was.URL == c.URL && was.Authentication != nil:
		c.Sealed = was.Authentication.Sealed
	case op.BearerToken != "":
		p.Check(httpguts.ValidHeaderFieldValue(op.BearerToken) && op.BearerToken != storage.Masked, field+"bearerToken", "must be a token, the same as before where it is %s", storage.Masked)
		c.Sealed, op.BearerToken = s.Vault.Seal(o.OrganizationID, o.CallbackID(n), op.BearerToken), storage.Masked
	}
	o.Callbacks = append(o.Callbacks, c)
	o.Check(p) // the mask hides the query later
	if s.Verify != nil && was.URL != c.URL && p.Err() == nil {
		if err := s.Verify(r.Context(), &r.Caller, c.URL, field+"callbackUrl", p); err != nil {
			return err
		}
	}
	e := o.Endpoint(n)
	err := s.Vault.SealEndpoint(&e, had)
	o.Callbacks[n].URL, o.Callbacks[n].SealedURL, op.CallbackURL = e.URL, e.SealedURL, e.URL
	return err
}

func (s *server) setVEN(r *request, in *ven, o *storage.OpenADRObject, p *rest.FieldErrors) error {
	clientID, business := in.ClientID, in.ObjectType == "BL_VEN_REQUEST"
	if err := checkRole(r, business, in.Targets, &clientID, p); err != nil {
		return err
	}
	checkValues(p, "attributes", in.Attributes)
	if o.ClientID != "" && o.ClientID != clientID {
		return conflict("A VEN's clientID cannot change: delete the VEN and create another.")
	}
	o.ID, o.ClientID, o.Name = storage.VENID(clientID), clientID, in.VENName
	if business {
		o.Targets = in.Targets
	}
	in.ObjectType, in.ClientID, in.Targets = "", "", nil
	return s.view(r, func(v storage.View) error { return unique(r, v, o, math.MaxUint64) })
}

// checkRole checks that a body matches the caller's role. A VEN is always its own client.
func checkRole(r *request, business bool, targets []string, clientID *string, p *rest.FieldErrors) error {
	switch {
	case business != r.caller.business && !r.caller.business:
		return errRole // the VEN could grant itself targets
	case business != r.caller.business:
		p.Addf("objectType", "must begin with BL_ for a business logic client")
	case !business && len(targets) > 0:
		return errRole
	case !business:
		*clientID = r.caller.ID
	default:
		p.Check(*clientID != "", "clientID", "is required")
	}
	return nil
}

func (s *server) setResource(r *request, in *resource, o *storage.OpenADRObject, p *rest.FieldErrors) error {
	clientID, business := in.ClientID, in.ObjectType == "BL_RESOURCE_REQUEST"
	if err := checkRole(r, business, in.Targets, &clientID, p); err != nil {
		return err
	}
	checkValues(p, "attributes", in.Attributes)
	p.Check(o.Parent == "" || o.Parent == in.VENID, "venID", "cannot change")
	return s.view(r, func(v storage.View) error {
		owner, ok, err := stored(v, storage.OpenADRVEN, o.OrganizationID, in.VENID)
		switch {
		case err != nil:
			return err
		case !ok, !business && owner.ClientID != clientID:
			return gone("ven", in.VENID)
		}
		p.Check(owner.ClientID == clientID, "clientID", "must be that of the VEN")
		if o.ID == "" {
			o.ID = storage.NewResourceID(owner.ID, r.Now)
		}
		o.ClientID, o.Parent, o.Name = clientID, owner.ID, in.ResourceName
		if business {
			o.Targets = in.Targets
		}
		in.ObjectType, in.ClientID, in.Targets = "", "", nil
		return unique(r, v, o, math.MaxUint64)
	})
}
