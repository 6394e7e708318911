package api

import (
	"context"
	"slices"
	"time"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/storage"
)

func showKey(k *storage.Key, lastUsed storage.Time) wire.Key {
	return wire.Key{
		ID: k.ID, OrganizationID: k.OrganizationID, Description: k.Description, Scopes: k.Scopes,
		ExpiresAt: k.ExpiresAt, RevokedAt: k.RevokedAt, LastUsedAt: lastUsed, CreatedAt: k.CreatedAt, UpdatedAt: k.UpdatedAt,
	}
}

// lastUsed returns the time of a key's last use, or zero if the key was never used.
func lastUsed(v storage.View, k *storage.Key) (storage.Time, error) {
	use, _, err := storage.Read[storage.KeyUse](v, storage.KindKeyUse.Ref(k.OrganizationID, k.ID))
	if storage.NoRecord(err) { // the next use replaces a damaged record
		return storage.Time{}, nil
	}
	return use.LastUsedAt, err
}

type createKeyInput struct{ wire.CreateKeyInput }

func (in *createKeyInput) setDefaults() { in.Scopes = storage.DefaultScopes() }

func (s *server) createKey(ctx context.Context, c *rest.Call, in *createKeyInput) (wire.KeyWithText, error) {
	key, text := storage.NewKey(in.OrganizationID, c.Now)
	key.Description, key.Scopes = in.Description, slices.Compact(slices.Sorted(slices.Values(in.Scopes)))
	if in.ExpiresAt != nil {
		key.ExpiresAt = *in.ExpiresAt
		c.Wrong.Check(key.Live(c.Now), "expiresAt", "must be in the future")
	}
	if err := s.create(ctx, c, &key); err != nil {
		return wire.KeyWithText{}, err
	}
	return wire.KeyWithText{Key: showKey(&key, storage.Time{}), Text: text}, nil
}

func (s *server) listKeys(ctx context.Context, c *rest.Call, in *wire.OrganizationPageInput) (wire.Page[wire.Key], error) {
	return page(ctx, s, c, storage.KindKey, in.OrganizationID, in.PageInput, func(v storage.View, k *storage.Key) (wire.Key, error) {
		if _, err := storage.EndLink(v, k); err != nil {
			return wire.Key{}, err
		}
		used, err := lastUsed(v, k)
		return showKey(k, used), err
	})
}

// keyRef returns the reference of a key by its identifier. Identifiers of keys are unique
// across organizations.
func (s *server) keyRef(id string) (storage.Ref, error) {
	owner, err := storage.Query(s.Store, func(v storage.View) (string, error) { return v.Owner(storage.KindKey, id) })
	ref := storage.Ref{Kind: storage.KindKey, Org: owner, ID: id}
	return ref, storage.NotFound(err, ref)
}

func (s *server) revokeKey(ctx context.Context, c *rest.Call, _ *struct{}) (wire.Key, error) {
	ref, err := s.keyRef(c.ID)
	if err != nil {
		return wire.Key{}, err
	}
	key, err := storage.Update(ctx, s.Store, ref, func(k *storage.Key) error {
		k.Revoke(c.Now)
		return nil
	})
	if err != nil {
		return wire.Key{}, err
	}
	used, err := storage.Query(s.Store, func(v storage.View) (storage.Time, error) { return lastUsed(v, &key) })
	return showKey(&key, used), err
}

var errKeyEnded = rest.NewProblem(rest.CodeConflict, "The key is revoked or expired and cannot be rotated.", "Create a new key.")

// rotateKey creates the new key and limits the old key in one write. The limit of keys does
// not apply.
func (s *server) rotateKey(ctx context.Context, c *rest.Call, in *wire.RotateKeyInput) (wire.KeyWithText, error) {
	ref, err := s.keyRef(c.ID)
	if err != nil {
		return wire.KeyWithText{}, err
	}
	key, text := storage.NewKey(ref.Org, c.Now)
	end := c.Now.Add(time.Duration(in.OverlapSeconds) * time.Second)
	err = s.Store.Rewrite(ctx, func(v storage.View) (r storage.Revised, err error) {
		old, _, err := storage.Read[storage.Key](v, ref)
		if err != nil {
			return r, err
		}
		if !old.Live(c.Now) {
			return r, errKeyEnded
		}
		if !old.Rotated {
			old.Rotated, old.OriginalExpiresAt = true, old.ExpiresAt
		}
		key.Description, key.Scopes, key.ExpiresAt = old.Description, old.Scopes, old.OriginalExpiresAt
		key.Link, key.CreatedBy = old.Link, old.CreatedBy
		if old.ExpiresAt.IsZero() || old.ExpiresAt.After(end) {
			old.ExpiresAt = storage.Time{Time: end}
		}
		return storage.Revised{Put: []storage.Entity{&key, &old}}, nil
	})
	return wire.KeyWithText{Key: showKey(&key, storage.Time{}), Text: text}, err
}
