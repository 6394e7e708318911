package ledger

import (
	"context"
	"errors"
	"time"

	"go.etcd.io/bbolt"

	"github.com/gridhook/gridhook/storage"
)

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

// viewFound reads a trigger after await. If there is no such trigger, another process may have
// accepted it just now: viewFound then waits for what the source has, and reads again.
func (l *Ledger) viewFound(read func(*bbolt.Tx) error) error {
	l.await()
	err := l.file.View(read)
	l.mu.Lock()
	source := l.source
	l.mu.Unlock()
	if !errors.Is(err, storage.ErrNotFound) || source == nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), awaitTimeout)
	defer cancel()
	streams, failed := source.Streams(ctx)
	if failed != nil || l.Shows(ctx, streams.LastTrigger) != nil {
		return err
	}
	return l.file.View(read)
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

// Lag returns how many triggers and receipts the ledger has not folded, of those up to the
// given sequences.
func (l *Ledger) Lag(trigger, receipt uint64) uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return max(trigger, l.triggers) - l.triggers + max(receipt, l.receipts) - l.receipts
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
