package ledger

import (
	"context"
	"encoding/binary"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"sync"
	"time"

	"go.etcd.io/bbolt"
	"golang.org/x/sync/errgroup"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/boltfile"
)

// Source provides the triggers and receipts.
type Source interface {
	// Streams describes the streams.
	Streams(ctx context.Context) (events.Streams, error)
	// TailTriggers and TailReceipts pass everything after a sequence to apply, in order,
	// until ctx ends.
	TailTriggers(ctx context.Context, after uint64, apply func([]events.Sequenced[events.Trigger]) error) error
	TailReceipts(ctx context.Context, after uint64, apply func([]events.Sequenced[events.Receipt]) error) error
}

// Options configure a ledger.
type Options struct {
	// Keep is the retention of triggers and their deliveries in the ledger. KeepTriggers is
	// the retention of triggers in their log, which may be longer.
	Keep, KeepTriggers time.Duration
	// Erased reports whether an organization is deleted. If nil, none is.
	Erased func(org string) (bool, error)
	// Quota limits the triggers that Log accepts.
	Quota events.Quota
	Log   *slog.Logger
	Now   func() time.Time
}

// Ledger answers queries about triggers and deliveries, from a bbolt file.
type Ledger struct {
	file *boltfile.File
	opt  Options

	mu                           sync.Mutex
	triggers, receipts           uint64        // last folded sequences
	newestTrigger, newestReceipt uint64        // last sequences when Follow began, the largest number before
	accepted                     uint64        // last sequence that Log accepted
	source                       Source        // what Follow reads, nil before
	changed                      chan struct{} // closed and replaced at every change
	// accepting lists the price triggers that Log accepts and the ledger does not show yet.
	accepting []accepting
}

// The buckets and their keys:
//
//   - triggers: organization\x00trigger or notice -> tally
//   - slices: trigger\x00number -> receipt
//   - retried: trigger\x00home\x00endpoint -> the latest state of a retried delivery
//   - attempts: the key of retried, the time and the number -> one attempt
//   - inputs: trigger\x00receipt -> the inputs of the deliveries that the receipt gave up
//   - waiting: the key of retried; open deliveries that their slice's receipt calls
//     RETRYING
//   - walking: the key of triggers; triggers with unfinished walks
//   - runs: organization\x00schedule -> the schedule's last run
//   - health: organization\x00endpoint -> the health of an endpoint that has failed
//   - successes: the key of health -> the last success of an endpoint that never failed,
//     in milliseconds since 1970
//   - unnotified: the key of triggers; completed triggers without a notification
//   - usage: organization -> the usage of its triggers
const (
	metaBucket    = "meta"
	slicesBucket  = "slices"
	triggersTable = boltfile.Table[tally]("triggers")
	retriedTable  = boltfile.Table[retried]("retried")
	attemptsTable = boltfile.Table[events.Attempt]("attempts")
	inputsTable   = boltfile.Table[[]events.RetryInputs]("inputs")
	runsTable     = boltfile.Table[events.Run]("runs")
	healthTable   = boltfile.Table[events.Health]("health")
	successTable  = boltfile.Table[int64]("successes")
	usageTable    = boltfile.Table[events.Usage]("usage")
	waitingSet    = boltfile.Set("waiting")
	walkingSet    = boltfile.Set("walking")
	unnotifiedSet = boltfile.Set("unnotified")
)

// buckets lists all buckets.
var buckets = []string{
	metaBucket, slicesBucket, string(triggersTable), string(retriedTable), string(attemptsTable), string(inputsTable),
	string(runsTable), string(healthTable), string(successTable), string(usageTable), string(waitingSet), string(walkingSet), string(unnotifiedSet),
}

// form names the file's format. A file of another format is rebuilt.
const form = " 9"

var (
	triggersKey = []byte("triggers")
	receiptsKey = []byte("receipts")
)

