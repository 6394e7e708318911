package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/events"
)

// readyWithin is the time limit for all nodes to be ready after the last fault. After it,
// probeWithin is the time limit of a delivery (I8). A probe may begin earlier, while NATS
// still elects leaders. It then has until the end of both.
const (
	readyWithin = 30 * time.Second
	probeWithin = 5 * time.Second
)

// heal waits until every node is ready.
func (w *world) heal() error {
	w.settled = time.Now().Add(readyWithin)
	for _, n := range w.nodes {
		if err := w.waitReady(n, w.settled); err != nil {
			w.violated.addf("I8", "%s is not ready %s after the last fault: %v", n.name, readyWithin, err)
			return err
		}
	}
	return nil
}

func (w *world) waitReady(n *node, deadline time.Time) error {
	for {
		err := w.ready(n)
		if err == nil || time.Now().After(deadline) {
			return err
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func (w *world) ready(n *node) error {
	if err := n.died(); err != nil {
		return err
	}
	response, err := w.http.Get("http://" + n.admin + "/readyz") //nolint:noctx // the client has a timeout
	if err != nil {
		return err
	}
	defer response.Body.Close() //nolint:errcheck // it is not read
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s responds %s", n.name, response.Status)
	}
	return nil
}

// probe sends a request of a partner and waits for its first delivery.
func (w *world) probe(p *partner) {
	arrived := make(chan string, 1<<16)
	p.endpoints[0].onArrival(func(a arrival) {
		select {
		case arrived <- a.Trigger:
		default:
		}
	})
	defer p.endpoints[0].onArrival(nil)
	began := time.Now()
	l := &load{w: w, partner: p, api: w.those((*node).servesAPI)[0]}
	var a request
	for {
		a = request{Org: p.org, Homes: p.set(), Start: began.UTC().Truncate(15 * time.Minute)}
		err := l.ask(context.Background(), &a)
		if err == nil {
			break
		}
		if time.Now().After(w.settled) {
			w.violated.addf("I8", "the probe got %v", err)
			return
		}
		a.Result = l.note(err) // it may be stored all the same
		w.triggers.add(a)
		time.Sleep(100 * time.Millisecond)
	}
	a.Result = resultOK
	w.triggers.add(a)
	if p.publisher != nil {
		p.publisher.probe = a.Trigger
	}
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		select {
		case trigger := <-arrived:
			if trigger != a.Trigger {
				continue
			}
			if took := time.Since(began); took > probeWithin && time.Now().After(w.settled.Add(probeWithin)) {
				w.violated.addf("I8", "the probe took %s to be delivered", took)
			}
			return
		case <-late.C:
			w.violated.addf("I8", "the probe was not delivered within %s", patience)
			return
		}
	}
}

// final is the api's report of one trigger at the end.
type final struct {
	progress   events.Progress
	deliveries []events.Delivery
	err        error
}

// drainWithin is how long the accepted triggers may take at the end.
const drainWithin = 3 * time.Minute

// drain waits until every trigger that got 200 is completed. It returns their
// final states.
func (w *world) drain(within time.Duration) map[string]final {
	deadline := time.Now().Add(within)
	finals := map[string]final{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	places := make(chan struct{}, 4)
	for _, a := range w.triggers.all() {
		if a.Result != resultOK {
			continue
		}
		wg.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			f := w.awaitFinal(a, deadline)
			mu.Lock()
			defer mu.Unlock()
			finals[a.Trigger] = f
		})
	}
	wg.Wait()
	return finals
}

func (w *world) awaitFinal(a request, deadline time.Time) (f final) {
	api := w.those((*node).servesAPI)[0]
	if f = w.awaitProgress(api, a, deadline); f.err != nil {
		return f
	}
	c := w.operator(api, a.Org)
	f.deliveries, f.err = client.All(context.Background(), func(ctx context.Context, p client.Page) ([]events.Delivery, string, error) {
		return c.Deliveries(ctx, client.DeliveriesRequest{TriggerID: f.progress.TriggerID, Limit: p.Limit, After: p.After})
	})
	if p := w.findPartner(a.Org); p.publisher != nil {
		f.deliveries = p.renamed(f.deliveries)
	}
	return f
}

// awaitProgress waits until an api shows a trigger as completed.
func (w *world) awaitProgress(api *node, a request, deadline time.Time) (f final) {
	c, ctx := w.operator(api, a.Org), context.Background()
	find := func() (events.Progress, error) { return c.GetTrigger(ctx, a.Trigger) }
	if p := w.findPartner(a.Org).publisher; p != nil {
		find = func() (events.Progress, error) { return p.notification(ctx, c, a.Trigger) }
	}
	for {
		f.progress, f.err = find()
		absent := errors.Is(f.err, errNoNotification)
		if f.err == nil && f.progress.Status == events.TriggerCompleted || absent || time.Now().After(deadline) {
			return f
		}
		time.Sleep(100 * time.Millisecond)
	}
}
