package importer

import (
	"strings"

	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/storage"
)

type webhookEndpointLine struct {
	_ struct{} `required:"resource,organizationId,id,url"`

	lineHead
	ID string `json:"id" pattern:"id"`
	wire.EndpointSettings
	Secret string `json:"secret" pattern:"secret" nullable:"false"`
}

func (l *webhookEndpointLine) prepare(c *check) storage.Entity {
	e := storage.NewWebhookEndpoint(l.OrganizationID)
	e.ID = l.ID
	c.owner(&l.lineHead)
	c.p.Check(!strings.HasPrefix(l.ID, storage.SubscriptionPrefix), "id", "must not begin with %s, as the callbacks of OpenADR subscriptions do", storage.SubscriptionPrefix)
	choice := wire.SecretChoice{Secret: l.Secret, Signature: storage.SignatureHMAC}
	choice.Check(&c.p)
	before, found := replaced[storage.WebhookEndpoint](c, e.Ref())
	c.keep(found, "enabled", &l.Enabled, before.Enabled)
	err := c.Configure(&l.EndpointSettings, &e, &before, &c.p)
	if err == nil && c.p.Err() == nil {
		if e.Secrets = before.Secrets; !e.Enabled {
			e.Disabled = before.Disabled
		}
		c.setSecret(&e, choice, c.l)
	}
	c.failed(err)
	return &e
}

// setSecret sets the line's secret. A line without a secret keeps the endpoint's secrets, and
// NewSecret keeps the current secret. Importing the same line again therefore changes nothing.
func (im *importer) setSecret(e *storage.WebhookEndpoint, choice wire.SecretChoice, l *pending) {
	if choice.Secret == "" && len(e.Secrets) > 0 {
		return
	}
	if made := im.NewSecret(e, choice, im.now); choice.Secret == "" {
		l.secret = made
	}
}
