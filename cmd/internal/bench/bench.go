package bench

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/gridhook/gridhook/cmd/internal/app"
)

// Options say what is measured and how thoroughly.
type Options struct {
	// Suites are the names of what to measure; none means all.
	Suites []string
	// Quick measures less, for a first impression.
	Quick bool
	// Progress is told what goes on.
	Progress io.Writer
	// Log is where the measured parts log to.
	Log *slog.Logger
}

// Report is what was measured, on which machine.
type Report struct {
	Machine   Machine    `json:"machine"`
	Delivery  *Delivery  `json:"delivery,omitempty"`
	Latency   *Latency   `json:"latency,omitempty"`
	Fairness  *Fairness  `json:"fairness,omitempty"`
	Isolation *Isolation `json:"isolation,omitempty"`
	Estimates *Estimates `json:"estimates,omitempty"`
	Prices    *Prices    `json:"pricing,omitempty"`
	Reads     *Reads     `json:"api,omitempty"`
	State     *State     `json:"state,omitempty"`
	Retries   *Retries   `json:"retries,omitempty"`
	Workers   *Workers   `json:"workers,omitempty"`
	Million   *Million   `json:"million,omitempty"`
}

// Machine is where it was measured.
type Machine struct {
	OS   string    `json:"os"`
	Arch string    `json:"arch"`
	CPUs int       `json:"cpus"`
	Go   string    `json:"go"`
	At   time.Time `json:"at"`
	// StolenPercent is how much of its processors' time the host of a virtual machine
	// gave to others while it was measured, 0 where the system does not tell.
	StolenPercent float64 `json:"stolenPercent"`
}

// suite is one thing that can be measured.
type suite struct {
	name string
	run  func(ctx context.Context, o Options, r *Report) error
}

func suites() []suite {
	return []suite{
		measured("delivery", measureDelivery, func(r *Report, v *Delivery) { r.Delivery = v }),
		measured("latency", measureLatency, func(r *Report, v *Latency) { r.Latency = v }),
		measured("fairness", measureFairness, func(r *Report, v *Fairness) { r.Fairness = v }),
		measured("isolation", measureIsolation, func(r *Report, v *Isolation) { r.Isolation = v }),
		measured("estimates", measureEstimates, func(r *Report, v *Estimates) { r.Estimates = v }),
		measured("pricing", measurePrices, func(r *Report, v *Prices) { r.Prices = v }),
		measured("api", measureReads, func(r *Report, v *Reads) { r.Reads = v }),
		measured("state", measureState, func(r *Report, v *State) { r.State = v }),
		measured("retries", measureRetries, func(r *Report, v *Retries) { r.Retries = v }),
		measured("workers", measureWorkers, func(r *Report, v *Workers) { r.Workers = v }),
		measured("million", measureMillion, func(r *Report, v *Million) { r.Million = v }),
	}
}

func measured[T any](name string, measure func(context.Context, Options) (*T, error), keep func(*Report, *T)) suite {
	return suite{name, func(ctx context.Context, o Options, r *Report) error {
		v, err := measure(ctx, o)
		if err == nil {
			keep(r, v)
		}
		return err
	}}
}

// Names are the names of all suites.
func Names() []string {
	var names []string
	for _, s := range suites() {
		names = append(names, s.name)
	}
	return names
}

// Run measures. Errors: an unknown suite, or what went wrong in one.
func Run(ctx context.Context, o Options) (*Report, error) {
	for _, name := range o.Suites {
		if !slices.Contains(Names(), name) {
			return nil, fmt.Errorf("there is no suite %q: choose from %s", name, strings.Join(Names(), ", "))
		}
	}
	if err := app.LimitMemory(0); err != nil { // as for any process that delivers
		return nil, err
	}
	r := &Report{Machine: Machine{
		OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.NumCPU(), Go: runtime.Version(), At: time.Now().UTC().Truncate(time.Second),
	}}
	before := processorsNow()
	defer func() { r.Machine.StolenPercent = before.stolenSince() }()
	for _, s := range suites() {
		if len(o.Suites) > 0 && !slices.Contains(o.Suites, s.name) {
			continue
		}
		if err := s.run(ctx, o, r); err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return r, nil
}

// say tells whoever watches what goes on.
func (o Options) say(format string, args ...any) {
	_, _ = fmt.Fprintf(o.Progress, format+"\n", args...) // nobody may be watching
}

// median of a list that is not empty.
func median(list []float64) float64 {
	sorted := slices.Sorted(slices.Values(list))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}
