package storage

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// Entity is implemented by a pointer to every stored type. The log stores its JSON form.
type Entity interface {
	// Ref names the entity.
	Ref() Ref
	// Check adds every wrong field to p. Validate also checks the identifier.
	Check(p *Problems)

	base() *Base
}

// Base has the fields that every entity embeds.
type Base struct {
	// OrganizationID is the organization that owns the entity, Shared for the operator's
	// entities. It is part of the reference, not of the JSON form.
	OrganizationID string `json:"-"`
	CreatedAt      Time   `json:"createdAt" readOnly:"true" doc:"Set by the service."`
	UpdatedAt      Time   `json:"updatedAt" readOnly:"true" doc:"Set by the service."`
}

func (b *Base) base() *Base { return b }

// Check adds nothing. It is the Check of an entity without rules besides its tags.
func (b *Base) Check(*Problems) {}

// Validate returns an *InvalidError naming every wrong field of an entity or of a part of
// one, or nil.
func Validate(e interface{ Check(p *Problems) }) error {
	var p Problems
	if entity, ok := e.(Entity); ok {
		CheckID(&p, "id", entity.Ref().ID)
	}
	e.Check(&p)
	return p.Err()
}

// PointerTo constrains P to a pointer to T that implements Entity.
type PointerTo[T any] interface {
	*T
	Entity
}

// Store reads from the replica and writes through the log.
type Store struct {
	Replica
	log    Log
	now    func() time.Time
	limits map[Kind]Limit
	// maxState is the limit of an organization's stored bytes, 0 for none.
	maxState int
	// creating are locks, each for some organizations. A lock is full while a caller
	// creates entities of limited kinds for one of them.
	creating [64]chan struct{}
}

// NewStore returns a store on a log and the replica that follows the log.
func NewStore(log Log, replica Replica, now func() time.Time) *Store {
	s := &Store{Replica: replica, log: log, now: now, limits: map[Kind]Limit{}}
	for i := range s.creating {
		s.creating[i] = make(chan struct{}, 1)
	}
	return s
}

// Now returns the store's clock in UTC and whole milliseconds, the resolution of
// timestamps.
func (s *Store) Now() time.Time { return s.now().UTC().Truncate(time.Millisecond) }

// Create stores a new entity and sets its times. Errors: *InvalidError, *ExistsError,
// *LimitError, *ErasedError, ErrUnavailable.
func (s *Store) Create(ctx context.Context, e Entity) error {
	quota, err := s.quota(ctx, e)
	if err != nil {
		return err
	}
	defer quota.release()
	current, err := s.replaced(e.Ref())
	if err != nil {
		return err
	}
	if current.live() {
		return &ExistsError{e.Ref()}
	}
	w, err := s.prepare(e, current)
	if err == nil {
		err = quota.take(w, current)
	}
	if err == nil {
		err = s.append(ctx, w)
	}
	if errors.Is(err, ErrConflict) { // another writer created the entity after the read
		return &ExistsError{e.Ref()}
	}
	return err
}

// Update reads an entity, lets change alter it, and stores it if no other writer changed
// it in between. After a conflict, Update waits until the replica has the other write and
// retries, up to 5 times in total. It returns an error of change unmodified. Errors:
// ErrNotFound, *InvalidError, ErrConflict, ErrUnavailable.
func Update[T any, P PointerTo[T]](ctx context.Context, s *Store, ref Ref, change func(*T) error) (T, error) {
	return update[T, P](ctx, s, ref, change, false)
}

// UpdateWithin is Update for a change whose size a caller of the API decides. Errors: also
// *LimitError.
func UpdateWithin[T any, P PointerTo[T]](ctx context.Context, s *Store, ref Ref, change func(*T) error) (T, error) {
	return update[T, P](ctx, s, ref, change, true)
}

func update[T any, P PointerTo[T]](ctx context.Context, s *Store, ref Ref, change func(*T) error, within bool) (T, error) {
	var e T
	err := s.retry(ctx, func() error {
		current, err := s.existing(ref)
		if err != nil {
			return err
		}
		if e, err = Decode[T, P](current); err != nil {
			return err
		}
		if err := change(&e); err != nil {
			return err
		}
		w, err := s.prepare(P(&e), current)
		if err == nil && within {
			err = (&quota{s: s, left: map[Ref]int{}}).takeUpdate(w, current)
		}
		if err != nil {
			return err
		}
		return s.append(ctx, w)
	})
	return e, err
}

// Touch stores an entity again. Its record gets the present time and a new revision, and
// its updatedAt remains. Errors: ErrNotFound, ErrConflict, ErrUnavailable.
func (s *Store) Touch(ctx context.Context, ref Ref) error {
	return s.retry(ctx, func() error {
		current, err := s.existing(ref)
		if err != nil {
			return err
		}
		return s.append(ctx, Write{Ref: ref, Expect: current.Revision, First: current.First, At: s.writeTime(current), Value: current.Value, over: true})
	})
}

