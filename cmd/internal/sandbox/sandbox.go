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
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/cmd/internal/app"
	"github.com/gridhook/gridhook/pricing/catalog"
)

// Sandbox is a running Gridhook in a temporary folder.
type Sandbox struct {
	App *app.App
	// Operator is a client with the operator's key.
	Operator *client.Client

	dir string
}

// Start starts all roles in one process on free ports of the loopback. Webhooks may go to
// the loopback and have no quotas. change may modify the options.
func Start(ctx context.Context, log *slog.Logger, change ...func(*app.Options)) (*Sandbox, error) {
	dir, err := os.MkdirTemp("", "gridhook-")
	if err != nil {
		return nil, err
	}
	o := app.Local(dir, log)
	o.AllowPrivate = true
	o.Limits.RateLimit, o.Limits.RateBurst, o.Limits.MaxWaiting, o.Limits.MaxHistory, o.Limits.MaxState = 1e6, 1e6, 0, 0, 0
	for _, c := range change {
		c(&o)
	}
	a, err := app.Start(ctx, o)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return &Sandbox{App: a, Operator: &client.Client{BaseURL: a.AdminURL(), Key: a.OperatorKeyText()}, dir: dir}, nil
}

// Close stops Gridhook and removes its files.
func (s *Sandbox) Close() error { return errors.Join(s.App.Stop(), os.RemoveAll(s.dir)) }

// Furnish creates an organization with a number of homes that rotate over the catalog's
// rate plans.
func Furnish(ctx context.Context, operator *client.Client, organization string, homes int) error {
	if _, err := operator.CreateOrganization(ctx, client.NewOrganization{ID: organization, Name: organization}); err != nil {
		return err
	}
	plans := catalog.Plans()
	for _, p := range plans {
		if _, err := operator.ImportPlan(ctx, client.NewPlan{ID: p.ID, Tariff: p.URDB}); err != nil {
			return fmt.Errorf("rate plan %s: %w", p.ID, err)
		}
	}
	// The next chunk is read while one chunk is stored.
	const chunk, together = 10_000, 2
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(together)
	for from := 0; from < homes; from += chunk {
		to := min(from+chunk, homes)
		group.Go(func() error {
			lines, err := homeLines(organization, plans, from, to)
			if err != nil {
				return err
			}
			return Import(ctx, operator, lines)
		})
	}
	return group.Wait()
}

// Import imports lines. It returns an error if a line is refused.
func Import(ctx context.Context, operator *client.Client, lines io.Reader) error {
	imported, err := operator.Import(ctx, lines)
	if err == nil && imported.Failed > 0 {
		err = fmt.Errorf("%d lines were refused, the first: %v", imported.Failed, imported.Errors[0])
	}
	return err
}

// homeLines returns homes in the import format.
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

// Poll calls ask until ask returns true or an error, or until ctx ends.
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
