package storage

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
)

// Limit bounds the live entities of a kind in an organization. Existing entities stay
// usable after the limit is lowered.
type Limit struct {
	Kind Kind
	Max  int
	// Setting is the name of the operator's setting, empty for a fixed limit.
	Setting string
	// Counts reports whether an entity counts against the limit. If nil, each counts.
	Counts func(Record) bool
}

// deleted returns the limit of tombstones beside which an organization may create an entity.
// Every scan of a kind passes its tombstones. An organization that creates and deletes all the
// time would otherwise slow the scheduler and the workers.
func (l *Limit) deleted() Limit {
	return Limit{Kind: "deleted " + l.Kind, Max: max(10_000, 5*l.Max)}
}

// used returns the number of an organization's entities that count against the limit.
func (l *Limit) used(v View, org string) (n int, err error) {
	if l.Counts == nil {
		return v.Count(l.Kind, org), nil
	}
	for r, err := range Live(v, l.Kind, org, "") {
		if err != nil {
			return 0, err
		}
		if l.Counts(r) {
			n++
		}
	}
	return n, nil
}

// SettingMaxState is the name of the operator's setting for SetMaxState.
const SettingMaxState = "max-state"

// LimitError says that an organization has reached the limit of a kind, or, without a
// kind, of its stored bytes.
type LimitError struct {
	Limit
	Org string
}

// Error names the limit and the remedy.
func (e *LimitError) Error() string {
	if e.Setting == "" {
		return fmt.Sprintf("the organization %q has %d of kind %s, which is the limit: wait until an earlier one has passed its retention", e.Org, e.Max, e.Kind)
	}
	return fmt.Sprintf("the organization %q has reached the limit %s, %s: delete one first, or ask the operator to raise the limit", e.Org, e.Setting, e.Amount())
}

// Amount returns the limit, with its unit if the name of the setting does not say it.
func (e *LimitError) Amount() string {
	if e.Kind == "" {
		return fmt.Sprintf("%d bytes of stored records, recently deleted ones included", e.Max)
	}
	return strconv.Itoa(e.Max)
}

// SetLimit bounds the entities that Create and Upsert create. Call it before the store is
// used. A single process enforces the limit exactly. Concurrent processes may each exceed
// it by the entities that the others create at the same moment.
func (s *Store) SetLimit(l Limit) { s.limits[l.Kind] = l }

// updateShare is the share of the limit of stored bytes that updates may use beyond it, as
// a divisor. So an organization at its limit can still disable an endpoint.
const updateShare = 16

// SetMaxState bounds the size of each organization's records in bytes, 0 for no bound.
// Create and Upsert refuse new entities, as with SetLimit. Upsert, UpdateWithin and Rewrite
// refuse updates that grow beyond the limit. Call it before the store is used.
func (s *Store) SetMaxState(bytes int) { s.maxState = bytes }

// quota is the remaining allowance of one caller of Create or Upsert.
type quota struct {
	s    *Store
	held []uint32    // indexes in s.creating
	left map[Ref]int // by kind and organization, and bytes by organization
}

// quota waits until no other caller creates entities of limited kinds for the same
// organizations. It does not wait if none of the entities is limited. Errors:
// ErrUnavailable.
func (s *Store) quota(ctx context.Context, entities ...Entity) (*quota, error) {
	q := &quota{s: s, left: map[Ref]int{}}
	var locks []uint32
	for _, e := range entities {
		ref := e.Ref()
		if _, limited := s.limits[ref.Kind]; limited {
			h := fnv.New32a()
			_, _ = h.Write([]byte(ref.Org)) // it never fails
			locks = append(locks, h.Sum32()%uint32(len(s.creating)))
		}
	}
	slices.Sort(locks) // the same order for every caller, or two would wait for each other
	for _, lock := range slices.Compact(locks) {
		select {
		case s.creating[lock] <- struct{}{}:
			q.held = append(q.held, lock)
		case <-ctx.Done(): // its error would mean that the outcome is unknown
			q.release()
			return nil, fmt.Errorf("%w: other requests of the organization were not stored in time", ErrUnavailable)
		}
	}
	return q, nil
}

// release lets other callers create entities.
func (q *quota) release() {
	for _, lock := range q.held {
		<-q.s.creating[lock]
	}
}

// take uses the quota for a new entity that replaces current, a tombstone or the zero
// Record. Errors: *LimitError, and the errors of View.
func (q *quota) take(w Write, current Record) error {
	if l, limited := q.s.limits[w.Kind]; limited {
		deleted := func(v View, org string) (int, error) { return v.Deleted(w.Kind, org), nil }
		if err := cmp.Or(q.use(l, w.Org, 1, 0, l.used), q.use(l.deleted(), w.Org, 0, 0, deleted)); err != nil {
			return err
		}
	}
	return q.grow(w, current, 0)
}

// takeUpdate uses the quota for the growth of an entity. Errors: as of take.
func (q *quota) takeUpdate(w Write, current Record) error {
	return q.grow(w, current, q.s.maxState/updateShare)
}

// grow uses the quota of stored bytes for the difference between a write and the record
// that it replaces. The write may exceed the quota by beyond.
func (q *quota) grow(w Write, current Record, beyond int) error {
	n := int(Record{Ref: w.Ref, Revision: 1, Value: w.Value}.Size() - current.Size())
	if n <= 0 || q.s.maxState == 0 || w.Org == Shared || w.Kind == KindKeyUse { // the service records the use of keys
		return nil
	}
	l := Limit{Max: q.s.maxState, Setting: SettingMaxState}
	return q.use(l, w.Org, n, beyond, func(v View, org string) (int, error) { return int(v.Size(org)), nil })
}

// use takes n from what an organization has left of a limit, and at most beyond more.
func (q *quota) use(l Limit, org string, n, beyond int, used func(View, string) (int, error)) error {
	owner := Ref{Kind: l.Kind, Org: org}
	left, known := q.left[owner]
	if !known {
		err := q.s.View(func(v View) error {
			used, err := used(v, org)
			left = l.Max - used
			return err
		})
		if err != nil {
			return err
		}
	}
	if left+beyond < n {
		return &LimitError{l, org}
	}
	q.left[owner] = left - n
	return nil
}
