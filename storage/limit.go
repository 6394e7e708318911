package storage

import (
	"context"
	"fmt"
)

// Limit bounds the live entities of a kind in an organization. Updates are not bounded,
// so existing entities stay usable after the limit is lowered.
type Limit struct {
	Kind Kind
	Max  int
	// Setting is the name of the operator's setting.
	Setting string
}

// LimitError says that an organization has reached the limit of a kind.
type LimitError struct {
	Limit
	Org string
}

// Error names the limit and the remedy.
func (e *LimitError) Error() string {
	return fmt.Sprintf("the organization %q has reached the limit %s, %d of kind %s: delete one first, or ask the operator to raise the limit",
		e.Org, e.Setting, e.Max, e.Kind)
}

// SetLimit bounds the entities that Create and Upsert create. Call it before the store is
// used. A single process enforces the limit exactly. Concurrent processes may each exceed
// it by the entities that the others create at the same moment.
func (s *Store) SetLimit(l Limit) {
	if s.limits == nil {
		s.limits, s.creating = map[Kind]Limit{}, make(chan struct{}, 1)
	}
	s.limits[l.Kind] = l
}

// quota is the remaining allowance of one caller of Create or Upsert.
type quota struct {
	s    *Store
	held bool
	left map[Ref]int // by kind and organization
}

// quota waits until no other caller creates entities of limited kinds. It does not wait
// if none of the entities is limited. Errors: ctx.Err().
func (s *Store) quota(ctx context.Context, entities ...Entity) (*quota, error) {
	q := &quota{s: s}
	for _, e := range entities {
		if _, limited := s.limits[e.Ref().Kind]; !limited {
			continue
		}
		select {
		case s.creating <- struct{}{}:
			q.held, q.left = true, map[Ref]int{}
			return q, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return q, nil
}

// release lets other callers create entities.
func (q *quota) release() {
	if q.held {
		<-q.s.creating
	}
}

// take uses one entity of the quota. Errors: *LimitError, and the errors of View.
func (q *quota) take(ref Ref) error {
	l, limited := q.s.limits[ref.Kind]
	if !limited {
		return nil
	}
	owner := Ref{Kind: ref.Kind, Org: ref.Org}
	left, known := q.left[owner]
	if !known {
		err := q.s.View(func(v View) error {
			left = l.Max - v.Count(ref.Kind, ref.Org)
			return nil
		})
		if err != nil {
			return err
		}
	}
	if left <= 0 {
		return &LimitError{l, ref.Org}
	}
	q.left[owner] = left - 1
	return nil
}
