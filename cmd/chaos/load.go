package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/pricing/catalog"
	"github.com/gridhook/gridhook/storage"
)

// load is the constant activity of one partner: it sends triggers and creates and deletes
// homes, or writes OpenADR events. It works sequentially, so that it always knows its homes. It always calls the
// same api, because another api may be behind.
type load struct {
	w       *world
	partner *partner
	api     *node
	random  *rand.Rand
	// pace is the mean pause between two requests.
	pace time.Duration
	// insistFor is how long a definite response may take after everything is healed.
	insistFor time.Duration
	// repeats are requests whose idempotency key may be used again.
	repeats []request
	serial  int
}

// run runs until ctx ends. It then repeats requests without a response until they have one.
func (l *load) run(ctx context.Context) error {
	for ctx.Err() == nil {
		var err error
		switch dice := l.random.IntN(100); {
		case l.partner.publisher != nil:
			l.once(ctx)
		case dice < 10:
			err = l.create(ctx)
		case dice < 15:
			err = l.remove(ctx)
		case dice < 25 && len(l.repeats) > 0:
			err = l.repeat(ctx, l.repeats[l.random.IntN(len(l.repeats))])
		default:
			err = l.trigger(ctx)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", l.partner.org, err)
		}
		pause(ctx, time.Duration(l.random.Int64N(2*int64(l.pace)+1)))
	}
	return nil
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// insist repeats a request until the response is definite: success (nil) or an error that
// definite accepts. It stops insistFor after ctx has ended.
func (l *load) insist(ctx context.Context, ask func(context.Context) error, definite func(error) bool) error {
	last, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(l.insistFor, cancel) })
	defer stop()
	for {
		err := ask(last)
		if err == nil || definite(err) {
			return err
		}
		l.note(err)
		if last.Err() != nil {
			return fmt.Errorf("no definite response even after all faults ended: %w", err)
		}
		pause(last, 200*time.Millisecond)
	}
}

// note classifies and counts the error of a request. It reports errors that no server may
// return.
func (l *load) note(err error) result {
	a := classify(err)
	switch a {
	case "":
		l.w.violated.addf("I0", "%s got %v", l.partner.org, err)
	case resultUnavailable:
		l.w.unavailable.Add(1)
	}
	return a
}

// classify classifies the error of a request. It returns "" for an error that no healthy
// server may return.
func classify(err error) result {
	var refused *client.Error
	var network *net.OpError
	switch {
	case err == nil:
		return resultOK
	case errors.As(err, &refused):
		if refused.Status == http.StatusServiceUnavailable && refused.RetryAfterSeconds > 0 {
			return resultUnavailable
		}
		return ""
	case errors.As(err, &network) && network.Op == "dial":
		return resultNotSent
	}
	return resultLost
}

func hasCode(code string) func(error) bool {
	return func(err error) bool {
		var refused *client.Error
		return errors.As(err, &refused) && refused.Code == code
	}
}

func (l *load) create(ctx context.Context) error {
	homes := l.partner.set()
	i, plan, exists := homes.UpTo, catalog.Plans()[0], hasCode(client.CodeConflict)
	err := l.insist(ctx, func(ctx context.Context) error {
		_, err := l.w.operator(l.api, "").CreateHome(ctx, client.NewHome{
			OrganizationID: l.partner.org, ID: l.partner.homeID(i), Timezone: plan.Timezone, RatePlanID: plan.ID,
		})
		return err
	}, exists)
	if err != nil && !exists(err) {
		return fmt.Errorf("create a home: %w", err)
	}
	l.partner.change(homes.with(i))
	return nil
}

func (l *load) remove(ctx context.Context) error {
	homes := l.partner.set()
	i, absent := l.random.IntN(homes.UpTo), hasCode(client.CodeNotFound)
	if !homes.has(i) {
		return nil
	}
	err := l.insist(ctx, func(ctx context.Context) error {
		return l.w.operator(l.api, "").DeleteHome(ctx, l.partner.org, l.partner.homeID(i))
	}, absent)
	if err != nil && !absent(err) {
		return fmt.Errorf("delete a home: %w", err)
	}
	l.partner.change(homes.without(i))
	return nil
}

// trigger sends a trigger, either once or with an idempotency key until it gets a
// response.
func (l *load) trigger(ctx context.Context) error {
	if l.random.IntN(3) > 0 {
		return l.surely(ctx)
	}
	l.once(ctx)
	return nil
}

// once sends a request one time.
func (l *load) once(ctx context.Context) {
	a := l.request()
	err := l.ask(ctx, &a)
	if a.Result = l.note(err); a.Result == "" {
		a.Result = resultLost
	}
	l.w.triggers.add(a)
}

// surely sends a trigger with an idempotency key until it gets a response.
func (l *load) surely(ctx context.Context) error {
	l.serial++
	a := l.request()
	a.Key = l.partner.org + "-" + strconv.Itoa(l.serial)
	if err := l.insist(ctx, func(ctx context.Context) error { return l.ask(ctx, &a) }, never); err != nil {
		return fmt.Errorf("trigger: %w", err)
	}
	a.Result = resultOK
	l.w.triggers.add(a)
	l.repeats = append(l.repeats, a)
	return nil
}

func (l *load) request() request {
	return request{Org: l.partner.org, Homes: l.partner.set(), Start: time.Now().UTC().Truncate(15 * time.Minute)}
}

// window is the length of the triggers' windows.
const window = 6 * time.Hour

func never(error) bool { return false }

// ask sends the request and writes the response into a.
func (l *load) ask(ctx context.Context, a *request) error {
	if p := l.partner.publisher; p != nil {
		return p.write(ctx, a)
	}
	c := client.Client{BaseURL: "http://" + l.api.api, Key: l.partner.key, HTTP: l.w.http}
	start, end := storage.Time{Time: a.Start}, storage.Time{Time: a.Start.Add(window)}
	t, err := c.Trigger(ctx, client.TriggerRequest{StartTime: &start, EndTime: &end, IdempotencyKey: a.Key})
	a.At = time.Now()
	if err == nil {
		a.Trigger, a.Created, a.Said = t.TriggerID, t.CreatedAt.Time, t.Homes
	}
	return err
}

// repeat repeats a request with a response: the response must be the same.
func (l *load) repeat(ctx context.Context, first request) error {
	again := first
	err := l.ask(ctx, &again)
	switch {
	case err == nil && (again.Trigger != first.Trigger || again.Said != first.Said):
		l.w.violated.addf("I9", "the key %s gave the trigger %s and then %s", first.Key, first.Trigger, again.Trigger)
	case classify(err) == "":
		l.w.violated.addf("I0", "the repeat of %s got %v", first.Key, err)
	}
	return nil
}
