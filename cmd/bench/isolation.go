package main

import (
	"context"
	"errors"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/cmd/internal/sandbox"
)

// Isolation compares a healthy endpoint's deliveries beside ten dead endpoints with its
// deliveries alone.
type Isolation struct {
	// AlonePerSecond and BesidePerSecond are medians. Ratio is the median of the rounds'
	// ratios.
	AlonePerSecond  float64 `json:"alonePerSecond"`
	BesidePerSecond float64 `json:"besidePerSecond"`
	Ratio           float64 `json:"ratio"`
	// AloneCPU is the median processor time of a delivery alone, in microseconds.
	AloneCPU float64 `json:"aloneCpuMicroseconds"`
	// AloneFirst and BesideFirst are the time from the trigger's request to the first
	// webhook's arrival. They are medians in milliseconds.
	AloneFirst  float64 `json:"aloneFirstMs"`
	BesideFirst float64 `json:"besideFirstMs"`
	// AloneMemory is the process's memory after the first walk alone. BesideMemory is the
	// maximum after a walk beside dead endpoints, while their homes wait.
	AloneMemory  Memory   `json:"aloneMemory"`
	BesideMemory Memory   `json:"besideMemory"`
	Homes        int      `json:"homes"`
	DeadHomes    int      `json:"deadHomes"`
	Faults       []string `json:"faults"`
}

// deadHomes is the number of homes of each dead endpoint.
const deadHomes = 2000

func measureIsolation(ctx context.Context, o Options) (iso *Isolation, err error) {
	homes, rounds := 40_000, 5
	if o.Quick {
		homes, rounds = 20_000, 3
	}
	o.say("isolation: importing %d homes, and %d of each dead endpoint", homes, deadHomes)
	m, done, err := startMeter(ctx, o, homes)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, done()) }()
	for _, fault := range faults {
		if err := sandbox.Furnish(ctx, m.box.Operator, fault.name, deadHomes); err != nil {
			return nil, err
		}
		if err := register(ctx, m.box.Operator, fault.name, fault.url(m.sink.URL)); err != nil {
			return nil, err
		}
	}
	if _, err := m.walk(ctx); err != nil { // warms up
		return nil, err
	}
	return m.isolation(ctx, o, rounds)
}

func (m *deliveryMeter) isolation(ctx context.Context, o Options, rounds int) (*Isolation, error) {
	iso := &Isolation{Homes: m.homes, DeadHomes: deadHomes * len(faults)}
	for _, fault := range faults {
		iso.Faults = append(iso.Faults, fault.name)
	}
	var alone, beside, ratios, cpu, aloneFirst, besideFirst []float64
	for round := range rounds {
		a, err := m.walk(ctx)
		if err != nil {
			return nil, err
		}
		if round == 0 {
			if iso.AloneMemory, err = m.memory(ctx); err != nil {
				return nil, err
			}
		}
		for _, fault := range faults {
			if err := m.revive(ctx, fault.name); err != nil {
				return nil, err
			}
			if _, err := m.triggerOf(ctx, fault.name); err != nil {
				return nil, err
			}
		}
		b, err := m.walk(ctx)
		if err != nil {
			return nil, err
		}
		after, err := m.memory(ctx)
		if err != nil {
			return nil, err
		}
		iso.BesideMemory.LiveMB = max(iso.BesideMemory.LiveMB, after.LiveMB)
		iso.BesideMemory.ResidentMB = max(iso.BesideMemory.ResidentMB, after.ResidentMB)
		o.say("isolation: %6.0f/s alone, %6.0f/s beside %d dead endpoints, ratio %.2f", a.perSecond, b.perSecond, len(faults), b.perSecond/a.perSecond)
		alone, beside = append(alone, a.perSecond), append(beside, b.perSecond)
		ratios, cpu = append(ratios, b.perSecond/a.perSecond), append(cpu, a.cpu)
		aloneFirst, besideFirst = append(aloneFirst, a.firstMs), append(besideFirst, b.firstMs)
	}
	iso.AlonePerSecond, iso.BesidePerSecond, iso.Ratio = median(alone), median(beside), median(ratios)
	iso.AloneCPU, iso.AloneFirst, iso.BesideFirst = median(cpu), median(aloneFirst), median(besideFirst)
	return iso, nil
}

// revive enables an organization's endpoints again. A 410 response disables an endpoint.
func (m *deliveryMeter) revive(ctx context.Context, organization string) error {
	operator, enabled := m.box.Operator.For(organization), true
	endpoints, _, err := operator.Endpoints(ctx, client.Page{})
	for _, e := range endpoints {
		if err == nil && !e.Enabled {
			_, err = operator.UpdateEndpoint(ctx, e.ID, client.EndpointFields{Enabled: &enabled})
		}
	}
	return err
}
