package api

import (
	"cmp"
	"context"
	"strings"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// channelRoutes are the operations on notification channels. An operator key that
// names no organization acts for the operator's channels.
var channelRoutes = []operation{
	do(rest.Route{
		Path: "/v1/channels/create", Name: "createChannel", Scope: storage.ScopeWrite, OfOperator: true, Idempotent: true, Checks: true,
		Summary: "Create a notification channel",
		Description: "Notification channels tell people about failing endpoints, failed triggers and near quotas, by email or by the webhook of a chat or an Alertmanager. " +
			"Without an organization, an operator key creates a channel of the operator, which carries the events of every organization.",
	}, (*server).createChannel),
	do(rest.Route{Path: "/v1/channels/list", Name: "listChannels", Scope: storage.ScopeRead, Errors: []string{rest.CodeUnavailable}, OfOperator: true, Summary: "List the notification channels"}, listOf[wire.PageInput](storage.KindChannel, (*server).showChannel)),
	do(rest.Route{Path: "/v1/channels/{id}/get", Name: "getChannel", Scope: storage.ScopeRead, OfOperator: true, Summary: "Get a notification channel"}, getOf[struct{}](storage.KindChannel, (*server).showChannel)),
	do(rest.Route{
		Path: "/v1/channels/{id}/update", Name: "updateChannel", Scope: storage.ScopeWrite, OfOperator: true, Checks: true, Partial: true,
		Summary:     "Update a notification channel",
		Description: "Absent fields keep their values.",
	}, (*server).updateChannel),
	do(rest.Route{Path: "/v1/channels/{id}/delete", Name: "deleteChannel", Scope: storage.ScopeWrite, OfOperator: true, Summary: "Delete a notification channel"}, deleteOf[struct{}](storage.KindChannel)),
	do(rest.Route{
		Path: "/v1/channels/{id}/test", Name: "testChannel", Scope: storage.ScopeTrigger, OfOperator: true, Errors: []string{rest.CodeUnavailable},
		Summary:     "Send a test message to a notification channel and return the result",
		Description: "A channel receives at most 10 messages at once, and then one in two minutes.",
	}, (*server).testChannel),
}

func (s *server) showChannel(_ *rest.Call, c *storage.Channel) (shown wire.Channel, err error) {
	shown = wire.Channel{ID: c.ID, ChannelSettings: c.ChannelSettings, CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt}
	shown.Health, err = s.Ledger.Health(c.OrganizationID, c.ID)
	return shown, err
}

// setChannel applies settings to a channel, checks the address by the operator's policy
// and seals it. before is the channel before the change, empty for a new channel.
func (s *server) setChannel(in *storage.ChannelSettings, c, before *storage.Channel, p *rest.FieldErrors) error {
	had := *before
	if err := s.Vault.OpenChannel(&had); err != nil {
		return err
	}
	c.ChannelSettings = *in
	p.Check(s.Email || c.Kind != storage.ChannelEmail || before.Kind == storage.ChannelEmail, "kind",
		"EMAIL needs an SMTP server, but the operator has not set smtp-url")
	switch {
	case c.Address == before.Address && before.Address != "" && c.Kind != storage.ChannelEmail:
		c.Address = had.Address
	case strings.HasSuffix(c.Address, "/"+storage.Masked):
		p.Addf("address", "requires the whole URL: %s keeps only the stored address", storage.Masked)
	}
	c.Check(p)
	if c.Kind != storage.ChannelEmail {
		if err := s.checkDestination("address", c.Address, p); err != nil {
			return err
		}
	}
	return s.Vault.SealChannel(c, before)
}

type createChannelInput struct {
	_ struct{} `required:"kind,address"`

	storage.ChannelSettings
}

func (in *createChannelInput) setDefaults() { in.Events, in.Enabled = []string{}, true }

func (s *server) createChannel(ctx context.Context, c *rest.Call, in *createChannelInput) (wire.Channel, error) {
	var ch storage.Channel
	configure := func(id string) error {
		ch = storage.Channel{ID: id, Base: storage.Base{OrganizationID: c.Org}}
		return cmp.Or(s.setChannel(&in.ChannelSettings, &ch, &storage.Channel{}, &c.Wrong), c.Wrong.Err())
	}
	if err := configure(storage.NewID("ch_", c.Now)); err != nil {
		return wire.Channel{}, err
	}
	return rest.Idempotent(ctx, s.rest, c, ch.ID, in, func(id string) (shown wire.Channel, err error) {
		if ch.ID != id { // a sealed address belongs to an identifier
			err = configure(id)
		}
		if err == nil {
			err = createOnce(ctx, s.Store, &ch)
		}
		if err != nil {
			return shown, err
		}
		return s.showChannel(c, &ch)
	})
}

// updateChannelInput has the settings to change. An absent field keeps its value.
type updateChannelInput struct{ storage.ChannelSettings }

func (s *server) updateChannel(ctx context.Context, c *rest.Call, _ *updateChannelInput) (wire.Channel, error) {
	ch, err := update(ctx, s, c, storage.KindChannel.Ref(c.Org, c.ID), func(ch *storage.Channel, p *rest.FieldErrors) error {
		before, settings := *ch, over(s, c, ch.ChannelSettings)
		return s.setChannel(&settings, ch, &before, p)
	})
	if err != nil {
		return wire.Channel{}, err
	}
	return s.showChannel(c, &ch)
}

func (s *server) testChannel(ctx context.Context, c *rest.Call, _ *struct{}) (events.ChannelTest, error) {
	ch, err := storage.Get[storage.Channel](s.Store, storage.KindChannel.Ref(c.Org, c.ID))
	if err != nil {
		return events.ChannelTest{}, err
	}
	return s.Tester.TestChannel(ctx, ch), nil
}
