package dispatcher

import (
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/gridhook/gridhook/dispatcher/target"
	"github.com/gridhook/gridhook/dispatcher/walks"
	"github.com/gridhook/gridhook/dispatcher/webhook"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/signals"
)

// job is one message for one endpoint.
type job struct {
	webhook.Message
	target *target.Target
	// attempt is the number of the next attempt, from 1. round counts the earlier
	// postponements.
	attempt, round int
	place          walks.Place
}

// price makes the jobs of a slice: one for each home and endpoint that selects it. A home without a
// signal, or without an endpoint, gets its outcome at once. Any failure of a home, even a
// panic, is an outcome of that home. Errors: *storeError.
func (w *Worker) price(s *events.Slice, read *sliceOfHomes, to recipients, place walks.Place) (jobs []job, outcomes []events.Delivery, err error) {
	if s.Trigger.Change != nil {
		return w.notify(s, read, place)
	}
	t, failed := &s.Trigger, homeFailures{}
	now := storage.Time{Time: w.Store.Now()}
	jobs = make([]job, 0, len(read.homes)*len(to.targets))
	err = w.view(func(v storage.View) error {
		prices := w.Pricer.Reader(v, t.OrganizationID)
		for _, r := range read.homes {
			signal, why, err := priceHome(prices, r, t, to.selects)
			switch home, broken := errors.AsType[*signals.HomeError](err); {
			case errors.Is(err, errNotTargeted):
				continue
			case errors.Is(err, errNotWanted):
				read.bounds.Homes++
				continue
			case broken:
				failed.add(r.ID, err)
				why = home.Reason
			case err != nil:
				return fmt.Errorf("price the home %s: %w", r.Ref, err)
			}
			read.bounds.Homes++
			if why != "" {
				outcomes = append(outcomes, events.Delivery{HomeID: r.ID, Outcome: events.OutcomeUnpriceable, At: now, Reason: why})
				continue
			}
			outcomes = append(outcomes, withoutRequest(r.ID, to, now)...)
			for _, e := range to.targets {
				if e.Selects(r.ID, signal.RatePlanID) {
					jobs = append(jobs, job{Message: webhook.NewMessage(t, e.ID, signal, e.Format), target: e, attempt: 1, place: place})
				}
			}
		}
		return nil
	})
	w.reportFailures(s, failed, to.broken)
	return jobs, outcomes, err
}

// withoutRequest returns a home's outcomes at the broken endpoints. Without any endpoint
// it returns the single outcome NO_ENDPOINT.
func withoutRequest(homeID string, to recipients, now storage.Time) (list []events.Delivery) {
	if len(to.targets)+len(to.broken) == 0 {
		return []events.Delivery{{
			HomeID: homeID, Outcome: events.OutcomeNoEndpoint, At: now,
			Reason: "the organization has no enabled endpoint for " + storage.EventPriceSignalUpdated,
		}}
	}
	for _, b := range to.broken {
		list = append(list, events.Delivery{
			HomeID: homeID, EndpointID: b.ID, Outcome: events.OutcomeFailed, At: now,
			Reason: fmt.Sprintf("the stored endpoint %q cannot be used: update it, or delete it and create it again", b.ID),
		})
	}
	return list
}

// selects reports whether a home on a rate plan has an outcome: an endpoint receives its
// signals, cannot be used, or there is no endpoint at all.
func (to *recipients) selects(homeID, ratePlanID string) bool {
	return len(to.targets) == 0 || len(to.broken) > 0 ||
		slices.ContainsFunc(to.targets, func(e *target.Target) bool { return e.Selects(homeID, ratePlanID) })
}

// errNotTargeted says that a trigger does not select a home. errNotWanted says that no
// endpoint selects the home. Such a home counts as walked and has no outcome.
var (
	errNotTargeted = errors.New("not targeted")
	errNotWanted   = errors.New("not wanted")
)

