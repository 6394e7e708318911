package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/cmd/internal/openadr"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// publisher is the OpenADR side of a partner. It is business logic that writes events. A
// client without that role has subscriptions to them. Each subscription has its own
// callback and bearer token.
//
// The ledgers treat a written event as a trigger, under the name of its notification, and
// each subscription as a home. The time of the event's modification is the sequence.
type publisher struct {
	*openadr.Client
	program string
	// subscriptions are the identifiers of the subscriptions. Subscription i is home i in
	// the ledgers.
	subscriptions []string
	// written is the event that the next write updates. It is empty if the next write
	// creates an event.
	written string
	writes  int
	// probe names the notification of the last write.
	probe string
}

// subscribing is the name of the receiver of a partner's callbacks.
const subscribing = "callbacks"

// callbackGiveUp is how long a callback is retried.
const callbackGiveUp = 24 * time.Hour

// publish gives a partner a program and subscriptions to its events.
func (w *world) publish(ctx context.Context, api *node, p *partner, subscriptions int) error {
	client := func(scope storage.Scope) (*openadr.Client, error) {
		return openadr.NewClient(ctx, w.operator(api, ""), "http://"+api.api, p.org, scope, w.http)
	}
	business, err1 := client(storage.ScopeBusiness)
	ven, err2 := client(storage.ScopeVEN)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	var made struct{ ID string }
	if err := business.Do(ctx, http.MethodPost, "programs", `{"programName":"chaos"}`, &made); err != nil {
		return err
	}
	p.publisher = &publisher{Client: business, program: made.ID}
	e, url := w.add(p.org, subscribing, callbackGiveUp)
	for i := range subscriptions {
		callback := url + "/" + p.homeID(i)
		w.endpoints[strings.TrimPrefix(callback, w.server.URL)] = e
		err := ven.Do(ctx, http.MethodPost, "subscriptions", fmt.Sprintf(
			`{"clientName":%q,"programID":%q,"objectOperations":[{"objects":["EVENT"],"operations":["CREATE","UPDATE"],"callbackUrl":%q,"bearerToken":%q}]}`,
			p.homeID(i), p.program, callback, tokenOf(p.homeID(i))), &made)
		if err != nil {
			return err
		}
		p.subscriptions = append(p.subscriptions, made.ID)
	}
	p.homes, p.endpoints = homeSet{UpTo: subscriptions}, []*endpoint{e}
	return nil
}

// tokenOf returns the bearer token of a subscription.
func tokenOf(home string) string { return "token-of-" + home }

// write creates or updates an event and writes the response into a.
func (p *publisher) write(ctx context.Context, a *request) error {
	method, path, operation := http.MethodPost, "events", events.OperationCreate
	if p.written != "" {
		method, path, operation = http.MethodPut, "events/"+p.written, events.OperationUpdate
		a.Trigger = nameOf(operation, p.written)
	}
	p.writes++
	var made struct {
		ID                   string
		ModificationDateTime time.Time
	}
	err := p.Do(ctx, method, path, fmt.Sprintf(`{"programID":%q,"eventName":%q,"priority":%d}`, p.program, a.Org, p.writes), &made)
	a.At, p.written = time.Now(), ""
	if err != nil {
		return err
	}
	a.Trigger, a.Created, a.Said = nameOf(operation, made.ID), made.ModificationDateTime, a.Homes.count()
	const updateEvery = 3
	if method == http.MethodPost && p.writes%updateEvery == 0 {
		p.written = made.ID
	}
	return nil
}

// nameOf names a notification in the ledgers.
func nameOf(operation, objectID string) string { return operation + " " + objectID }

// readCallback returns the arrival that a callback's request describes.
func readCallback(e *endpoint, r *http.Request, body []byte) arrival {
	a := arrived(e, r, body)
	_, a.Home, _ = strings.Cut(r.URL.Path, subscribing+"/")
	a.Verified = r.Header.Get("Authorization") == "Bearer "+tokenOf(a.Home)
	var notification struct {
		Operation string
		Object    struct {
			ID, EventName        string
			ModificationDateTime time.Time
		}
	}
	if err := json.Unmarshal(body, &notification); err == nil {
		o := &notification.Object
		a.Trigger, a.Org, a.Sequence = nameOf(notification.Operation, o.ID), o.EventName, uint64(o.ModificationDateTime.UnixMilli()) //nolint:gosec // after 1970
	}
	return a
}

var (
	errNoNotification = errors.New("there is no notification of it")
	errBehind         = errors.New("the api does not show the notification of the probe yet")
)

// notification returns the progress of the trigger that notifies of a write. The probe's
// notification came after all others. So a write has no notification if the api shows only
// the probe's. Errors: errNoNotification, errBehind, and errors of the request.
func (p *publisher) notification(ctx context.Context, c *client.Client, name string) (events.Progress, error) {
	const most = 1000
	list, err := c.Triggers(ctx, most)
	if err != nil {
		return events.Progress{}, err
	}
	err = errBehind
	for _, t := range list {
		if t.Notification == nil {
			continue
		}
		switch nameOf(t.Notification.Operation, t.Notification.ObjectID) {
		case name:
			return t, nil
		case p.probe:
			err = errNoNotification
		}
	}
	return events.Progress{}, err
}

// renamed returns the deliveries of a notification with the homes of the ledgers.
func (p *partner) renamed(deliveries []events.Delivery) []events.Delivery {
	for i := range deliveries {
		if n := slices.Index(p.subscriptions, deliveries[i].HomeID); n >= 0 {
			deliveries[i].HomeID = p.homeID(n)
		}
	}
	return deliveries
}

// overwritten reports whether an event may have been updated before any process saw that
// it was created. Subscribers are then notified of the update alone.
func (e *evidence) overwritten(a request) bool {
	id, created := strings.CutPrefix(a.Trigger, nameOf(events.OperationCreate, ""))
	return created && slices.ContainsFunc(e.triggers, func(b request) bool { return b.Trigger == nameOf(events.OperationUpdate, id) })
}
