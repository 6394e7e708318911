package api

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/gridhook/gridhook/storage"
)

// Key is an API key as it is shown: without its secret.
type Key struct {
	ID             string          `json:"keyId"`
	OrganizationID string          `json:"organizationId"`
	Description    string          `json:"description"`
	Scopes         []storage.Scope `json:"scopes"`
	// ExpiresAt and RevokedAt are null where they do not apply.
	ExpiresAt storage.Time `json:"expiresAt"`
	RevokedAt storage.Time `json:"revokedAt"`
	// LastUsedAt is right to about a minute, and null for a key that was not
	// used yet.
	LastUsedAt storage.Time `json:"lastUsedAt"`
	CreatedAt  storage.Time `json:"createdAt"`
	UpdatedAt  storage.Time `json:"updatedAt"`
}

func showKey(k *storage.Key, lastUsed storage.Time) Key {
	return Key{
		ID: k.ID, OrganizationID: k.OrganizationID, Description: k.Description, Scopes: k.Scopes,
		ExpiresAt: k.ExpiresAt, RevokedAt: k.RevokedAt, LastUsedAt: lastUsed, CreatedAt: k.CreatedAt, UpdatedAt: k.UpdatedAt,
	}
}

// lastUsed is when a key was used, zero when it was not.
func lastUsed(v storage.View, k *storage.Key) (storage.Time, error) {
	use, _, err := storage.Read[storage.KeyUse](v, storage.KeyUseRef(k.OrganizationID, k.ID))
	return use.LastUsedAt, ignore(err, storage.ErrNotFound)
}

// KeyWithText is a key with the text that the partner sends, shown this once.
type KeyWithText struct {
	Key
	Text string `json:"key"`
}

type createKeyInput struct {
	ofOrganization
	Description string `json:"description"`
	// Scopes are by default all.
	Scopes []storage.Scope `json:"scopes"`
	// ExpiresAt is null for a key that does not expire.
	ExpiresAt storage.Time `json:"expiresAt"`
}

func (in *createKeyInput) setDefaults() { in.Scopes = storage.Scopes() }

func (in *createKeyInput) check(s *server, c *call, p *problems) {
	in.ofOrganization.check(s, c, p)
	p.Check(in.ExpiresAt.IsZero() || in.ExpiresAt.After(c.now), "expiresAt", "must be in the future")
	key, _ := in.key(c.now)
	_ = p.addError(key.Validate()) // nothing but field errors
}

func (in *createKeyInput) key(now time.Time) (key storage.Key, text string) {
	key, text = storage.NewKey(in.OrganizationID, now)
	key.Description, key.Scopes, key.ExpiresAt = in.Description, slices.Compact(slices.Sorted(slices.Values(in.Scopes))), in.ExpiresAt
	return key, text
}

func (s *server) createKey(ctx context.Context, c *call, in *createKeyInput) (KeyWithText, error) {
	key, text := in.key(c.now)
	if err := s.Store.Create(ctx, &key); err != nil {
		return KeyWithText{}, err
	}
	return KeyWithText{showKey(&key, storage.Time{}), text}, nil
}

func (s *server) listKeys(_ context.Context, _ *call, in *organizationPageInput) (Page[Key], error) {
	shown := []Key{}
	err := s.Store.View(func(v storage.View) error {
		list, err := storage.ReadList[storage.Key](v, storage.KindKey, in.OrganizationID, in.After, in.Limit+1)
		for i := range list {
			used, failed := lastUsed(v, &list[i])
			shown, err = append(shown, showKey(&list[i], used)), errors.Join(err, failed)
		}
		return err
	})
	return newPage(shown, in.Limit, func(k *Key) string { return k.ID }), err
}

// keyRef names a key by its identifier, which is unique across organizations.
func (s *server) keyRef(id string) (storage.Ref, error) {
	ref := storage.Ref{Kind: storage.KindKey, ID: id}
	err := s.Store.View(func(v storage.View) (err error) {
		ref.Org, err = v.Owner(storage.KindKey, id)
		return err
	})
	return ref, err
}

func (s *server) revokeKey(ctx context.Context, c *call, _ *struct{}) (Key, error) {
	ref, err := s.keyRef(c.id)
	if err != nil {
		return Key{}, err
	}
	key, err := storage.Update(ctx, s.Store, ref, func(k *storage.Key) error {
		if k.RevokedAt.IsZero() {
			k.RevokedAt = storage.Time{Time: c.now}
		}
		return nil
	})
	if err != nil {
		return Key{}, err
	}
	var used storage.Time
	err = s.Store.View(func(v storage.View) (err error) {
		used, err = lastUsed(v, &key)
		return err
	})
	return showKey(&key, used), err
}

// The overlap of a rotation, in seconds.
const (
	defaultOverlap = 24 * 60 * 60
	maxOverlap     = 30 * defaultOverlap
)

type rotateKeyInput struct {
	// OverlapSeconds is how long the old key goes on, by default a day.
	OverlapSeconds int `json:"overlapSeconds"`
}

func (in *rotateKeyInput) setDefaults() { in.OverlapSeconds = defaultOverlap }

func (in *rotateKeyInput) check(_ *server, _ *call, p *problems) {
	p.Check(in.OverlapSeconds >= 0 && in.OverlapSeconds <= maxOverlap, "overlapSeconds", "must be from 0 to %d", maxOverlap)
}

var errKeyEnded = &Problem{
	Status: errConflict.Status, Code: CodeConflict,
	Message:  "The key is revoked or has expired, and cannot be rotated.",
	Recovery: "Create a new key.",
}

// rotateKey makes the new key first: whatever fails then, none is lost.
func (s *server) rotateKey(ctx context.Context, c *call, in *rotateKeyInput) (KeyWithText, error) {
	ref, err := s.keyRef(c.id)
	if err != nil {
		return KeyWithText{}, err
	}
	old, err := storage.Get[storage.Key](s.Store, ref)
	if err != nil {
		return KeyWithText{}, err
	}
	if !old.Live(c.now) {
		return KeyWithText{}, errKeyEnded
	}
	key, text := storage.NewKey(ref.Org, c.now)
	key.Description, key.Scopes, key.ExpiresAt = old.Description, old.Scopes, old.ExpiresAt
	if err := s.Store.Create(ctx, &key); err != nil {
		return KeyWithText{}, err
	}
	end := c.now.Add(time.Duration(in.OverlapSeconds) * time.Second)
	_, err = storage.Update(ctx, s.Store, ref, func(k *storage.Key) error {
		if k.ExpiresAt.IsZero() || k.ExpiresAt.After(end) {
			k.ExpiresAt = storage.Time{Time: end}
		}
		return nil
	})
	return KeyWithText{showKey(&key, storage.Time{}), text}, err
}
