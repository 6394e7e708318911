package notifier

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// checkEndpoints disables the endpoints that have failed for too long, and stores the
// notices of disabled endpoints.
func (n *Notifier) checkEndpoints(ctx context.Context) error {
	failing := map[storage.Ref]events.Health{}
	err := n.Ledger.EachHealth(func(endpoint storage.Ref, h events.Health) {
		if h.State == events.HealthFailing && h.ConsecutiveFailures >= storage.LeastFailures {
			failing[endpoint] = h
		}
	})
	for ref, h := range failing {
		err = errors.Join(err, n.disable(ctx, ref, h))
	}
	return errors.Join(err, n.notifyDisabled(ctx))
}

// errTolerated cancels the update of an endpoint that stays enabled.
var errTolerated = errors.New("the endpoint's retry policy tolerates the failures")

// disable disables an endpoint that has failed for longer than its policy allows.
func (n *Notifier) disable(ctx context.Context, ref storage.Ref, h events.Health) error {
	detail := ""
	err := storage.UpdateEndpoint(ctx, n.Store, ref.Org, ref.ID, func(e *storage.WebhookEndpoint) error {
		lasted, tooLong := failedTooLong(e, &h)
		if !tooLong {
			return errTolerated
		}
		e.Disable(storage.DisabledFailing, fmt.Sprintf("every attempt has failed for %s, %d in a row, the last one as %s",
			lasted.Round(time.Second), h.ConsecutiveFailures, h.LastFailure), n.Store.Now())
		detail = e.Disabled.Detail
		return nil
	})
	switch {
	case errors.Is(err, errTolerated), errors.Is(err, storage.ErrNotFound):
		return nil
	case errors.As(err, new(*storage.DecodeError)): // the worker sends nothing there
		return nil
	case err == nil:
		n.Log.Warn("endpoint failed for too long, disabled", "org", ref.Org, "endpoint", ref.ID, "detail", detail)
	}
	return err
}

// failedTooLong returns how long an endpoint has failed. tooLong reports whether its policy
// allows less. Failures before the endpoint's last update do not count, because the
// update may have fixed the cause.
func failedTooLong(e *storage.WebhookEndpoint, h *events.Health) (lasted time.Duration, tooLong bool) {
	since := h.FailingSince.Time
	if e.UpdatedAt.After(since) {
		since = e.UpdatedAt.Time
	}
	lasted = h.LastFailureAt.Sub(since)
	tolerates := time.Duration(e.RetryPolicy.DisableAfterSeconds * float64(time.Second))
	return lasted, e.Enabled && tolerates > 0 && lasted >= tolerates
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
