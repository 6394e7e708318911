package dispatcher

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// fakeBus is an in-memory message system with the behavior of package events/jetstream.
// Messages go through JSON. A queue redelivers a message until it is acknowledged.
// Retries are due at whole seconds. Messages survive the workers that put them.
type fakeBus struct {
	t testing.TB

	mu       sync.Mutex
	changed  chan struct{} // closed, and replaced, at every change
	log      []events.Trigger
	triggers []*queued[events.Trigger]
	slices   []*queued[events.Slice]
	// surplus holds the slices of surplus triggers. running counts the triggers of each
	// organization whose last slice has no receipt.
	surplus  []*queued[events.Slice]
	running  map[string]int
	retries  []*queued[events.Retry]
	notices  []*queued[events.Notice]
	tasks    []*queued[events.Task]
	messages []*queued[events.Task] // tasks of channels
	receipts []events.Receipt
	stored   map[string]bool // subjects of receipts

	positions []events.WalkPosition
	dead      []events.DeadLetter
	// refuse, if not nil, returns why an operation fails permanently. spoil changes
	// stored retries.
	refuse      func(name, detail string) error
	spoil       func(r *events.Retry)
	maxPayload  int         // maximum size of a receipt, in bytes
	loseAck     atomic.Bool // the next PutRetries stores the retries and fails after a while
	reachedAsks int         // calls of Reached
	known       map[string]events.Known
	putAt       map[string]time.Time // when a slice was first put
	everPut     map[string]int       // how often a slice was put on the queue
	retryPuts   []events.Retry
	everTold    []events.Notice
	redelivered int  // redelivered messages
	down        bool // no call responds
	full        bool // no message is stored
	hangs       bool // calls about triggers wait for their timeout
}

// message_ is a message of a queue.
type queued[T any] struct {
	value      T
	key        string
	readyAt    time.Time
	deliveries int
	holder     *busConn // the worker that handles it, nil if it waits
}

// Delays of the message system.
const (
	busAckWait  = 10 * time.Second
	busNakDelay = time.Second
	busMoment   = 10 * time.Millisecond
	busDedupe   = 2 * time.Minute
)

func newFakeBus(t testing.TB) *fakeBus {
	return &fakeBus{t: t, changed: make(chan struct{}), stored: map[string]bool{}, known: map[string]events.Known{}, everPut: map[string]int{}, running: map[string]int{}, putAt: map[string]time.Time{}, maxPayload: 8 << 20}
}

// wakeLocked notifies all waiting goroutines of a change.
func (b *fakeBus) wakeLocked() {
	close(b.changed)
	b.changed = make(chan struct{})
}

// await waits until a condition of the bus holds.
func (b *fakeBus) await(holds func() bool) {
	for {
		b.mu.Lock()
		done, changed := holds(), b.changed
		b.mu.Unlock()
		if done {
			return
		}
		<-changed
	}
}

// idleLocked reports whether all queues are empty.
func (b *fakeBus) idleLocked() bool {
	return len(b.triggers)+len(b.slices)+len(b.surplus)+len(b.retries)+len(b.notices)+len(b.tasks)+len(b.messages) == 0
}

// copied returns a value after encoding and decoding.
func copied[T any](b *fakeBus, v T) T {
	_, out := stored(b, v)
	return out
}

// stored returns a value as it is stored, and after decoding.
func stored[T any](b *fakeBus, v T) (text []byte, out T) {
	text, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		b.t.Errorf("encode %T: %v", v, err)
	}
	return text, out
}

// accept accepts a trigger, as the API does.
func (b *fakeBus) accept(t events.Trigger) events.Trigger {
	b.mu.Lock()
	defer b.mu.Unlock()
	t = copied(b, t)
	t.Sequence = uint64(len(b.log)) + 1
	t.Surplus = b.running[t.OrganizationID] >= events.SurplusFrom
	b.running[t.OrganizationID]++
	b.log = append(b.log, t)
	b.triggers = append(b.triggers, &queued[events.Trigger]{value: t, key: t.ID})
	b.wakeLocked()
	return t
}

func sliceName(trigger string, number int) string { return fmt.Sprintf("%s.%d", trigger, number) }

func (b *fakeBus) queuedLocked(key string) bool {
	has := func(m *queued[events.Slice]) bool { return m.key == key }
	return slices.ContainsFunc(b.slices, has) || slices.ContainsFunc(b.surplus, has)
}

// lose drops the waiting slices, as a power cut may.
func (b *fakeBus) lose() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.slices, b.surplus = nil, nil
	b.wakeLocked()
}

func (b *fakeBus) refused(name, detail string) error {
	if b.refuse == nil {
		return nil
	}
	return b.refuse(name, detail)
}

