package importer

import (
	"encoding/json"
	"slices"

	"github.com/gridhook/gridhook/storage"
)

type (
	openadrProgramLine      struct{ openADRLine }
	openadrEventLine        struct{ openADRLine }
	openadrVenLine          struct{ openADRLine }
	openadrResourceLine     struct{ openADRLine }
	openadrReportLine       struct{ clientLine }
	openadrSubscriptionLine struct{ clientLine }
)

// openADRLine is an OpenADR object.
type openADRLine struct {
	_ struct{} `required:"resource,organizationId,id,object"`

	lineHead
	ID     string          `json:"id" pattern:"id"`
	Object json.RawMessage `json:"object" doc:"The object as business logic sends it to the OpenADR interface, with the objectType and clientID of a VEN or a resource."`
}

func (l *openADRLine) prepare(c *check) storage.Entity { return l.set(c, "") }

// set makes the object of a client. It keeps whether the service has disabled a stored
// subscription.
func (l *openADRLine) set(c *check, clientID string) storage.Entity {
	o := storage.OpenADRObject{ID: l.ID, ClientID: clientID, Base: storage.Base{OrganizationID: l.OrganizationID}}
	types := storage.OpenADRTypes()
	o.Type = types[slices.IndexFunc(types, func(t storage.OpenADRType) bool { return string(t.Kind()) == c.l.resource })]
	c.owner(&l.lineHead)
	before, _ := replaced[storage.OpenADRObject](c, o.Ref())
	if c.p.Err() == nil {
		c.failed(c.SetOpenADR(c.v, &o, &before, l.Object, c.now, &c.p))
	}
	return &o
}

// clientLine is an OpenADR object that belongs to a client.
type clientLine struct {
	_ struct{} `required:"clientId"`

	openADRLine
	ClientID string `json:"clientId" pattern:"id" doc:"The client that the object belongs to: the identifier of its API key."`
}

func (l *clientLine) prepare(c *check) storage.Entity { return l.set(c, l.ClientID) }
