package api

import "github.com/gridhook/gridhook/storage"

// The length of a page.
const (
	defaultPage = 100
	maxPage     = 1000
)

// pageInput asks for a page of a list.
type pageInput struct {
	// Limit is the most that is wanted, by default 100.
	Limit int `json:"limit"`
	// After is the next of the page before.
	After string `json:"after"`
}

func (in *pageInput) setDefaults() { in.Limit = defaultPage }

func (in *pageInput) check(_ *server, _ *call, p *problems) {
	checkLimit(p, in.Limit)
	p.Check(in.After == "" || storage.ValidID(in.After), "after", "must be the next of an earlier page")
}

func checkLimit(p *problems, limit int) {
	p.Check(limit >= 1 && limit <= maxPage, "limit", "must be from 1 to %d", maxPage)
}

// Page is one page of a list.
type Page[T any] struct {
	Data []T `json:"data"`
	// Next is what to give as after for the next page, null on the last.
	Next *string `json:"next"`
}

// newPage makes a page of up to limit elements of a list that was read one
// further, to see whether there is more.
func newPage[T any](list []T, limit int, cursor func(*T) string) Page[T] {
	if len(list) <= limit {
		return Page[T]{Data: list}
	}
	next := cursor(&list[limit-1])
	return Page[T]{Data: list[:limit], Next: &next}
}

// show makes each element of a page what callers are shown of it.
func show[T, V any](p Page[T], view func(*T) V) Page[V] {
	shown := Page[V]{Data: make([]V, len(p.Data)), Next: p.Next}
	for i := range p.Data {
		shown.Data[i] = view(&p.Data[i])
	}
	return shown
}

// showEach is show where a view may fail.
func showEach[T, V any](p Page[T], view func(*T) (V, error)) (shown Page[V], err error) {
	shown = Page[V]{Data: make([]V, len(p.Data)), Next: p.Next}
	for i := range p.Data {
		if shown.Data[i], err = view(&p.Data[i]); err != nil {
			return Page[V]{}, err
		}
	}
	return shown, nil
}