// busConn is one worker's connection to the bus. A dead connection does nothing.
type busConn struct {
	bus *fakeBus
	// point is called before and after every operation of the worker on the bus. If it
	// returns true, the worker dies at that point.
	point func(at string) bool

	mu   sync.Mutex
	dead bool
	die  context.CancelFunc
}

var _ Bus = (*busConn)(nil)

var errDead = errors.New("the process is dead")

// kill ends a worker like kill -9. Its messages are redelivered after a while, and its
// further operations have no effect.
func (c *busConn) kill() {
	c.mu.Lock()
	was := c.dead
	c.dead = true
	c.die() // before anything sees that the connection is dead: a killed process walks no other slice
	c.mu.Unlock()
	if was {
		return
	}
	b := c.bus
	b.mu.Lock()
	defer b.mu.Unlock()
	release(c, b.triggers)
	release(c, b.slices)
	release(c, b.surplus)
	release(c, b.retries)
	release(c, b.notices)
	release(c, b.tasks)
	release(c, b.messages)
	b.wakeLocked()
}

func release[T any](c *busConn, queue []*queued[T]) {
	for _, m := range queue {
		if m.holder == c {
			m.holder, m.readyAt = nil, time.Now().Add(busAckWait)
		}
	}
}

func (c *busConn) isDead() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.dead
}

// at passes a point, and reports whether the worker is still alive.
func (c *busConn) at(point string) bool {
	if c.isDead() {
		return false
	}
	if c.point != nil && c.point(point) {
		c.kill()
		return false
	}
	return true
}

// publishWait is the timeout of the message system.
const publishWait = 4 * time.Second

// ask makes a call about triggers.
func (c *busConn) ask(ctx context.Context, name string, fn func(b *fakeBus)) error {
	c.bus.mu.Lock()
	hangs := c.bus.hangs
	c.bus.mu.Unlock()
	if hangs {
		select {
		case <-time.After(publishWait):
		case <-ctx.Done():
		}
		return storage.ErrUnavailable
	}
	return c.do(ctx, name, fn)
}

// do performs an operation, unless the worker dies before it. It returns after if the
// worker dies after it.
func (c *busConn) do(ctx context.Context, name string, fn func(b *fakeBus)) error {
	if !c.at("before " + name) {
		return errDead
	}
	b := c.bus
	b.mu.Lock()
	if b.down || b.full && strings.HasPrefix(name, "put ") || ctx.Err() != nil {
		b.mu.Unlock()
		return storage.ErrUnavailable
	}
	fn(b)
	b.wakeLocked()
	b.mu.Unlock()
	if !c.at("after " + name) {
		return errDead
	}
	return nil
}

func (c *busConn) PutSlice(ctx context.Context, s events.Slice) error {
	return c.do(ctx, "put slice", func(b *fakeBus) {
		key := sliceName(s.Trigger.ID, s.Number)
		// The stream remembers the message id of a slice that is put for the first time.
		if at, put := b.putAt[key]; !s.Resumed && put && time.Since(at) < busDedupe {
			return
		}
		if !b.queuedLocked(key) {
			if !s.Resumed {
				b.putAt[key] = time.Now()
			}
			queue := ordinarySlices(b)
			if s.Trigger.Surplus {
				queue = surplusSlices(b)
			}
			*queue = append(*queue, &queued[events.Slice]{value: copied(b, s), key: key})
			b.everPut[key]++
		}
	})
}

func (c *busConn) PutRetries(ctx context.Context, retries []events.Retry) (size int, err error) {
	if err := c.bus.refused("put retries", ""); err != nil {
		return 0, err
	}
	if c.bus.loseAck.CompareAndSwap(true, false) {
		defer func() {
			<-time.After(publishWait)
			err = storage.ErrUnavailable
		}()
	}
	err = c.do(ctx, "put retries", func(b *fakeBus) {
		for _, r := range retries {
			var text []byte
			text, r = stored(b, r)
			size += len(text)
			if b.spoil != nil && r.Walk == nil {
				b.spoil(&r)
			}
			key := r.Trigger.ID + "." + r.Key()
			due := r.DueAt.Truncate(time.Second)
			if due.Before(r.DueAt.Time) {
				due = due.Add(time.Second)
			}
			// A due time in the past, set by a slow clock, takes effect after a moment.
			if soon := time.Now().Add(busMoment); due.Before(soon) {
				due = soon
			}
			m := &queued[events.Retry]{value: r, key: key, readyAt: due}
			waits := func(o *queued[events.Retry]) bool {
				return o.key == key && o.deliveries == 0 && time.Now().Before(o.readyAt)
			}
			if i := slices.IndexFunc(b.retries, waits); i >= 0 {
				b.retries[i] = m
			} else {
				b.retries = append(b.retries, m)
			}
			b.retryPuts = append(b.retryPuts, r)
		}
	})
	return size, err
}

func receiptName(org, trigger, key string) string { return org + "." + trigger + "." + key }

