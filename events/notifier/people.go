package notifier

import (
	"context"
	"errors"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// notifyHealth stores the notice of an endpoint that fails for long or has recovered.
func (n *Notifier) notifyHealth(ctx context.Context, ref storage.Ref, h events.Health) error {
	e, err := storage.GetEndpoint(n.Store, ref.Org, ref.ID)
	switch {
	case storage.NoRecord(err): // the worker sends nothing to a damaged endpoint
		return nil
	case err != nil:
		return err
	}
	notice, ok := events.FailingNotice(&e, &h)
	if !ok {
		notice, ok = events.RecoveredNotice(&e, &h)
	}
	if _, known := n.repeats[notice.ID]; !ok || known || n.Now().Sub(notice.CreatedAt.Time) > stale {
		return nil
	}
	_, err = n.put(ctx, notice)
	if err == nil { // later checks find the notice again
		n.repeats[notice.ID] = notice.CreatedAt.Time
	}
	return err
}

// checkQuotas stores the notices of quotas that are near.
func (n *Notifier) checkQuotas(ctx context.Context) error {
	var notices []events.Notice
	err := n.Store.View(func(v storage.View) error {
		return storage.EachOrganization(v, func(org string) error {
			u, err := n.Ledger.Usage(org)
			notices = append(notices, events.QuotaNotices(org, n.Quota, u, v.Size(org), n.Now())...)
			return err
		})
	})
	for _, notice := range notices {
		_, failed := n.put(ctx, notice)
		err = errors.Join(err, failed)
	}
	return err
}
