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
// after another, a number of times. Whoever asks through a balancer that takes an api
// out before it is stopped gets an answer to each request: what was asked for, or 503
// with the time to come again.
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
		r.sayf("  of %d requests through the balancer %d were answered 503\n", b.asked, b.refused)
		if b.asked == b.refused {
			f.w.violated.addf("I0", "none of %d requests through the balancer was answered 200", b.asked)
		}
		return err
	})
}

// restartEverything restarts each nats-server, each api and each worker.
func (f *faults) restartEverything(b *balanced) error {
	for _, n := range f.w.nats {
		f.excuse(len(f.workers())) // what NATS does not remember that it handed out
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

// balanced asks all apis by turns, one request after another, as an organization of its
// own that has a home and no endpoint.
type balanced struct {
	w    *world
	key  string
	home string
	http *http.Client
	// turns are those that may be asked: whoever has them all asks nobody.
	turns          chan *node
	asked, refused int
}

func newBalanced(w *world) (*balanced, error) {
	const org = "steady"
	apis := w.those((*node).answers)
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

// knows waits until an api has seen what was made.
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

// takeOut has an api asked no more, once what it was asked is answered, until the
// returned function is called.
func (b *balanced) takeOut(n *node) (back func()) {
	if !n.answers() {
		return func() {}
	}
	for next := range b.turns {
		if next == n {
			break
		}
		b.turns <- next
		time.Sleep(5 * time.Millisecond) // it is being asked
	}
	return func() { b.turns <- n }
}

// run asks until ctx ends.
func (b *balanced) run(ctx context.Context) {
	for ctx.Err() == nil {
		n := <-b.turns
		b.asked++
		err := b.ask(n, b.asked)
		switch classify(err) {
		case answerOK:
		case answerUnavailable:
			b.refused++
		default:
			b.w.violated.addf("I0", "a request to %s through the balancer: %v", n.name, err)
		}
		b.turns <- n
		pause(ctx, 20*time.Millisecond)
	}
}

// ask reads, or writes.
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
