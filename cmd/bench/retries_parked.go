package main

import (
	"context"
	"strconv"
	"time"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// ParkedWalks is the cost of a dead endpoint's homes and their delivery after the partner
// comes back.
type ParkedWalks struct {
	Homes    int `json:"homes"`
	Triggers int `json:"triggers"`
	// Messages is the maximum number of waiting messages of all triggers together.
	Messages int `json:"messages"`
	// Before is the process's memory before the first trigger. While is the memory with
	// all homes parked.
	Before Memory `json:"before"`
	While  Memory `json:"while"`
	// StoreMB is the growth of the message system's files.
	StoreMB float64 `json:"storeMB"`
	// NoticedSeconds is the time from the partner's return to the first webhook.
	NoticedSeconds float64 `json:"noticedSeconds"`
	// Delivered counts the homes that received their newest signal. The endpoint's rate
	// limit bounds the rate.
	Delivered     int     `json:"delivered"`
	PerSecond     float64 `json:"perSecond"`
	MostInASecond int     `json:"mostInASecond"`
	RateLimit     float64 `json:"rateLimit"`
	// Superseded counts the older signals that were not sent. OlderSent counts older
	// signals sent although a newer signal existed.
	Superseded int `json:"superseded"`
	OlderSent  int `json:"olderSent"`
}

const dead = "dead"

func (m *retryMeter) parked(ctx context.Context, p *ParkedWalks) error {
	p.Homes, p.Triggers, p.RateLimit = 1_000_000, 3, 10_000
	parkedFor := time.Minute
	if m.Quick {
		p.Homes, p.RateLimit, parkedFor = 20_000, 4_000, 5*time.Second
	}
	url := m.sink.URL + "recovering"
	err := m.furnish(ctx, dead, p.Homes, client.EndpointFields{
		URL: &url, RateLimit: &p.RateLimit,
		RetryPolicy: &storage.RetryPolicy{InitialSeconds: 2, Multiplier: 2, MaxSeconds: 10, GiveUpSeconds: 7200},
	})
	if err != nil {
		return err
	}
	before, err := m.stored(ctx)
	if err != nil {
		return err
	}
	if p.Before, err = m.memory(ctx); err != nil {
		return err
	}
	most := mostOf(ctx, m.running.Admin, "gridhook_retries_pending")
	var triggers []client.Accepted
	for range p.Triggers {
		t, err := m.trigger(ctx, dead)
		if err != nil {
			return err
		}
		triggers = append(triggers, t)
		if err := sleep(ctx, parkedFor/time.Duration(p.Triggers)); err != nil {
			return err
		}
	}
	if p.While, err = m.memory(ctx); err != nil {
		return err
	}
	during, err := m.stored(ctx)
	if err != nil {
		return err
	}
	p.StoreMB = during - before
	messages, err := most()
	if err != nil {
		return err
	}
	p.Messages = int(messages)
	m.say("retries: parked as %d messages; the partner comes back", p.Messages)
	back := time.Now()
	if err := m.sink.get(ctx, "recover", nil); err != nil {
		return err
	}
	return m.afterRecovery(ctx, p, triggers, back)
}

func (m *retryMeter) afterRecovery(ctx context.Context, p *ParkedWalks, triggers []client.Accepted, back time.Time) error {
	for i, t := range triggers {
		end, err := m.progress(ctx, dead, t.TriggerID, ended)
		if err != nil {
			return err
		}
		p.Superseded += end.Outcomes[events.OutcomeSuperseded]
		if i == len(triggers)-1 {
			p.Delivered = end.Outcomes[events.OutcomeDelivered]
		}
	}
	var took received
	if err := m.sink.get(ctx, "took", &took); err != nil {
		return err
	}
	p.NoticedSeconds = float64(took.First-back.UnixMilli()) / 1000
	p.PerSecond = float64(p.Delivered) / (float64(max(1, took.Last-took.First)) / 1000)
	newest := 0
	for sequence := range took.BySequence {
		n, err := strconv.Atoi(sequence)
		if err != nil {
			return err
		}
		newest = max(newest, n)
	}
	for sequence, n := range took.BySequence {
		if sequence != strconv.Itoa(newest) {
			p.OlderSent += n
		}
	}
	for _, n := range took.BySecond {
		p.MostInASecond = max(p.MostInASecond, n)
	}
	return nil
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