func (c *busConn) PutReceipt(ctx context.Context, r events.Receipt) error {
	if err := c.bus.refused("put receipt", r.Key); err != nil {
		return err
	}
	if text, err := json.Marshal(r); err != nil || len(text) > c.bus.maxPayload {
		return fmt.Errorf("receipt has %d bytes: maximum payload exceeded: %w", len(text), err)
	}
	return c.do(ctx, "put receipt", func(b *fakeBus) {
		name := receiptName(r.OrganizationID, r.TriggerID, r.Key)
		if b.stored[name] {
			return // the stream has the message
		}
		b.stored[name] = true
		b.receipts = append(b.receipts, copied(b, r))
		if r.Slice != nil && r.Slice.Last {
			b.running[r.OrganizationID]--
		}
	})
}

func (c *busConn) HasReceipt(ctx context.Context, org, triggerID, key string) (has bool, err error) {
	err = c.do(ctx, "has receipt", func(b *fakeBus) { has = b.stored[receiptName(org, triggerID, key)] })
	return has, err
}

func (c *busConn) Reached(ctx context.Context, t events.Trigger, number int) (reached bool, err error) {
	err = c.ask(ctx, "reached", func(b *fakeBus) {
		parked := t.ID + "." + events.ParkedKey(number)
		s := events.Slice{Number: number}
		b.reachedAsks++
		reached = b.queuedLocked(sliceName(t.ID, number)) || b.stored[receiptName(t.OrganizationID, t.ID, s.Key())] ||
			slices.ContainsFunc(b.retries, func(m *queued[events.Retry]) bool { return m.key == parked })
	})
	return reached, err
}

func (c *busConn) PutPosition(p events.WalkPosition) error {
	return c.do(context.Background(), "position", func(b *fakeBus) { b.positions = append(b.positions, p) })
}

// FollowWalks passes triggers and positions in the order of their arrival at the bus.
func (c *busConn) FollowWalks(ctx context.Context, _ time.Time, f events.WalkFollower, current func()) error {
	triggers, positions := 0, 0
	for {
		b := c.bus
		b.mu.Lock()
		for _, t := range b.log[triggers:] {
			f.Accepted(t)
		}
		for _, p := range b.positions[positions:] {
			f.Reached(p)
		}
		triggers, positions = len(b.log), len(b.positions)
		changed := b.changed
		b.mu.Unlock()
		if current != nil {
			current()
			current = nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil
		}
	}
}

func (c *busConn) PutDeadLetter(ctx context.Context, d events.DeadLetter) error {
	return c.do(ctx, "put dead letter", func(b *fakeBus) { b.dead = append(b.dead, d) })
}

func knownName(org, endpointID string, slice int) string {
	return fmt.Sprintf("%s.%s.%d", org, endpointID, slice)
}

func (c *busConn) Known(ctx context.Context, org, endpointID string, slice int) (known events.Known, err error) {
	if err := c.bus.refused("known", knownName(org, endpointID, slice)); err != nil {
		return known, err
	}
	err = c.do(ctx, "known", func(b *fakeBus) {
		stored := b.known[knownName(org, endpointID, slice)]
		known = copied(b, stored)
		known.Revision = stored.Revision
		if known.Signals == nil {
			known.Signals = map[string]string{}
		}
	})
	return known, err
}

func (c *busConn) PutKnown(ctx context.Context, org, endpointID string, slice int, known events.Known) (revision uint64, err error) {
	if err := c.bus.refused("put known", knownName(org, endpointID, slice)); err != nil {
		return 0, err
	}
	conflict := false
	err = c.do(ctx, "put known", func(b *fakeBus) {
		name := knownName(org, endpointID, slice)
		if conflict = b.known[name].Revision != known.Revision; conflict {
			return
		}
		stored := copied(b, known)
		stored.Revision = known.Revision + 1
		b.known[name], revision = stored, stored.Revision
	})
	if err == nil && conflict {
		err = storage.ErrConflict
	}
	return revision, err
}

func (c *busConn) ConsumeTriggers(ctx, taking context.Context, slots int, handle func(context.Context, events.Trigger, events.Taken) error) error {
	return consume(ctx, taking, c, slots, "trigger", func(b *fakeBus) *[]*queued[events.Trigger] { return &b.triggers }, handle)
}

func (c *busConn) ConsumeSlices(ctx, taking context.Context, slots int, handle func(context.Context, events.Slice, events.Taken) error) error {
	var wg sync.WaitGroup
	defer wg.Wait()
	for _, queue := range []func(*fakeBus) *[]*queued[events.Slice]{ordinarySlices, surplusSlices} {
		wg.Go(func() { _ = consume(ctx, taking, c, slots, "slice", queue, handle) }) // it has no error
	}
	return nil
}

