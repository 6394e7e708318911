package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gridhook/gridhook/api"
	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/cmd/internal/app"
	"github.com/gridhook/gridhook/dispatcher"
	"github.com/gridhook/gridhook/pricing/catalog"
	"github.com/gridhook/gridhook/storage"
)

// Sandbox is a running Gridhook of one's own.
type Sandbox struct {
	App *app.App
	// Operator calls it as its operator does.
	Operator *client.Client

	dir string
}

// Start starts everything in one process, on free ports of the loopback and with
// webhooks allowed to go there.
func Start(ctx context.Context, log *slog.Logger, worker dispatcher.Options) (*Sandbox, error) {
	dir, err := os.MkdirTemp("", "gridhook-")
	if err != nil {
		return nil, err
	}
	worker.AllowPrivate = true
	a, err := app.Start(ctx, app.Options{
		Role: app.RoleServe, Data: dir, HTTP: "127.0.0.1:0", Admin: "127.0.0.1:0", Worker: worker, Log: log,
		Limits: app.Limits{Requests: api.Options{Rate: 1e6, Burst: 1e6}}, // whoever measures must not be limited
	})
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return &Sandbox{App: a, Operator: &client.Client{BaseURL: a.AdminURL(), Key: a.OperatorKeyText()}, dir: dir}, nil
}

// Close stops it and removes its files.
func (s *Sandbox) Close() error { return errors.Join(s.App.Stop(), os.RemoveAll(s.dir)) }

// Furnish makes an organization with a number of homes that take turns on the
// catalog's rate plans, and tells done how many there are from time to time, perhaps
// twice at once.
func (s *Sandbox) Furnish(ctx context.Context, organization string, homes int, done func(int)) error {
	return Furnish(ctx, s.Operator, organization, homes, done)
}

// Furnish is Sandbox.Furnish on a Gridhook that is not a sandbox.
func Furnish(ctx context.Context, operator *client.Client, organization string, homes int, done func(int)) error {
	if _, err := operator.CreateOrganization(ctx, client.NewOrganization{ID: organization, Name: organization}); err != nil {
		return err
	}
	plans := catalog.Plans()
	for _, p := range plans {
		if _, err := operator.ImportPlan(ctx, client.NewPlan{ID: p.ID, Tariff: p.URDB()}); err != nil {
			return fmt.Errorf("rate plan %s: %w", p.ID, err)
		}
	}
	// While one chunk is stored the next is read.
	const chunk, together = 10_000, 2
	var imported atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(together)
	for from := 0; from < homes; from += chunk {
		to := min(from+chunk, homes)
		group.Go(func() error {
			lines, err := homeLines(organization, plans, from, to)
			if err != nil {
				return err
			}
			if err := Import(ctx, operator, lines); err != nil {
				return err
			}
			done(int(imported.Add(int64(to - from))))
			return nil
		})
	}
	return group.Wait()
}

// Import imports lines that are all to be taken.
func Import(ctx context.Context, operator *client.Client, lines io.Reader) error {
	imported, err := operator.Import(ctx, lines)
	if err == nil && imported.Failed > 0 {
		err = fmt.Errorf("%d lines were refused, the first: %v", imported.Failed, imported.Errors[0])
	}
	return err
}

// homeLines are homes in the form of an import.
func homeLines(organization string, plans []catalog.Plan, from, to int) (*bytes.Buffer, error) {
	var lines bytes.Buffer
	encoder := json.NewEncoder(&lines)
	for i := from; i < to; i++ {
		plan := plans[i%len(plans)]
		err := encoder.Encode(map[string]any{
			"resource": "home", "organizationId": organization, "id": fmt.Sprintf("home_%07d", i),
			"name": fmt.Sprintf("Home %d", i), "timezone": plan.Timezone, "ratePlanId": plan.ID,
		})
		if err != nil {
			return nil, err
		}
	}
	return &lines, nil
}

// Register registers where an organization's price signals go, and returns the secret
// that they are signed with.
func (s *Sandbox) Register(ctx context.Context, organization, url string) (secret string, err error) {
	endpoint, err := s.Operator.For(organization).CreateEndpoint(ctx, client.NewEndpoint{EndpointFields: client.EndpointFields{
		URL: &url, EventTypes: &[]string{storage.EventPriceSignalUpdated},
	}})
	return endpoint.Secret, err
}

// Poll asks again and again until ask says that it has seen enough, or ctx ends.
func Poll(ctx context.Context, every time.Duration, ask func() (enough bool, err error)) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		if enough, err := ask(); enough || err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