// Open opens or creates the ledger's file.
func Open(path string, o Options) (*Ledger, error) {
	file, err := boltfile.Open(path, o.Log, buckets...)
	if err != nil {
		return nil, err
	}
	return &Ledger{
		file: file, opt: o, changed: make(chan struct{}), newestTrigger: math.MaxUint64, newestReceipt: math.MaxUint64,
	}, nil
}

// Close closes the file.
func (l *Ledger) Close() error { return l.file.Close() }

// Follow folds the source into the ledger until ctx ends. It rebuilds the ledger if the
// source has another identity. It also rebuilds the ledger if the source has lost
// messages: new messages would reuse sequences that the ledger has already folded.
func (l *Ledger) Follow(ctx context.Context, source Source) error {
	streams, err := source.Streams(ctx)
	if err != nil {
		return err
	}
	l.mu.Lock()
	l.source = source
	l.mu.Unlock()
	wiped, err := l.file.Adopt(streams.Identity + form)
	if err != nil {
		return fmt.Errorf("the ledger: %w", err)
	}
	if wiped {
		l.opt.Log.Warn("ledger belongs to other streams or another format, rebuilding the ledger")
	}
	var triggers, receipts uint64 // the last folded sequences
	err = l.file.View(func(tx *bbolt.Tx) error {
		triggers, receipts = boltfile.Number(tx, metaBucket, triggersKey), boltfile.Number(tx, metaBucket, receiptsKey)
		return nil
	})
	if err != nil {
		return fmt.Errorf("the ledger: %w", err)
	}
	if streams.LastTrigger < triggers || streams.LastReceipt < receipts {
		l.opt.Log.Error("streams have lost triggers or receipts that the ledger has, rebuilding the ledger from the rest",
			"triggers", triggers, "triggers left", streams.LastTrigger, "receipts", receipts, "receipts left", streams.LastReceipt)
		if err := l.file.Wipe(); err != nil {
			return fmt.Errorf("the ledger: %w", err)
		}
		triggers, receipts = 0, 0
	}
	l.begin(triggers, receipts, streams.NewestTrigger, streams.NewestReceipt)
	oldest := l.oldest(streams.Now)
	since := storage.Earlier(streams.ReceiptsSince, streams.Now.Add(-events.LongestRetry)) // the first receipts may be still to come
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		return source.TailTriggers(ctx, triggers, func(batch []events.Sequenced[events.Trigger]) error {
			return l.foldTriggers(batch, oldest, since)
		})
	})
	group.Go(func() error { return source.TailReceipts(ctx, receipts, l.foldReceipts) })
	group.Go(func() error { return l.pruneRegularly(ctx, source) })
	return group.Wait()
}

// begin sets the last folded sequences, and the newest sequences of the source, when Follow
// begins.
func (l *Ledger) begin(triggers, receipts, newestTrigger, newestReceipt uint64) {
	l.mu.Lock()
	if triggers < l.triggers { // the file was rebuilt
		l.accepted = 0
		l.dropFolded(math.MaxUint64)
	}
	l.triggers, l.receipts, l.newestTrigger, l.newestReceipt = triggers, receipts, newestTrigger, newestReceipt
	l.mu.Unlock()
	l.signal(0, 0)
}

// signal sets the last folded sequences, if they are larger, and wakes all goroutines that
// wait for a change.
func (l *Ledger) signal(triggers, receipts uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.triggers, l.receipts = max(l.triggers, triggers), max(l.receipts, receipts)
	l.dropFolded(l.triggers)
	close(l.changed)
	l.changed = make(chan struct{})
}

// Changed returns a channel that is closed at the next change.
func (l *Ledger) Changed() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.changed
}

func key(parts ...string) []byte { return []byte(strings.Join(parts, "\x00")) }

func sliceKey(triggerID string, number int) []byte {
	return binary.BigEndian.AppendUint32(key(triggerID, ""), uint32(number)) //nolint:gosec // slices are far fewer
}