func ordinarySlices(b *fakeBus) *[]*queued[events.Slice] { return &b.slices }
func surplusSlices(b *fakeBus) *[]*queued[events.Slice]  { return &b.surplus }

func (c *busConn) ConsumeRetries(ctx, taking context.Context, slots int, handle func(context.Context, events.Retry, events.Taken) error) error {
	return consume(ctx, taking, c, slots, "retry", func(b *fakeBus) *[]*queued[events.Retry] { return &b.retries }, handle)
}

// consume hands out the messages of a queue to a number of slots. Only a free slot waits for
// a message: a change of the bus wakes one goroutine of each queue.
func consume[T any](ctx, taking context.Context, c *busConn, slots int, name string, queue func(*fakeBus) *[]*queued[T], handle func(context.Context, T, events.Taken) error) error {
	var wg sync.WaitGroup
	defer wg.Wait()
	taken := make(chan struct{}, slots)
	for {
		select {
		case taken <- struct{}{}:
		case <-taking.Done():
			return nil
		}
		m, redelivered := take(taking, c, queue)
		if m == nil {
			return nil
		}
		wg.Go(func() {
			free := sync.OnceFunc(func() { <-taken })
			defer free()
			text, _ := stored(c.bus, m.value)
			err := handle(ctx, m.value, events.Taken{Redelivered: redelivered, Size: len(text), Free: free})
			if c.at("before ack " + name) {
				finish(c, queue, m, err)
			}
		})
	}
}

// finish acknowledges a message, or returns it to the queue.
func finish[T any](c *busConn, queue func(*fakeBus) *[]*queued[T], m *queued[T], err error) {
	b := c.bus
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case c.isDead():
	case err == nil:
		remove(b, queue, m)
	default:
		m.holder, m.readyAt = nil, time.Now().Add(busNakDelay)
	}
	b.wakeLocked()
}

func remove[T any](b *fakeBus, queue func(*fakeBus) *[]*queued[T], m *queued[T]) {
	q := queue(b)
	*q = slices.DeleteFunc(*q, func(o *queued[T]) bool { return o == m })
}

// take waits for a due message. It returns nil when taking ends or the worker dies.
func take[T any](taking context.Context, c *busConn, queue func(*fakeBus) *[]*queued[T]) (m *queued[T], redelivered bool) {
	for {
		b, now := c.bus, time.Now()
		b.mu.Lock()
		if taking.Err() != nil || c.isDead() {
			b.mu.Unlock()
			return nil, false
		}
		changed, wake := b.changed, time.Hour
		if m := next(*queue(b)); m != nil && !b.down {
			if wake = m.readyAt.Sub(now); wake <= 0 {
				m.holder = c
				if m.deliveries++; m.deliveries > 1 {
					b.redelivered++
				}
				redelivered = m.deliveries > 1
				b.mu.Unlock()
				return m, redelivered
			}
		}
		b.mu.Unlock()
		timer := time.NewTimer(wake)
		select {
		case <-changed:
		case <-timer.C:
		case <-taking.Done():
		}
		timer.Stop()
	}
}

// next returns the waiting message that is due first, the oldest of several, nil if none waits.
func next[T any](queue []*queued[T]) (first *queued[T]) {
	for _, m := range queue {
		if m.holder == nil && (first == nil || m.readyAt.Before(first.readyAt)) {
			first = m
		}
	}
	return first
}

// ledgerSource is the source that a ledger follows on the bus.
type ledgerSource struct{ *fakeBus }

func (ledgerSource) Streams(context.Context) (events.Streams, error) {
	return events.Streams{Identity: "fake", LastTrigger: math.MaxUint64, LastReceipt: math.MaxUint64, Now: time.Now()}, nil // no message is lost
}

func (s ledgerSource) TailTriggers(ctx context.Context, after uint64, apply func([]events.Sequenced[events.Trigger]) error) error {
	return tail(ctx, s.fakeBus, after, func() []events.Trigger { return s.log }, apply)
}

func (s ledgerSource) TailReceipts(ctx context.Context, after uint64, apply func([]events.Sequenced[events.Receipt]) error) error {
	return tail(ctx, s.fakeBus, after, func() []events.Receipt { return s.receipts }, apply)
}

func tail[T any](ctx context.Context, b *fakeBus, after uint64, all func() []T, apply func([]events.Sequenced[T]) error) error {
	for {
		b.mu.Lock()
		var batch []events.Sequenced[T]
		for i, v := range all()[after:] {
			data, out := stored(b, v)
			batch = append(batch, events.Sequenced[T]{Sequence: after + uint64(i) + 1, Stored: time.Now(), Data: data, Value: out})
		}
		changed := b.changed
		b.mu.Unlock()
		if len(batch) > 0 {
			if err := apply(batch); err != nil {
				return err
			}
			after += uint64(len(batch))
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil
		}
	}
}
