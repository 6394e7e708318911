package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/cmd/internal/sandbox"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// Retries is the cost of waiting deliveries and their completeness after a crash.
type Retries struct {
	Single SingleRetries `json:"single"`
	Parked ParkedWalks   `json:"parked"`
}

func measureRetries(ctx context.Context, o Options) (r *Retries, err error) {
	sink, err := StartSink(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, sink.Close()) }()
	s, err := startServer(o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	m := &retryMeter{Options: o, server: s, sink: sink}
	r = &Retries{}
	if err := m.single(ctx, &r.Single); err != nil {
		return nil, fmt.Errorf("single retries: %w", err)
	}
	if err := m.parked(ctx, &r.Parked); err != nil {
		return nil, fmt.Errorf("dead endpoint: %w", err)
	}
	return r, nil
}

// retryMeter measures retries.
type retryMeter struct {
	Options
	*server
	sink *Sink
}

// furnish creates an organization with homes and an endpoint.
func (m *retryMeter) furnish(ctx context.Context, org string, homes int, endpoint client.EndpointFields) error {
	endpoint.EventTypes = &[]string{storage.EventPriceSignalUpdated}
	m.say("retries: importing %d homes", homes)
	if err := sandbox.Furnish(ctx, m.Operator, org, homes); err != nil {
		return err
	}
	_, err := m.Operator.For(org).CreateEndpoint(ctx, client.NewEndpoint{EndpointFields: endpoint})
	return err
}

// trigger triggers the signals of a few hours.
func (m *retryMeter) trigger(ctx context.Context, org string) (client.Accepted, error) {
	start := time.Now().UTC().Truncate(15 * time.Minute)
	return m.Operator.For(org).Trigger(ctx, client.TriggerRequest{
		StartTime: &storage.Time{Time: start}, EndTime: &storage.Time{Time: start.Add(4 * time.Hour)},
	})
}

// progress polls a trigger's progress until enough returns true.
func (m *retryMeter) progress(ctx context.Context, org, trigger string, enough func(p events.Progress) bool) (p events.Progress, err error) {
	err = sandbox.Poll(ctx, 200*time.Millisecond, func() (bool, error) {
		p, err = m.Operator.For(org).GetTrigger(ctx, trigger)
		return err == nil && enough(p), err
	})
	return p, err
}

func ended(p events.Progress) bool { return p.Status == events.TriggerCompleted }

// print writes the figures for people.
func (r *Retries) print(b *strings.Builder) {
	s, p := &r.Single, &r.Parked
	fmt.Fprintf(b, "\nretries: %d of %d homes waited for their own, through kill -9\n", s.Waiting, s.Homes)
	fmt.Fprintf(b, "  live heap    %.0f MB before, %.0f MB while they waited, %.0f MB when started again; %.0f MB of files more\n", s.Before.LiveMB, s.While.LiveMB, s.After.LiveMB, s.StoreMB)
	fmt.Fprintf(b, "  resident     %.0f MB before, %.0f MB while they waited, %.0f MB when started again\n", s.Before.ResidentMB, s.While.ResidentMB, s.After.ResidentMB)
	fmt.Fprintf(b, "  ready again  after %.0f ms, when %d were overdue\n", s.ReadyMs, s.Overdue)
	fmt.Fprintf(b, "  tried        %d, %d lost, %d early, %d twice; late by %.0f ms (p50), %.0f (p99), %.0f (most), %d by more than %s\n",
		s.Tried, s.Lost, s.Early, s.Repeated, s.LateP50Ms, s.LateP99Ms, s.LateMaxMs, s.Late, lateAfter)
	fmt.Fprintf(b, "\nretries: a dead endpoint of %d homes, triggered %d times\n", p.Homes, p.Triggers)
	fmt.Fprintf(b, "  parked       as %d messages at most; %.1f MB of files more\n", p.Messages, p.StoreMB)
	fmt.Fprintf(b, "  live heap    %.0f MB before, %.0f MB then; resident %.0f and %.0f MB\n", p.Before.LiveMB, p.While.LiveMB, p.Before.ResidentMB, p.While.ResidentMB)
	fmt.Fprintf(b, "  back         noticed after %.1f s; %d newest delivered at %.0f/s, at most %d in a second with a limit of %.0f\n",
		p.NoticedSeconds, p.Delivered, p.PerSecond, p.MostInASecond, p.RateLimit)
	fmt.Fprintf(b, "  superseded   %d (%d sent)\n", p.Superseded, p.OlderSent)
}
