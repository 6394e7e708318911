package jetstream

import (
	"context"
	"sync"
)

// tailBatch is the most messages handed over at once.
const tailBatch = 5000

// numbered is a message's value and its place in the stream.
type numbered[T any] struct {
	sequence uint64
	value    T
}

// inbox is what has arrived of a stream and is not handed over yet. A channel of as
// many would take their memory although nothing comes, and the garbage collector
// would look through it each time.
type inbox[T any] struct {
	// arrived has a token while there is something to take, and room one when
	// something was taken.
	arrived, room chan struct{}

	mu     sync.Mutex
	values []T
	last   uint64 // the place of the last of them
	spare  []T    // the memory for what comes next
}

func newInbox[T any]() *inbox[T] {
	return &inbox[T]{arrived: make(chan struct{}, 1), room: make(chan struct{}, 1)}
}

// put adds a message, once there is room for it or ctx has ended. One goroutine puts.
func (b *inbox[T]) put(ctx context.Context, n numbered[T]) {
	for !b.add(n) {
		select {
		case <-b.room:
		case <-ctx.Done():
			return
		}
	}
	token(b.arrived)
}

func (b *inbox[T]) add(n numbered[T]) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.values) >= tailBatch {
		return false
	}
	b.values, b.last = append(b.values, n.value), n.sequence
	return true
}

// take takes everything, and returns the place of the last of it.
func (b *inbox[T]) take() (batch []T, last uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	batch, b.values, b.spare = b.values, b.spare, nil
	token(b.room)
	return batch, b.last
}

// keptBatch is how many values' memory waits for those to come.
const keptBatch = 256

// applied gives back the memory of a batch. Nobody may hold it any more.
func (b *inbox[T]) applied(batch []T) {
	if cap(batch) > keptBatch {
		return
	}
	clear(batch)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.spare = batch[:0]
}

// token puts a token where there is none.
func token(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