// priceHome returns a home's signal, or the reason why it has none. Errors:
// errNotTargeted, errNotWanted, *signals.HomeError, and errors of the store.
func priceHome(prices *signals.Reader, r storage.Record, t *events.Trigger, selects func(homeID, ratePlanID string) bool) (signal signals.Signal, why string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &signals.HomeError{
				Reason: "an internal error: the home could not be priced", Err: fmt.Errorf("panic: %v\n%s", p, debug.Stack()),
			}
		}
	}()
	if r.Deleted {
		if len(t.RatePlanIDs) > 0 {
			return signal, "", errNotTargeted // a deleted home has no plan
		}
		return signal, "the home was deleted after the trigger", nil
	}
	home, err := prices.Home(r)
	switch {
	case err != nil:
		return signal, "", err
	case !t.Selects(home.RatePlanID):
		return signal, "", errNotTargeted
	case !selects(home.ID, home.RatePlanID):
		return signal, "", errNotWanted
	case !home.Enabled:
		return signal, "the home is not enabled", nil
	}
	signal, err = prices.Signal(home, t.Window())
	if u, ok := errors.AsType[*signals.Unpriceable](err); ok {
		return signal, u.Reason, nil
	}
	return signal, "", err
}

// homeFailures counts the homes of a slice whose records or prices are broken.
type homeFailures struct {
	homes int
	first string
	err   error
}

func (f *homeFailures) add(homeID string, err error) {
	if f.homes++; f.homes == 1 {
		f.first, f.err = homeID, err
	}
}

// reportFailures logs and counts the broken homes and endpoints of a slice. It logs one
// line for all homes, and one line for each endpoint.
func (w *Worker) reportFailures(s *events.Slice, failed homeFailures, broken []target.Broken) {
	t := &s.Trigger
	if failed.homes > 0 {
		w.metrics.homesFailed.Add(float64(failed.homes))
		w.Log.Error("home cannot be priced", "trigger", t.ID, "org", t.OrganizationID, "slice", s.Number,
			"home", failed.first, "homes", failed.homes, "error", failed.err)
	}
	for _, b := range broken {
		w.Log.Error("endpoint record invalid", "trigger", t.ID, "org", t.OrganizationID, "slice", s.Number, "endpoint", b.ID, "error", b.Err)
	}
}

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

// notify makes the jobs of a slice of subscriptions. Errors: *storeError.
func (w *Worker) notify(s *events.Slice, read *sliceOfHomes, place walks.Place) (jobs []job, outcomes []events.Delivery, err error) {
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
			o, callbacks, shown, err := clients.wants(t.Change, r)
			switch {
			case err == nil, errors.Is(err, storage.ErrNotFound):
			case storage.NoRecord(err):
				failed.add(r.ID, err)
			default:
				return err
			}
			for _, n := range callbacks {
				e, err := w.targets.Callback(o.Endpoint(n))
				switch {
				case err != nil:
					b := target.Broken{ID: o.CallbackID(n), Err: err}
					broken = append(broken, b)
					outcomes = append(outcomes, withoutRequest(o.ID, recipients{broken: []target.Broken{b}}, storage.Time{Time: w.Store.Now()})...)
				case e.Enabled:
					jobs = append(jobs, job{Message: webhook.NewNotification(t, o.ID, e.ID, shown), target: e, attempt: 1, place: place})
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

// wants returns a stored subscription, its callbacks to notify of a change, and the targets
// to show them. Errors: storage.ErrNotFound after its deletion, *storage.DecodeError of the
// subscription or of its client, errors of the store.
func (s *subscribers) wants(c *events.Change, r storage.Record) (o storage.OpenADRObject, callbacks []int, shown []string, err error) {
	if o, err = storage.Decode[storage.OpenADRObject](r); err != nil || o.Removed {
		return o, nil, nil, err
	}
	client, err := s.of(o.ClientID)
	if err == nil && client != nil {
		callbacks, shown, err = c.Wants(&o, client)
	}
	return o, callbacks, shown, err
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
