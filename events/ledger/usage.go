package ledger

import (
	"go.etcd.io/bbolt"

	"github.com/gridhook/gridhook/events"
)

// Usage returns the usage of an organization's triggers.
func (l *Ledger) Usage(org string) (u events.Usage, err error) {
	l.await()
	err = l.file.View(func(tx *bbolt.Tx) error {
		u, _, err = usageTable.Get(tx, []byte(org))
		return err
	})
	return u, err
}

// CheckHistory returns an error if the organization's triggers and receipts have reached
// their maximum size. Errors: *events.QuotaError.
func (l *Ledger) CheckHistory(org string) error {
	used, err := l.Usage(org)
	if err != nil {
		return err
	}
	return events.Quota{Bytes: l.opt.Quota.Bytes}.Check(org, used)
}

// Multiples returns the sizes of the organizations' triggers, receipts and waiting retries, in
// whole multiples of the quota. It leaves out those below events.WalksWait.
func (l *Ledger) Multiples() (multiples map[string]int, err error) {
	quota := l.opt.Quota.Bytes
	if quota <= 0 {
		return nil, nil //nolint:nilnil // there is no quota
	}
	multiples = map[string]int{}
	err = l.file.View(func(tx *bbolt.Tx) error {
		return usageTable.Each(tx, nil, func(org []byte, u events.Usage) error {
			if u.Bytes >= events.WalksWait*quota {
				multiples[string(org)] = int(u.Bytes / quota)
			}
			return nil
		})
	})
	return multiples, err
}

// Sizes in bytes that no message to the ledger shows. A trigger has a notice, which each
// endpoint may wait for, and the log keeps both for longer than the ledger.
const (
	noticeBytes = 640
	taskBytes   = 900
)

// triggerBytes returns what a trigger of a size counts before its receipts.
func (l *Ledger) triggerBytes(size int, t *events.Trigger) int {
	keep := max(l.opt.Keep, 1)
	kept := max(1, int((l.opt.KeepTriggers+keep-1)/keep))
	return kept*(size+noticeBytes) + taskBytes*t.Endpoints
}

// retryBytes returns the size of the retries that wait: the average of all so far for each
// delivery.
func (t *tally) retryBytes() int64 {
	if t.Retries == 0 {
		return 0
	}
	return t.RetryBytes / t.Retries * int64(t.Outcomes[events.OutcomeRetrying])
}

// usage returns the part of a trigger in its organization's usage.
func (t *tally) usage() events.Usage {
	u := events.Usage{Bytes: t.Bytes + t.retryBytes()}
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
	u.Deliveries += after.Deliveries - before.Deliveries
	if u == (events.Usage{}) {
		return usageTable.Delete(tx, []byte(org))
	}
	return usageTable.Put(tx, []byte(org), u)
}
