package storage

import (
	"net/mail"
	"net/url"
	"slices"
)

// The events that notification channels carry besides EventEndpointDisabled. Endpoints do
// not receive them.
const (
	EventEndpointFailing   = "endpoint.failing"
	EventEndpointRecovered = "endpoint.recovered"
	EventTriggerFailures   = "price_signal.trigger.failures"
	EventQuotaNear         = "quota.near"
	EventChannelTest       = "channel.test"
)

// ChannelEvents returns the events that a notification channel can select.
func ChannelEvents() []string {
	return []string{EventEndpointFailing, EventEndpointDisabled, EventEndpointRecovered, EventTriggerFailures, EventQuotaNear}
}

// ChannelKind is the kind of a notification channel's receiver.
type ChannelKind string

// The kinds.
const (
	// ChannelEmail sends email through the operator's SMTP server.
	ChannelEmail ChannelKind = "EMAIL"
	// ChannelSlack posts to an incoming webhook of Slack or of a compatible service.
	ChannelSlack ChannelKind = "SLACK"
	// ChannelTeams posts an Adaptive Card to a workflow of Microsoft Teams.
	ChannelTeams ChannelKind = "TEAMS"
	// ChannelAlertmanager posts alerts to the API of a Prometheus Alertmanager.
	ChannelAlertmanager ChannelKind = "ALERTMANAGER"
)

// ChannelKinds returns all kinds.
func ChannelKinds() []ChannelKind {
	return []ChannelKind{ChannelEmail, ChannelSlack, ChannelTeams, ChannelAlertmanager}
}

// ChannelSettings are the settings of a notification channel.
type ChannelSettings struct {
	Kind        ChannelKind `json:"kind" nullable:"false" doc:"EMAIL sends email and needs the operator's smtp-url. SLACK posts to an incoming webhook. TEAMS posts an Adaptive Card to a workflow. ALERTMANAGER posts alerts, which end when the endpoint recovers." example:"SLACK"`
	Address     string      `json:"address" minLength:"1" maxLength:"2048" nullable:"false" doc:"The email address, or the URL of the receiver. The rules for the url of an endpoint apply. Everything after the URL's host is stored encrypted and shown as ********. Sending the address as it is shown keeps the stored address." example:"https://hooks.slack.example/services/T0/B0/secret"`
	Events      []string    `json:"events" maxItems:"20" itemsEnum:"endpoint.failing,endpoint.disabled,endpoint.recovered,price_signal.trigger.failures,quota.near" nullable:"false" doc:"The events to send. An empty list means all." example:"[\"endpoint.failing\",\"endpoint.recovered\"]"`
	Description string      `json:"description" maxLength:"500" example:"on call"`
	Enabled     bool        `json:"enabled" doc:"Whether the channel receives events. A test is sent anyway." example:"true"`
}

// Channel is a notification channel: where people hear of an organization's endpoints,
// triggers and quotas. A channel of the owner Shared is the operator's and carries the
// events of every organization. A URL in Address is masked: see package vault.
type Channel struct {
	ID string `json:"id"`
	ChannelSettings
	// SealedAddress is the whole URL, empty for an email address.
	SealedAddress string `json:"sealedAddress,omitempty"`
	Base
}

// Ref names the channel.
func (c *Channel) Ref() Ref { return KindChannel.Ref(c.OrganizationID, c.ID) }

// Wants reports whether the channel receives events of the type.
func (c *Channel) Wants(eventType string) bool {
	wanted := c.Events
	if len(wanted) == 0 {
		wanted = ChannelEvents()
	}
	return c.Enabled && slices.Contains(wanted, eventType)
}

// Check adds every wrong field.
func (c *Channel) Check(p *Problems) {
	checkEnum(p, "kind", c.Kind, ChannelKinds()...)
	if c.Kind == ChannelEmail {
		to, err := mail.ParseAddress(c.Address)
		p.Check(err == nil && to.Address == c.Address, "address", "must be an email address such as ops@example.com")
	} else {
		checkURL(p, "address", c.Address)
	}
}

// MaskAddress returns a channel's address with everything after a URL's host masked,
// because the path of such a URL is a secret.
func MaskAddress(kind ChannelKind, address string) string {
	u, err := url.Parse(address)
	if kind == ChannelEmail || err != nil || u.Host == "" {
		return address
	}
	return u.Scheme + "://" + u.Host + "/" + Masked
}
