package importer

import (
	"cmp"
	"errors"
	"slices"

	"github.com/gridhook/gridhook/storage"
)

type keyLine struct {
	_ struct{} `required:"resource,organizationId,keyId,scopes"`

	lineHead
	ID          string          `json:"keyId" pattern:"id"`
	Description string          `json:"description" maxLength:"255"`
	Scopes      []storage.Scope `json:"scopes" minItems:"1"`
	ExpiresAt   *storage.Time   `json:"expiresAt" doc:"null if the key does not expire."`
}

// prepare returns a key with a new secret, or the stored key. An import never changes a
// stored key: an old file could otherwise restore revoked permissions.
func (l *keyLine) prepare(c *check) storage.Entity {
	key, text := storage.NewKeyWithID(l.OrganizationID, l.ID)
	key.Description, key.Scopes = l.Description, slices.Compact(slices.Sorted(slices.Values(l.Scopes)))
	if l.ExpiresAt != nil {
		key.ExpiresAt = *l.ExpiresAt
	}
	c.p.Check(c.caller.Role.Includes(storage.RoleAdmin), "resource", "requires an operator key with the role %s", storage.RoleAdmin)
	c.p.Check(storage.IsAPIKey(l.ID), "keyId", "must begin with key_, unlike the callers that are operators")
	c.owner(&l.lineHead)
	c.p.Check(key.Live(c.now), "expiresAt", "must be in the future")
	if stored, found := replaced[storage.Key](c, key.Ref()); found {
		same := stored.Live(c.now) && stored.Description == key.Description && slices.Equal(stored.Scopes, key.Scopes) && stored.ExpiresAt.Equal(key.ExpiresAt.Time)
		c.p.Check(same, "keyId", "names a stored key with other values, which an import does not change")
		return &stored
	}
	owner, err := c.v.Owner(storage.KindKey, l.ID)
	if c.failed(storage.IgnoreNotFound(err)); errors.Is(err, storage.ErrNotFound) {
		owner = cmp.Or(c.keys[l.ID], l.OrganizationID)
	}
	c.p.Check(owner == l.OrganizationID, "keyId", "names a key of another organization")
	if c.p.Err() == nil {
		c.keys[l.ID], c.l.secret = l.OrganizationID, text
	}
	return &key
}
