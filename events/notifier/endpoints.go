package notifier

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// checkEndpoints disables the endpoints that have failed for too long. It stores the
// notices of endpoints that fail, recovered or are disabled.
func (n *Notifier) checkEndpoints(ctx context.Context) error {
	maps.DeleteFunc(n.repeats, func(_ string, at time.Time) bool { return n.Now().Sub(at) > stale })
	failing, recovered := map[storage.Ref]events.Health{}, map[storage.Ref]events.Health{}
	err := n.Ledger.EachHealth(func(endpoint storage.Ref, h events.Health) {
		switch {
		case h.State == events.HealthFailing && h.ConsecutiveFailures >= storage.LeastFailures:
			failing[endpoint] = h
		case h.State == events.HealthGood && h.LastOutage != nil && n.Now().Sub(h.LastOutage.Until.Time) <= stale:
			recovered[endpoint] = h
		}
	})
	for ref, h := range failing {
		err = errors.Join(err, n.disable(ctx, ref, h), n.notifyHealth(ctx, ref, h))
	}
	for ref, h := range recovered {
		err = errors.Join(err, n.notifyHealth(ctx, ref, h))
	}
	return errors.Join(err, n.notifyDisabled(ctx))
}

// errTolerated cancels the update of an endpoint that stays enabled.
var errTolerated = errors.New("the endpoint's retry policy tolerates the failures")

// disable disables an endpoint that has failed for longer than its policy allows.
func (n *Notifier) disable(ctx context.Context, ref storage.Ref, h events.Health) error {
	detail := ""
	err := storage.UpdateEndpoint(ctx, n.Store, ref.Org, ref.ID, func(e *storage.WebhookEndpoint) error {
		lasted, tooLong := h.FailedTooLong(e)
		if !tooLong {
			return errTolerated
		}
		e.Disable(storage.DisabledFailing, fmt.Sprintf("every attempt has failed for %s, %d in a row, the last one as %s",
			lasted.Round(time.Second), h.ConsecutiveFailures, h.LastFailure), n.Store.Now())
		detail = e.Disabled.Detail
		return nil
	})
	switch {
	case errors.Is(err, errTolerated), storage.NoRecord(err): // the worker sends nothing to a damaged endpoint
		return nil
	case err == nil:
		n.Log.Warn("endpoint failed for too long, disabled", "org", ref.Org, "endpoint", ref.ID, "detail", detail)
	}
	return err
}

// notifyDisabled stores the notices of endpoints that the service has disabled since the
// last call.
func (n *Notifier) notifyDisabled(ctx context.Context) error {
	since, revision := n.revision, n.Store.Revision()
	switch {
	case revision == since:
		return nil
	case revision < since: // another store has replaced it
		since = 0
	}
	notices, reasons, err := n.disabledSince(since)
	if err != nil {
		return err
	}
	for _, notice := range notices {
		fresh, err := n.put(ctx, notice)
		if err != nil {
			return err
		}
		if fresh {
			n.disabled.WithLabelValues(string(reasons[notice.ID])).Inc()
		}
	}
	n.revision = revision
	return nil
}

// disabledSince returns the notices, and the reasons by notice, of the endpoints that the
// service has disabled after a revision.
func (n *Notifier) disabledSince(since uint64) (notices []events.Notice, reasons map[string]storage.DisabledReason, err error) {
	reasons = map[string]storage.DisabledReason{}
	add := func(r storage.Record) error {
		e, err := storage.DecodeEndpoint(r)
		switch _, damaged := errors.AsType[*storage.DecodeError](err); {
		case errors.Is(err, storage.ErrNotFound):
			return nil
		case damaged: // it must not stop the notices of the others
			n.Log.Error("endpoint record invalid, its state is not known", "error", err)
			return nil
		}
		notice, ok, made := events.DisabledNotice(&e)
		if ok && n.Now().Sub(notice.CreatedAt.Time) <= stale {
			notices, reasons[notice.ID] = append(notices, notice), e.Disabled.Reason
		}
		return errors.Join(err, made)
	}
	err = n.Store.View(func(v storage.View) error {
		for _, kind := range []storage.Kind{storage.KindWebhookEndpoint, storage.KindOpenADRSubscription} {
			for r, err := range storage.LiveEverywhere(v, kind) {
				if err == nil && r.Revision > since {
					err = add(r)
				}
				if err != nil {
					return err
				}
			}
		}
		return nil
	})
	return notices, reasons, err
}
