package rest

import (
	"github.com/gridhook/gridhook/api/wire"
)

// NewPage returns a page of up to limit elements. The caller reads limit+1 elements, so
// that NewPage knows whether more elements follow.
func NewPage[T any](list []T, limit int, cursor func(*T) string) wire.Page[T] {
	if len(list) <= limit {
		return wire.Page[T]{Data: list}
	}
	next := cursor(&list[limit-1])
	return wire.Page[T]{Data: list[:limit], Next: &next}
}

// LeftOut logs a record that does not decode. A list leaves the record out, because its caller
// needs the others.
func (s *Server) LeftOut(err error) { s.Log.Error("stored record left out of a list", "error", err) }

// Show converts each element of a page with view.
func Show[T, V any](p wire.Page[T], view func(*T) (V, error)) (shown wire.Page[V], err error) {
	shown = wire.Page[V]{Data: make([]V, len(p.Data)), Next: p.Next}
	for i := range p.Data {
		if shown.Data[i], err = view(&p.Data[i]); err != nil {
			return wire.Page[V]{}, err
		}
	}
	return shown, nil
}
