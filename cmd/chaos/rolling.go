package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/pricing/catalog"
)

// rolling is a round on the cluster in which an operator restarts every process, one
// after another, several times. A balancer takes each api out before it stops. Each
// request through the balancer must get a response: success, or 503 with Retry-After.
func (r *round) rolling() (verdict, error) {
	return r.runWith(func(f *faults) error {
		b, err := newBalanced(f.w)
		if err != nil {
			return err
		}
		ctx, stop := context.WithCancel(context.Background())
		ended := make(chan struct{})
		go func() { defer close(ended); b.run(ctx) }()
		for cycle := range r.cycles {
			began := time.Now()
			if err = f.restartEverything(b); err != nil {
				break
			}
			r.sayf("  restarted everything %d/%d  %5.1fs\n", cycle+1, r.cycles, time.Since(began).Seconds())
		}
		stop()
		<-ended
		r.sayf("  of %d requests through the balancer %d got 503\n", b.sent, b.refused)
		if b.sent == b.refused {
			f.w.violated.addf("I0", "none of %d requests through the balancer got 200", b.sent)
		}
		return err
	})
}

// restartEverything restarts each nats-server, each api and each worker.
func (f *faults) restartEverything(b *balanced) error {
	for _, n := range f.w.nats {
		f.excuse(len(f.workers())) // NATS may forget deliveries to workers
		if err := errors.Join(n.stop(), n.start(), f.w.clusterWhole()); err != nil {
			return err
		}
	}
	for _, n := range f.w.nodes {
		back := b.takeOut(n)
		if err := errors.Join(n.stop(), n.start()); err != nil {
			return err
		}
		back()
	}
	return nil
}

// balanced sends requests to all apis in rotation, one after another. It acts as a
// separate organization that has a home and no endpoint.
type balanced struct {
	w    *world
	key  string
	home string
	http *http.Client
	// turns holds the apis in rotation. A holder of all of them stops the requests.
	turns         chan *node
	sent, refused int
}

func newBalanced(w *world) (*balanced, error) {
	const org = "steady"
	apis := w.those((*node).servesAPI)
	b := &balanced{w: w, home: org + "_1", turns: make(chan *node, len(apis)), http: &http.Client{Timeout: patience}}
	o, ctx, plan := w.operator(apis[0], ""), context.Background(), catalog.Plans()[0]
	_, err := o.CreateOrganization(ctx, client.NewOrganization{ID: org, Name: org})
	if err != nil {
		return nil, err
	}
	key, err := o.CreateKey(ctx, client.NewKey{OrganizationID: org})
	if err != nil {
		return nil, err
	}
	b.key = key.Text
	if _, err := o.CreateHome(ctx, client.NewHome{OrganizationID: org, ID: b.home, Timezone: plan.Timezone, RatePlanID: plan.ID}); err != nil {
		return nil, err
	}
	for _, n := range apis {
		if err := b.knows(n); err != nil {
			return nil, err
		}
		b.turns <- n
	}
	return b, nil
}

// knows waits until an api has seen the organization.
func (b *balanced) knows(n *node) error {
	deadline := time.Now().Add(patience)
	for {
		err := b.ask(n, 1)
		if err == nil || time.Now().After(deadline) {
			return err
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// takeOut removes an api from the rotation after the response to its pending request. back
// returns it to the rotation.
func (b *balanced) takeOut(n *node) (back func()) {
	if !n.servesAPI() {
		return func() {}
	}
	for next := range b.turns {
		if next == n {
			break
		}
		b.turns <- next
		time.Sleep(5 * time.Millisecond) // a request to the api is pending
	}
	return func() { b.turns <- n }
}

// run sends requests until ctx ends.
func (b *balanced) run(ctx context.Context) {
	for ctx.Err() == nil {
		n := <-b.turns
		b.sent++
		err := b.ask(n, b.sent)
		switch classify(err) {
		case resultOK:
		case resultUnavailable:
			b.refused++
		default:
			b.w.violated.addf("I0", "a request to %s through the balancer: %v", n.name, err)
		}
		b.turns <- n
		pause(ctx, 20*time.Millisecond)
	}
}

// ask sends a read or a write.
func (b *balanced) ask(n *node, number int) error {
	c := client.Client{BaseURL: "http://" + n.api, Key: b.key, HTTP: b.http}
	var err error
	if number%2 == 0 {
		_, err = c.Trigger(context.Background(), client.TriggerRequest{IdempotencyKey: "steady-" + strconv.Itoa(number)})
	} else {
		_, err = c.PriceSignal(context.Background(), b.home, client.Window{})
	}
	if err != nil {
		return fmt.Errorf("number %d: %w", number, err)
	}
	return nil
}
