package ledger

import (
	"errors"

	"go.etcd.io/bbolt"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// Usage returns the usage of an organization's triggers.
func (l *Ledger) Usage(org string) (events.Usage, error) {
	l.await()
	return l.usage(org)
}

// usage is Usage without the triggers that the ledger does not show yet.
func (l *Ledger) usage(org string) (u events.Usage, err error) { return l.usageWith(org, nil) }

// usageWith is usage with other triggers. The ledger may show some of them already.
func (l *Ledger) usageWith(org string, others []string) (u events.Usage, err error) {
	err = l.file.View(func(tx *bbolt.Tx) error {
		u, _, err = usageTable.Get(tx, []byte(org))
		for _, id := range others {
			switch _, failed := find(tx, org, id); {
			case errors.Is(failed, storage.ErrNotFound):
				u.Waiting++
			case failed != nil:
				return failed
			}
		}
		return err
	})
	return u, err
}

// CheckHistory returns an error if the organization's triggers and receipts have reached
// their maximum size. Errors: *events.QuotaError.
func (l *Ledger) CheckHistory(org string) error {
	used, err := l.usage(org)
	if err != nil {
		return err
	}
	return events.Quota{Bytes: l.opt.Quota.Bytes}.Check(org, used)
}

// Multiples returns the sizes of the organizations' histories, in whole multiples of the quota.
// It leaves out those below events.WalksWait. From events.RetriesWait on, only the rest beside
// the waiting retries counts: a retry that waits once more makes no room.
func (l *Ledger) Multiples() (multiples map[string]int, err error) {
	quota := l.opt.Quota.Bytes
	if quota <= 0 {
		return nil, nil //nolint:nilnil // there is no quota
	}
	multiples = map[string]int{}
	err = l.file.View(func(tx *bbolt.Tx) error {
		return usageTable.Each(tx, nil, func(org []byte, u events.Usage) error {
			if u.Bytes >= events.WalksWait*quota {
				rest := max((u.Bytes-u.Retrying)/quota, events.RetriesWait-1)
				multiples[string(org)] = int(min(u.Bytes/quota, rest))
			}
			return nil
		})
	})
	return multiples, err
}

// Sizes in bytes that no message to the ledger shows. A trigger has a notice, and a task for
// each endpoint that wants it. Retries of earlier versions do not tell their sizes.
const (
	noticeBytes = 640
	taskBytes   = 900
	retryBytes  = 256 // for each delivery
)

// triggerBytes returns what a trigger of a size counts before its receipts. The log keeps it and
// its notice for longer than the ledger, which counts them several times instead.
func (l *Ledger) triggerBytes(size int, t *events.Trigger) int {
	keep := max(l.opt.Keep, 1)
	kept := max(1, int((l.opt.KeepTriggers+keep-1)/keep))
	return kept*(size+noticeBytes) + taskBytes*t.Notified
}

// retryBytes returns the size of the retries that wait: the average of all so far for each
// delivery.
func (t *tally) retryBytes() int64 {
	each := int64(retryBytes)
	if t.Retries > 0 {
		each = t.RetryBytes / t.Retries
	}
	return each * int64(t.Outcomes[events.OutcomeRetrying])
}

// usage returns the part of a trigger in its organization's usage.
func (t *tally) usage() events.Usage {
	retrying := t.retryBytes()
	u := events.Usage{Bytes: t.Bytes + retrying, Retrying: retrying}
	for _, deliveries := range t.Outcomes {
		u.Deliveries += deliveries
	}
	switch {
	case t.Trigger.ID == "" || t.completed():
	case t.Trigger.Change != nil:
		u.Notifying = 1
	default:
		u.Waiting = 1
	}
	return u
}

// changeUsage replaces the part of a trigger in its organization's usage.
func changeUsage(tx *bbolt.Tx, org string, before, after events.Usage) error {
	if before == after {
		return nil
	}
	u, _, err := usageTable.Get(tx, []byte(org))
	if err != nil {
		return err
	}
	u.Waiting += after.Waiting - before.Waiting
	u.Notifying += after.Notifying - before.Notifying
	u.Bytes += after.Bytes - before.Bytes
	u.Retrying += after.Retrying - before.Retrying
	u.Deliveries += after.Deliveries - before.Deliveries
	if u == (events.Usage{}) {
		return usageTable.Delete(tx, []byte(org))
	}
	return usageTable.Put(tx, []byte(org), u)
}
