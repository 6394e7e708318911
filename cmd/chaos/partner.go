package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/pricing/catalog"
	"github.com/gridhook/gridhook/storage"
)

// partner is an organization with its homes and receivers.
type partner struct {
	org       string
	key       string
	endpoints []*endpoint
	// publisher is nil for a partner without OpenADR.
	*publisher

	mu    sync.Mutex
	homes homeSet
}

// partners has one partner with two receivers, one with one receiver, two with OpenADR
// subscriptions, and one whose receiver rejects every delivery. Deliveries of the last
// partner expire soon.
var partners = []struct {
	org           string
	homes         int
	endpoints     []string
	subscriptions int
	hopeless      bool
}{
	{org: "acme", homes: 200, endpoints: []string{"first", "second"}},
	{org: "bravo", homes: 150, endpoints: []string{"only"}},
	{org: "delta", subscriptions: 100},
	{org: "echo", subscriptions: 40},
	{org: "charlie", homes: 30, endpoints: []string{"dead"}, hopeless: true},
}

// giveUp is the time after which a hopeless delivery expires.
const giveUp = 15 * time.Second

func (p *partner) homeID(i int) string { return fmt.Sprintf("%s_%05d", p.org, i) }

// homeIndex is the reverse of homeID. It returns -1 for another partner's home.
func (p *partner) homeIndex(id string) int {
	digits, ours := strings.CutPrefix(id, p.org+"_")
	i, err := strconv.Atoi(digits)
	if !ours || err != nil {
		return -1
	}
	return i
}

func (p *partner) set() homeSet {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.homes
}

func (p *partner) change(homes homeSet) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.homes = homes
}

// furnish creates the organizations, their homes on a real tariff, and their endpoints.
func (w *world) furnish() error {
	ctx := context.Background()
	apis := w.those((*node).servesAPI)
	api, plan := apis[0], catalog.Plans()[0]
	if _, err := w.operator(api, "").ImportPlan(ctx, client.NewPlan{ID: plan.ID, Tariff: plan.URDB}); err != nil {
		return err
	}
	for i, spec := range partners {
		p := &partner{org: spec.org, homes: homeSet{UpTo: spec.homes}}
		o := w.operator(api, "")
		if _, err := o.CreateOrganization(ctx, client.NewOrganization{ID: p.org, Name: p.org}); err != nil {
			return err
		}
		key, err := o.CreateKey(ctx, client.NewKey{OrganizationID: p.org})
		if err != nil {
			return err
		}
		p.key = key.Text
		if spec.subscriptions > 0 {
			if err := w.publish(ctx, apis[i%len(apis)], p, spec.subscriptions); err != nil {
				return err
			}
		} else if err := w.importHomes(ctx, o, p, plan); err != nil {
			return err
		}
		for _, name := range spec.endpoints {
			if err := w.register(ctx, api, p, name, spec.hopeless && !w.hopeful); err != nil {
				return err
			}
		}
		w.partners = append(w.partners, p)
	}
	return nil
}

func (w *world) importHomes(ctx context.Context, o *client.Client, p *partner, plan catalog.Plan) error {
	var lines strings.Builder
	for i := range p.homes.UpTo {
		fmt.Fprintf(&lines, `{"resource":"home","organizationId":%q,"id":%q,"timezone":%q,"ratePlanId":%q}`+"\n",
			p.org, p.homeID(i), plan.Timezone, plan.ID)
	}
	done, err := o.Import(ctx, strings.NewReader(lines.String()))
	if err == nil && done.Created != p.homes.UpTo {
		err = fmt.Errorf("of %d homes %d were created: %v", p.homes.UpTo, done.Created, done.Errors)
	}
	return err
}

func (w *world) register(ctx context.Context, api *node, p *partner, name string, hopeless bool) error {
	policy := storage.RetryPolicy{InitialSeconds: 1, Multiplier: 2, MaxSeconds: 4, GiveUpSeconds: 3600}
	mood := moodWell
	if hopeless {
		policy.GiveUpSeconds, mood = giveUp.Seconds(), moodError
	}
	e, url := w.add(p.org, name, time.Duration(policy.GiveUpSeconds)*time.Second)
	timeout := 2.0
	made, err := w.operator(api, p.org).CreateEndpoint(ctx, client.NewEndpoint{
		EndpointFields: client.EndpointFields{URL: &url, TimeoutSeconds: &timeout, RetryPolicy: &policy, EventTypes: &[]string{storage.EventPriceSignalUpdated}},
	})
	if err != nil {
		return err
	}
	e.setMood(mood)
	p.endpoints = append(p.endpoints, e)
	return e.trust(made.Secret)
}

// findPartner returns the partner of an organization, or nil if there is none.
func (w *world) findPartner(org string) *partner {
	for _, p := range w.partners {
		if p.org == org {
			return p
		}
	}
	return nil
}
