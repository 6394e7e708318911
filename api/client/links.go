package client

import (
	"context"

	"github.com/gridhook/gridhook/api/wire"
)

// ConsoleLinkRequest describes a console link.
type ConsoleLinkRequest = wire.ConsoleLinkInput

// ConsoleLink is a short-lived link to the console.
type ConsoleLink = wire.ConsoleLink

// CreateConsoleLink creates a short-lived link to the console.
func (c *Client) CreateConsoleLink(ctx context.Context, l ConsoleLinkRequest) (ConsoleLink, error) {
	return call[ConsoleLink](ctx, c, "/v1/console/links/create", l)
}

// RevokeConsoleLink revokes a link by the identifier of its key.
func (c *Client) RevokeConsoleLink(ctx context.Context, id string) (Key, error) {
	return call[Key](ctx, c, "/v1/console/links/"+segment(id)+"/revoke", nothing)
}