// retry repeats a write after a conflict, up to 5 attempts in total. Before each retry it
// waits until reads include the other write.
func (s *Store) retry(ctx context.Context, write func() error) (err error) {
	const tries = 5
	for range tries {
		if err = write(); !errors.Is(err, ErrConflict) {
			return err
		}
		if behind := s.CatchUp(ctx); behind != nil {
			return behind
		}
	}
	return err
}

// DeleteEach deletes entities one after another. It skips an entity that was deleted or
// written after its record was read. Errors: ErrUnavailable.
func (s *Store) DeleteEach(ctx context.Context, records []Record) error {
	for i := range records {
		if err := s.append(ctx, s.tombstone(records[i], false)); err != nil && !errors.Is(err, ErrConflict) {
			return err
		}
	}
	return nil
}

// prepare returns the write that replaces current with a valid e. A zero current means
// that there is no record.
func (s *Store) prepare(e Entity, current Record) (Write, error) {
	if err := Validate(e); err != nil {
		return Write{}, err
	}
	return s.replacement(e, current)
}

// replacement returns the write that replaces current with e. It sets the times of e.
func (s *Store) replacement(e Entity, current Record) (Write, error) {
	b, now := e.base(), Time{s.Now()}
	b.CreatedAt, b.UpdatedAt = now, now
	if current.live() {
		b.CreatedAt = cmp.Or(baseOf(current).CreatedAt, now)
	}
	value, err := encode(e)
	if err != nil {
		return Write{}, fmt.Errorf("storage: %s does not encode: %w", e.Ref(), err)
	}
	return Write{Ref: e.Ref(), Expect: current.Revision, First: current.First, At: s.writeTime(current), Value: value, over: current.live()}, nil
}

// compact leaves out members with zero values.
var compact = jsonv2.JoinOptions(jsonv1.DefaultOptionsV1(), jsonv2.OmitZeroStructFields(true))

// encode returns the stored form of an entity. Homes are compact: there may be millions, and a
// walk reads them all.
func encode(e Entity) ([]byte, error) {
	if home, ok := e.(*Home); ok {
		return jsonv2.Marshal(home, compact)
	}
	return json.Marshal(e)
}

// maxBehind is how far a process's clock may be behind the clock of another process.
const maxBehind = 10 * time.Minute

// writeTime returns the time of a write that replaces current. It is not before the time of
// current, even if this process's clock is behind. Otherwise the mark of an earlier
// organization with the same identifier would hide the write from reads. A time further
// ahead is from a wrong clock and does not count.
func (s *Store) writeTime(current Record) time.Time {
	now := s.Now()
	if ahead := current.At.Sub(now); ahead > 0 && ahead <= maxBehind {
		return current.At
	}
	return now
}

// tombstone returns the write that deletes current. If whole is set, no remaining entity
// has this deletion as its newest change.
func (s *Store) tombstone(current Record, whole bool) Write {
	return Write{
		Ref: current.Ref, Expect: current.Revision, First: current.First, At: s.writeTime(current), Deleted: true, over: current.live(),
		Forget: whole || !current.Kind.outlived(),
	}
}

// appendBatch appends writes atomically. The log removes tombstones a little before the
// replica. After a conflict, appendBatch therefore reads the records that the replica
// shows as deleted from the log, and retries if some are gone. More tombstones may go
// meanwhile.
func (s *Store) appendBatch(ctx context.Context, batch []Write) (uint64, error) {
	const tries = 5
	for try := 1; ; try++ {
		last, err := s.log.AppendBatch(ctx, batch)
		if !errors.Is(err, ErrConflict) || try == tries {
			return last, err
		}
		removed, failed := s.dropRemoved(ctx, batch)
		if failed != nil || !removed {
			return 0, cmp.Or(failed, err)
		}
	}
}

// dropRemoved updates the expectations of a batch about tombstones that the log has
// removed. It reports whether there are any.
func (s *Store) dropRemoved(ctx context.Context, batch []Write) (removed bool, err error) {
	for i := range batch {
		if batch[i].over {
			continue
		}
		there, err := s.log.Read(ctx, batch[i].Ref)
		if err != nil {
			return false, err
		}
		if !there.live() && there.Revision != batch[i].Expect {
			batch[i].Expect, batch[i].First, removed = there.Revision, there.First, true
		}
	}
	return removed, nil
}

// CatchUp returns when reads include everything that the log holds now.
func (s *Store) CatchUp(ctx context.Context) error {
	state, err := s.log.State(ctx)
	if err != nil {
		return err
	}
	return s.WaitFor(ctx, state.Last)
}
