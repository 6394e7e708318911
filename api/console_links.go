package api

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/storage"
)

// linkRoutes are the operations on links to the console. A link is an API key that
// expires soon, in the fragment of an address.
var linkRoutes = []operation{
	do(rest.Route{
		Path: "/v1/console/links/create", Name: "createConsoleLink", Scope: storage.ScopeWrite, Checks: true,
		Summary: "Create a short-lived link to the console",
		Description: "The link opens the console of the organization without a sign-in, until the link expires. " +
			"The link counts as a key to the limit of keys. Its requests count to the rate limit of the API key. Only this response contains the link.",
	}, (*server).createLink),
	do(rest.Route{
		Path: "/v1/console/links/{id}/revoke", Name: "revokeConsoleLink", Scope: storage.ScopeWrite,
		Summary:     "Revoke a link to the console immediately",
		Description: "The identifier is the keyId of the link.",
	}, (*server).revokeLink),
}

var errLinkOfLink = rest.NewProblem(rest.CodeForbidden, "The key of a console link cannot create or revoke links.", "Use an API key of the organization.")

type createLinkInput struct{ wire.ConsoleLinkInput }

func (in *createLinkInput) setDefaults() { in.Scopes = []storage.Scope{storage.ScopeRead} }

func (in *createLinkInput) check(c *rest.Call) {
	for i, scope := range in.Scopes {
		c.Wrong.Check(c.Operator || c.Key.Allows(scope), fmt.Sprintf("scopes[%d]", i), "must be a scope of the API key, not %s", scope)
	}
}

func (s *server) createLink(ctx context.Context, c *rest.Call, in *createLinkInput) (wire.ConsoleLink, error) {
	if c.Key != nil && c.Key.Link {
		return wire.ConsoleLink{}, errLinkOfLink
	}
	key, text := storage.NewKey(c.Org, c.Now)
	key.Link, key.Description = true, in.Description
	key.Scopes = slices.Compact(slices.Sorted(slices.Values(in.Scopes)))
	key.ExpiresAt = storage.Time{Time: c.Now.Add(time.Duration(in.Minutes) * time.Minute)}
	if c.Key != nil && !c.Key.ExpiresAt.IsZero() && c.Key.ExpiresAt.Before(key.ExpiresAt.Time) {
		key.ExpiresAt = c.Key.ExpiresAt // a link does not outlive the key that makes it
	}
	if c.Key != nil {
		key.CreatedBy = c.Key.ID
	}
	if err := s.create(ctx, c, &key); err != nil {
		return wire.ConsoleLink{}, err
	}
	return wire.ConsoleLink{Key: showKey(&key, storage.Time{}), Path: "/console/#/link/" + text}, nil
}

// revokeLink revokes a key only if it is the key of a link of the organization.
func (s *server) revokeLink(ctx context.Context, c *rest.Call, _ *struct{}) (wire.Key, error) {
	if c.Key != nil && c.Key.Link {
		return wire.Key{}, errLinkOfLink
	}
	key, err := storage.Get[storage.Key](s.Store, storage.Ref{Kind: storage.KindKey, Org: c.Org, ID: c.ID})
	switch {
	case err == nil && key.Link:
		return s.revokeKey(ctx, c, nil)
	case err == nil || errors.Is(err, storage.ErrNotFound):
		err = storage.NotFound(storage.ErrNotFound, storage.Ref{Kind: "console link", Org: c.Org, ID: c.ID})
	}
	return wire.Key{}, err
}
