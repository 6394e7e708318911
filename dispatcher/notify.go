package dispatcher

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/gridhook/gridhook/dispatcher/target"
	"github.com/gridhook/gridhook/dispatcher/webhook"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// A trigger with a change walks the subscriptions of OpenADR clients instead of homes. A
// slice has 64 subscriptions, and each callback that wants the change is an endpoint. No
// newer trigger supersedes a notification, because it describes an event, not a state.

// walked returns the kind of the records that a trigger walks.
func walked(t *events.Trigger) storage.Kind {
	if t.Change != nil {
		return storage.KindOpenADRSubscription
	}
	return storage.KindHome
}

// announce publishes a trigger's change by MQTT. The change may depend on a grant that the
// replica does not have yet.
func (w *Worker) announce(ctx context.Context, t *events.Trigger) error {
	if t.Change == nil || w.Announce == nil {
		return nil
	}
	if err := w.awaitState(ctx, t.Revision); err != nil {
		return err
	}
	return w.Announce(ctx, t.OrganizationID, t.Change)
}

// notify makes the jobs of a slice of subscriptions. Errors: *storeError.
func (w *Worker) notify(s *events.Slice, read *sliceOfHomes, place order) (jobs []job, outcomes []events.Delivery, err error) {
	t, failed := &s.Trigger, homeFailures{}
	var broken []target.Broken
	err = w.view(func(v storage.View) error {
		if suspended, err := storage.IsSuspended(v, t.OrganizationID); suspended || err != nil {
			read.bounds.Homes = len(read.homes)
			return err
		}
		clients := subscribers{view: v, org: t.OrganizationID, now: w.Now(), known: map[string]*events.Subscriber{}}
		for _, r := range read.homes {
			read.bounds.Homes++
			o, err := storage.Decode[storage.OpenADRObject](r)
			if err != nil {
				if !errors.Is(err, storage.ErrNotFound) {
					failed.add(r.ID, err)
				}
				continue
			}
			client, err := clients.of(o.ClientID)
			if err != nil {
				return err
			}
			if client == nil || o.Removed {
				continue
			}
			callbacks, shown, err := t.Change.Wants(&o, client)
			if err != nil {
				return err
			}
			for _, n := range callbacks {
				e, err := w.targets.Callback(r, &o, n)
				switch {
				case err != nil:
					b := target.Broken{ID: o.CallbackID(n), Err: err}
					broken = append(broken, b)
					outcomes = append(outcomes, withoutRequest(t, o.ID, recipients{broken: []target.Broken{b}}, storage.Time{Time: w.Store.Now()})...)
				case e.Enabled:
					jobs = append(jobs, job{Message: webhook.NewNotification(t, o.ID, e.ID, shown), target: e, attempt: 1, order: place})
				}
			}
		}
		return nil
	})
	w.reportFailures(s, failed, broken)
	return jobs, outcomes, err
}

// subscribers reads each client of a slice's subscriptions once.
type subscribers struct {
	view  storage.View
	org   string
	now   time.Time
	known map[string]*events.Subscriber
}

// of returns a client. It returns nil for a client with a revoked or expired key, which
// receives no notifications.
func (s *subscribers) of(clientID string) (*events.Subscriber, error) {
	if known, ok := s.known[clientID]; ok {
		return known, nil
	}
	key, _, err := storage.Read[storage.Key](s.view, storage.Ref{Kind: storage.KindKey, Org: s.org, ID: clientID})
	var client *events.Subscriber
	switch {
	case errors.Is(err, storage.ErrNotFound):
	case err != nil:
		return nil, err
	case key.Live(s.now) && (key.Allows(storage.ScopeBusiness) || key.Allows(storage.ScopeVEN)):
		client = &events.Subscriber{Business: key.Allows(storage.ScopeBusiness), Granted: sync.OnceValues(func() (map[string]bool, error) {
			return storage.Granted(s.view, s.org, clientID)
		})}
	}
	s.known[clientID] = client
	return client, nil
}

// retryNotifications recreates the notifications of a retry.
func retryNotifications(r *events.Retry, to *target.Target) []job {
	t := &r.Trigger
	jobs := make([]job, len(r.Homes))
	for i, h := range r.Homes {
		jobs[i] = job{
			Message: webhook.NewNotification(t, h.HomeID, to.ID, h.Targets), target: to, attempt: r.Attempt, round: r.Round,
			order: order{t, r.Slice, true},
		}
	}
	return jobs
}
