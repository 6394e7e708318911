package ledger

import (
	"context"
	"encoding/binary"
	"fmt"
	"log/slog"
	"math"
	"sync"
	"time"

	"go.etcd.io/bbolt"
	"golang.org/x/sync/errgroup"

	"github.com/gridhook/gridhook/events"
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
	// Keep is the retention of triggers and their deliveries in the ledger. The log of
	// triggers may keep a trigger for longer.
	Keep time.Duration
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
	changed                      chan struct{} // closed and replaced at every change
	// accepting counts the price triggers that Log is about to accept, by organization.
	accepting map[string]int
}

// The buckets and their keys:
//
//   - triggers: organization\x00trigger -> tally
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
const form = " 8"

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
		file: file, opt: o, changed: make(chan struct{}), accepting: map[string]int{}, newestTrigger: math.MaxUint64, newestReceipt: math.MaxUint64,
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
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		return source.TailTriggers(ctx, triggers, func(batch []events.Sequenced[events.Trigger]) error {
			return l.foldTriggers(batch, oldest)
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
	close(l.changed)
	l.changed = make(chan struct{})
}

// Changed returns a channel that is closed at the next change.
func (l *Ledger) Changed() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.changed
}

// Log wraps a trigger log. Its Accept refuses triggers beyond the quota, and does not wait
// for the ledger. Queries of triggers wait until the ledger shows the accepted triggers.
func (l *Ledger) Log(log events.TriggerLog) events.TriggerLog { return quotaLog{log, l} }

type quotaLog struct {
	events.TriggerLog
	ledger *Ledger
}

// Accept stores a trigger within the quota. Price triggers of the organization that arrive at
// the same time count.
func (s quotaLog) Accept(ctx context.Context, t events.Trigger) (uint64, error) {
	others := 0
	if t.Change == nil {
		others = s.ledger.beginAccept(t.OrganizationID)
		defer s.ledger.endAccept(t.OrganizationID)
	}
	used, err := s.admit(ctx, t, others)
	if err != nil {
		return 0, err
	}
	waiting := used.Waiting
	if t.Change != nil {
		waiting += used.Notifying
	}
	t.Surplus = waiting >= events.SurplusFrom
	sequence, err := s.TriggerLog.Accept(ctx, t)
	if err != nil {
		return 0, err
	}
	s.ledger.mu.Lock()
	defer s.ledger.mu.Unlock()
	s.ledger.accepted = max(s.ledger.accepted, sequence)
	return sequence, nil
}

// Admit returns an error if the trigger is beyond the quota. The repeat of an accepted
// trigger stores nothing, so it is never beyond the quota. A change of an OpenADR object is
// not either: no later trigger makes up for its notification.
func (s quotaLog) Admit(ctx context.Context, t events.Trigger) error {
	_, err := s.admit(ctx, t, 0)
	return err
}

// admit is Admit beside a number of other triggers that are not stored yet. It returns what
// the organization uses with them.
func (s quotaLog) admit(ctx context.Context, t events.Trigger, others int) (used events.Usage, err error) {
	used, err = s.ledger.Usage(t.OrganizationID)
	if s.ledger.Behind() { // triggers whose receipts are not folded yet count as waiting
		used.Waiting, used.Notifying = 0, 0
	}
	used.Waiting += others
	if err != nil || t.Change != nil {
		return used, err
	}
	over := s.ledger.opt.Quota.Check(t.OrganizationID, used)
	if over == nil || t.IdempotencyKey == "" {
		return used, over
	}
	first, err := s.FirstRequest(ctx, t)
	if err != nil || first.ID != "" {
		return used, err
	}
	return used, over
}

// beginAccept counts a trigger that is about to be accepted, and returns the number of others.
func (l *Ledger) beginAccept(org string) (others int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.accepting[org]++
	return l.accepting[org] - 1
}

func (l *Ledger) endAccept(org string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.accepting[org]--; l.accepting[org] == 0 {
		delete(l.accepting, org)
	}
}

// awaitTimeout is how long a query waits for a ledger that lags.
const awaitTimeout = time.Second

// await waits until the ledger shows every trigger that Log has accepted, but not longer
// than a second. The ledger folds a trigger in less than a millisecond, but the transaction
// of another organization's receipts can delay it. Only queries wait for that. After a
// second, later queries do not wait for the same triggers.
func (l *Ledger) await() {
	l.mu.Lock()
	accepted := l.accepted
	l.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), awaitTimeout)
	defer cancel()
	if l.Shows(ctx, accepted) == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.accepted == accepted {
		l.accepted = 0
	}
}

// Shows waits until the ledger shows the triggers up to a sequence. It returns the error
// of ctx if ctx ends first.
func (l *Ledger) Shows(ctx context.Context, sequence uint64) error {
	return l.until(ctx, func() bool { return l.triggers >= sequence })
}

// AwaitTriggers waits until the ledger shows every trigger that was stored when Follow began.
// It returns the error of ctx if ctx ends first.
func (l *Ledger) AwaitTriggers(ctx context.Context) error {
	return l.until(ctx, func() bool { return l.triggers >= l.newestTrigger })
}

// AwaitReceipts waits until the ledger also shows every receipt that was stored when Follow
// began. A ledger that is rebuilt needs minutes for them. Until then it shows completed
// triggers as running. AwaitReceipts returns the error of ctx if ctx ends first.
func (l *Ledger) AwaitReceipts(ctx context.Context) error {
	return l.until(ctx, func() bool { return !l.behindLocked() })
}

// Behind reports whether AwaitReceipts would wait.
func (l *Ledger) Behind() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.behindLocked()
}

func (l *Ledger) behindLocked() bool {
	return l.triggers < l.newestTrigger || l.receipts < l.newestReceipt
}

// until waits until a condition holds. The condition is evaluated while mu is held.
func (l *Ledger) until(ctx context.Context, holds func() bool) error {
	for {
		l.mu.Lock()
		shown, changed := holds(), l.changed
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
