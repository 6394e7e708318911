package ledger

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"go.etcd.io/bbolt"
	"golang.org/x/sync/errgroup"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage/boltfile"
)

// Source is where triggers and receipts are read from.
type Source interface {
	// Identity tells one set of streams from another made in its place.
	Identity(ctx context.Context) (string, error)
	// Ends are the last sequences of the triggers and of the receipts.
	Ends(ctx context.Context) (triggers, receipts uint64, err error)
	// TailTriggers and TailReceipts hand everything after a sequence to apply,
	// in order, until ctx ends.
	TailTriggers(ctx context.Context, after uint64, apply func([]events.Sequenced[events.Trigger]) error) error
	TailReceipts(ctx context.Context, after uint64, apply func([]events.Sequenced[events.Receipt]) error) error
}

// Options configure a ledger.
type Options struct {
	// Keep is how long a trigger and its deliveries are kept.
	Keep time.Duration
	Log  *slog.Logger
	Now  func() time.Time
}

// Ledger is an events.Ledger in a bbolt file.
type Ledger struct {
	file *boltfile.File
	opt  Options

	mu       sync.Mutex
	triggers uint64        // the last sequence of the triggers that is folded
	changed  chan struct{} // closed, and replaced, whenever something is folded
}

var _ events.Ledger = (*Ledger)(nil)

// The buckets. triggers holds organization\x00trigger -> tally; slices
// trigger\x00number -> receipt; retried trigger\x00home\x00endpoint -> the latest
// delivery of what was tried again; attempts, under the same keys with the time and
// the number behind, each of its attempts; kept trigger\x00receipt -> what it was made
// of that a receipt gave up; waiting, under the keys of retried, what the
// slices' receipts say is being retried and has no final outcome yet; walking,
// under the triggers' keys, the triggers whose slices have not all been walked;
// runs organization\x00schedule -> the schedule's last run; health
// organization\x00endpoint -> how the endpoint does; ended, under the triggers' keys,
// the triggers that have come to their end of which nobody has been told.
const (
	metaBucket     = "meta"
	triggersBucket = "triggers"
	slicesBucket   = "slices"
	retriedBucket  = "retried"
	waitingBucket  = "waiting"
	walkingBucket  = "walking"
	runsBucket     = "runs"
	attemptsBucket = "attempts"
	keptBucket     = "kept"
	healthBucket   = "health"
	endedBucket    = "ended"
)

// buckets are all of them.
var buckets = []string{
	metaBucket, triggersBucket, slicesBucket, retriedBucket, attemptsBucket, keptBucket,
	waitingBucket, walkingBucket, runsBucket, healthBucket, endedBucket,
}

// form names the form of what is stored. A file of another is made anew.
const form = " 2"

var (
	triggersKey = []byte("triggers")
	receiptsKey = []byte("receipts")
)

// Open opens the ledger's file, or makes it.
func Open(path string, o Options) (*Ledger, error) {
	file, err := boltfile.Open(path, o.Log, buckets...)
	if err != nil {
		return nil, err
	}
	l := &Ledger{file: file, opt: o, changed: make(chan struct{})}
	err = file.View(func(tx *bbolt.Tx) error { l.triggers = sequence(tx, triggersKey); return nil })
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return l, nil
}

// Close closes the file.
func (l *Ledger) Close() error { return l.file.Close() }

