package api

import (
	"context"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/storage"
)

// shared is a pointer to an entity that belongs to the operator.
type shared[T any] interface {
	*T
	storage.Entity
}

// listShared returns a method that lists the operator's entities of a kind.
func listShared[T any, P shared[T]](kind storage.Kind) method[wire.PageInput, wire.Page[T]] {
	return func(s *server, _ context.Context, _ *rest.Call, in *wire.PageInput) (wire.Page[T], error) {
		list, err := storage.List[T, P](s.Store, kind, storage.Shared, in.After, in.Limit+1)
		return rest.NewPage(list, in.Limit, func(e *T) string { return P(e).Ref().ID }), err
	}
}

// deleteShared returns a method that deletes one of the operator's entities. The
// published data applies again afterwards.
func deleteShared(kind storage.Kind) method[struct{}, wire.Deleted] {
	return func(s *server, ctx context.Context, c *rest.Call, _ *struct{}) (wire.Deleted, error) {
		return wire.Deleted{ID: c.ID, Deleted: true}, s.Store.Delete(ctx, storage.Ref{Kind: kind, Org: storage.Shared, ID: c.ID})
	}
}
