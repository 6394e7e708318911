package openadr

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// Importer sets the objects of one import.
type Importer struct {
	server server
	view   storage.View
	// names maps the unique names of a kind and organization to the identifiers of their
	// objects. A scan for each object of an import would take too long.
	names map[storage.Ref]map[string]string
}

// NewImporter returns the importer of one import. It does not verify callbacks.
func NewImporter(d Deps) *Importer {
	d.Verify = nil
	return &Importer{server: server{Deps: d}, names: map[storage.Ref]map[string]string{}}
}

// prefixes begin the identifiers of objects. Derived objects and webhook endpoints have other
// identifiers.
var prefixes = map[storage.OpenADRType]string{
	storage.OpenADRProgram: "program_", storage.OpenADREvent: "event_", storage.OpenADRReport: "report_",
	storage.OpenADRSubscription: storage.SubscriptionPrefix, storage.OpenADRVEN: "ven_", storage.OpenADRResource: "ven_",
}

// Set sets o to an object in the form of Export, and adds the wrong fields to p. It makes
// the checks of the OpenADR interface for business logic. o names the object and, for a
// report or a subscription, its client. The stored object, if any, is before.
func (i *Importer) Set(v storage.View, o, before *storage.OpenADRObject, object json.RawMessage, now time.Time, p *rest.FieldErrors) error {
	id, clientID := o.ID, o.ClientID
	p.Check(strings.HasPrefix(id, prefixes[o.Type]), "id", "must begin with %s", prefixes[o.Type])
	p.Check(o.Type != storage.OpenADRSubscription || !strings.Contains(id, "-"), "id", "must not contain a hyphen, as the callbacks of subscriptions do")
	p.Check(len(object) <= MaxBody, "object", "must have at most %d bytes", MaxBody)
	if before.ID != "" && !before.Removed {
		p.Check(clientID == "" || clientID == before.ClientID, "clientId", "cannot change")
		*o = *before
	}
	if len(p.List()) > 0 {
		return nil
	}
	i.view = v
	r := &request{
		Request: &http.Request{Header: http.Header{"Content-Type": {"application/json"}}}, Call: &rest.Call{Now: now, Caller: rest.Caller{Operator: true}}, data: object, importer: i,
		caller: caller{&storage.Key{ID: clientID, Base: storage.Base{OrganizationID: o.OrganizationID}}, true},
	}
	k := kinds()[slices.IndexFunc(kinds(), func(k *kind) bool { return k.of == o.Type })]
	err := i.server.CheckHistory(o.OrganizationID)
	if err == nil {
		err = k.decode(&i.server, r, o)
	}
	if err != nil {
		return fieldsOf(err, p)
	}
	p.Check(o.Type != storage.OpenADRVEN || o.ID == id, "id", "must be %s, the only VEN of the client", o.ID)
	p.Check(o.Type != storage.OpenADRResource || strings.HasPrefix(id, o.Parent+"_"), "id", "must begin with %s_, the VEN of the resource", o.Parent)
	if names := i.names[namesOf(o)]; names != nil && len(p.List()) == 0 {
		if former := uniqueName(before); names[former] == o.ID {
			delete(names, former)
		}
		names[uniqueName(o)] = o.ID
	}
	return nil
}

// fieldsOf adds the refusal of an object to p. It returns every other error.
func fieldsOf(err error, p *rest.FieldErrors) error {
	var problem *rest.Problem
	var wrong *storage.InvalidError
	var full *events.QuotaError
	switch {
	case errors.As(err, &problem):
		p.Addf("object", "%s", problem.Message)
	case errors.As(err, &full):
		p.Addf("organizationId", "%s", full.Error())
	case errors.As(err, &wrong):
		for _, f := range wrong.Fields {
			p.Addf(strings.TrimSuffix("object."+f.Field, ".body"), "%s", f.Message)
		}
	default:
		return err
	}
	return nil
}

// namesOf returns the key of an object in Importer.names.
func namesOf(o *storage.OpenADRObject) storage.Ref {
	return storage.Ref{Kind: o.Type.Kind(), Org: o.OrganizationID}
}

// uniqueName returns an object's name with its scope. Only a resource has a parent.
func uniqueName(o *storage.OpenADRObject) string { return o.Parent + "/" + o.Name }

// unique returns an error if another object, stored or of the import, has the same name.
func (i *Importer) unique(v storage.View, o *storage.OpenADRObject) error {
	of := namesOf(o)
	if i.names[of] == nil {
		i.names[of] = map[string]string{}
		for record, err := range storage.Live(v, of.Kind, of.Org, "") {
			if err != nil {
				return err
			}
			if other, err := storage.Decode[storage.OpenADRObject](record); err == nil && !other.Removed {
				i.names[of][uniqueName(&other)] = other.ID
			}
		}
	}
	if owner, found := i.names[of][uniqueName(o)]; found && owner != o.ID {
		return taken(o)
	}
	return nil
}

// Export returns the client of an object, and the object as business logic would send it. The
// object has the client of a VEN or a resource.
func Export(o *storage.OpenADRObject) (clientID string, object map[string]json.RawMessage, err error) {
	if err := json.Unmarshal(events.WithTargets(o.JSON(), o.Targets), &object); err != nil {
		return "", nil, err
	}
	for _, name := range []string{"id", "createdDateTime", "modificationDateTime"} {
		delete(object, name)
	}
	if o.Type == storage.OpenADRVEN || o.Type == storage.OpenADRResource {
		object["objectType"] = json.RawMessage(`"BL_` + o.Type + `_REQUEST"`)
		return "", object, nil
	}
	delete(object, "objectType")
	delete(object, "clientID")
	return o.ClientID, object, nil
}
