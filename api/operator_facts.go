package api

import (
	"context"

	"github.com/gridhook/gridhook/storage"
)

// shared is an entity of the operator's own, by pointer.
type shared[T any] interface {
	*T
	storage.Entity
}

// listShared lists what the operator has of a kind.
func listShared[T any, P shared[T]](kind storage.Kind) method[pageInput, Page[T]] {
	return func(s *server, _ context.Context, _ *call, in *pageInput) (Page[T], error) {
		list, err := storage.List[T, P](s.Store, kind, storage.Shared, in.After, in.Limit+1)
		return newPage(list, in.Limit, func(e *T) string { return P(e).Ref().ID }), err
	}
}

// deleteShared deletes one of them: what is published holds again.
func deleteShared(kind storage.Kind) method[struct{}, Deleted] {
	return func(s *server, ctx context.Context, c *call, _ *struct{}) (Deleted, error) {
		return Deleted{c.id, true}, s.Store.Delete(ctx, storage.Ref{Kind: kind, Org: storage.Shared, ID: c.id})
	}
}