// Follow folds the source into the ledger until ctx ends. It begins anew when
// the ledger belongs to another source, or to one that has since lost what it had:
// what is stored next would be taken for what was folded already.
func (l *Ledger) Follow(ctx context.Context, source Source) error {
	identity, err := source.Identity(ctx)
	if err != nil {
		return err
	}
	identity += form
	wiped, err := l.file.Adopt(identity)
	if err != nil {
		return fmt.Errorf("the ledger: %w", err)
	}
	if wiped {
		l.opt.Log.Warn("the receipts, or the form of the ledger, are others than this one's: rebuilding it")
		l.restart()
	}
	triggers, receipts, err := l.ends()
	if err != nil {
		return err
	}
	lastTrigger, lastReceipt, err := source.Ends(ctx)
	if err != nil {
		return err
	}
	if lastTrigger < triggers || lastReceipt < receipts {
		l.opt.Log.Error("the record has lost triggers or receipts that this ledger has: rebuilding the ledger from what is left",
			"triggers", triggers, "triggers left", lastTrigger, "receipts", receipts, "receipts left", lastReceipt)
		if triggers, receipts, err = 0, 0, l.wipe(identity); err != nil {
			return err
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return source.TailTriggers(ctx, triggers, l.foldTriggers) })
	group.Go(func() error { return source.TailReceipts(ctx, receipts, l.foldReceipts) })
	group.Go(func() error { return l.pruneRegularly(ctx) })
	return group.Wait()
}

// ends are the sequences that the ledger is folded up to.
func (l *Ledger) ends() (triggers, receipts uint64, err error) {
	err = l.file.View(func(tx *bbolt.Tx) error {
		triggers, receipts = sequence(tx, triggersKey), sequence(tx, receiptsKey)
		return nil
	})
	if err != nil {
		err = fmt.Errorf("the ledger: %w", err)
	}
	return triggers, receipts, err
}

// wipe empties the ledger of a source.
func (l *Ledger) wipe(identity string) error {
	const nobody = "nobody" // no source's identity
	_, err := l.file.Adopt(nobody)
	if err == nil {
		_, err = l.file.Adopt(identity)
	}
	if err != nil {
		return fmt.Errorf("the ledger: %w", err)
	}
	l.restart()
	return nil
}

func sequence(tx *bbolt.Tx, key []byte) uint64 {
	if v := tx.Bucket([]byte(metaBucket)).Get(key); len(v) == 8 {
		return binary.BigEndian.Uint64(v)
	}
	return 0
}

func putSequence(tx *boltfile.Tx, key []byte, n uint64) error {
	return tx.Put(metaBucket, key, binary.BigEndian.AppendUint64(nil, n))
}

// restart forgets how far the triggers were folded.
func (l *Ledger) restart() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.triggers = 0
}

// signal wakes everybody who waits for a change.
func (l *Ledger) signal(triggers uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.triggers = max(l.triggers, triggers)
	close(l.changed)
	l.changed = make(chan struct{})
}

// Changed is closed at the next change.
func (l *Ledger) Changed() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.changed
}

// Log is a trigger log whose Accept returns when the ledger shows the trigger,
// so that whoever was answered can ask for it at once.
func (l *Ledger) Log(log events.TriggerLog) events.TriggerLog { return shownLog{l, log} }

type shownLog struct {
	ledger *Ledger
	log    events.TriggerLog
}

// showWait bounds the wait: the trigger is accepted whether it shows or not.
const showWait = time.Second

func (s shownLog) Accept(ctx context.Context, t events.Trigger) (uint64, error) {
	sequence, err := s.log.Accept(ctx, t)
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, showWait)
	defer cancel()
	_ = s.ledger.Shows(ctx, sequence)
	return sequence, nil
}

// Shows waits until the ledger shows the triggers up to a sequence, and returns the
// error of ctx when that ends before.
func (l *Ledger) Shows(ctx context.Context, sequence uint64) error {
	for {
		l.mu.Lock()
		shown, changed := l.triggers >= sequence, l.changed
		l.mu.Unlock()
		if shown {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func key(parts ...string) []byte {
	var b []byte
	for i, p := range parts {
		if i > 0 {
			b = append(b, 0)
		}
		b = append(b, p...)
	}
	return b
}

func sliceKey(triggerID string, number int) []byte {
	return binary.BigEndian.AppendUint32(key(triggerID, ""), uint32(number)) //nolint:gosec // slices are far fewer
}
