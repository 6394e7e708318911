package api

import (
	"cmp"
	"context"
	"errors"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/storage"
)

// create stores a new entity, unless the request or the entity has wrong fields.
func (s *server) create(ctx context.Context, c *rest.Call, e storage.Entity) error {
	if e.Check(&c.Wrong); c.Wrong.Err() != nil {
		return c.Wrong.Err()
	}
	return s.Store.Create(ctx, e)
}

// createOnce creates an entity. If an earlier attempt of the same request has stored the
// entity, perhaps in another process, createOnce reads the stored entity.
func createOnce[T any, P storage.PointerTo[T]](ctx context.Context, s *storage.Store, e P) error {
	err := s.Create(ctx, e)
	if !errors.Is(err, storage.ErrExists) {
		return err
	}
	if err = s.CatchUp(ctx); err == nil {
		*e, err = storage.Get[T, P](s, e.Ref())
	}
	return err
}

// update changes an entity, unless the request or the changed entity has wrong fields.
// change may run again after a conflict.
func update[T any, P storage.PointerTo[T]](ctx context.Context, s *server, c *rest.Call, ref storage.Ref, change func(e *T, p *rest.FieldErrors) error) (T, error) {
	if err := c.Wrong.Err(); err != nil && !ref.Valid() {
		var none T
		return none, err
	}
	e, err := storage.UpdateWithin[T, P](ctx, s.Store, ref, func(e *T) error {
		p := c.Wrong
		if err := change(e, &p); err != nil {
			return err
		}
		P(e).Check(&p)
		return p.Err()
	})
	if wrong := c.Wrong.Err(); wrong != nil && errors.Is(err, storage.ErrNotFound) {
		err = wrong
	}
	return e, err
}

// over returns a value with the fields that the body of an update names. takes has reported
// the body's wrong fields.
func over[T any](s *server, c *rest.Call, value T) T {
	_, _ = s.decode(c.Body, &value, "body")
	return value
}

// showing returns an entity as a response shows it.
type showing[T, V any] func(s *server, c *rest.Call, e *T) (V, error)

// plain is the showing of a function that needs only the entity.
func plain[T, V any](show func(*T) V) showing[T, V] {
	return func(_ *server, _ *rest.Call, e *T) (V, error) { return show(e), nil }
}

// asStored shows an entity as it is stored.
func asStored[T any](_ *server, _ *rest.Call, e *T) (T, error) { return *e, nil }

// page returns a page of an owner's entities of a kind, shown inside the view that has them. It
// is a long read, because it passes the tombstones of deleted entities.
func page[T, V any, P storage.PointerTo[T]](ctx context.Context, s *server, c *rest.Call, kind storage.Kind, owner string, in wire.PageInput, show func(storage.View, *T) (V, error)) (shown wire.Page[V], err error) {
	err = s.rest.Scan(ctx, c, func(v storage.View) error {
		found, err := storage.ReadList[T, P](v, kind, owner, in.After, in.Limit+1, s.rest.LeftOut)
		if err != nil {
			return err
		}
		page := rest.NewPage(found, in.Limit, func(e *T) string { return P(e).Ref().ID })
		shown, err = rest.Show(page, func(e *T) (V, error) { return show(v, e) })
		return err
	})
	return shown, err
}

// ownerOf returns the owner of what an operation is about: the organization that the request
// names, storage.Shared if it may name one and does not, or else the organization to act for.
func ownerOf(c *rest.Call, in any) string {
	if in, ok := in.(wire.OrganizationNamer); ok {
		return cmp.Or(in.NamedOrganization(), storage.Shared)
	}
	return c.Org
}

// listOf returns a method that lists an owner's entities of a kind.
func listOf[In interface{ Paging() wire.PageInput }, T, V any, P storage.PointerTo[T]](kind storage.Kind, show showing[T, V]) method[In, wire.Page[V]] {
	return func(s *server, ctx context.Context, c *rest.Call, in *In) (wire.Page[V], error) {
		return page[T, V, P](ctx, s, c, kind, ownerOf(c, in), (*in).Paging(), func(_ storage.View, e *T) (V, error) { return show(s, c, e) })
	}
}

// getOf returns a method that shows one of the entities that listOf lists.
func getOf[In, T, V any, P storage.PointerTo[T]](kind storage.Kind, show showing[T, V]) method[In, V] {
	return func(s *server, _ context.Context, c *rest.Call, in *In) (shown V, err error) {
		e, err := storage.Get[T, P](s.Store, kind.Ref(ownerOf(c, in), c.ID))
		if err != nil {
			return shown, err
		}
		return show(s, c, &e)
	}
}

// deleteOf returns a method that deletes one of the entities that listOf lists. Published
// data that the entity replaced applies again afterwards.
func deleteOf[In any](kind storage.Kind) method[In, wire.Deleted] {
	return func(s *server, ctx context.Context, c *rest.Call, in *In) (wire.Deleted, error) {
		return deleted(c, s.Store.Delete(ctx, kind.Ref(ownerOf(c, in), c.ID)))
	}
}

// deleted returns the response of a deletion.
func deleted(c *rest.Call, err error) (wire.Deleted, error) {
	return wire.Deleted{ID: c.ID, Deleted: true}, err
}
