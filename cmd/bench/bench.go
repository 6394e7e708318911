package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gridhook/gridhook/cmd/internal/app"
	"github.com/gridhook/gridhook/cmd/internal/blackbox"
)

// Options select the suites and their duration.
type Options struct {
	// Suites are the names of the suites to run; empty runs all.
	Suites []string
	// Quick measures less, for a first impression.
	Quick bool
	// Homes is the number of homes of the suite million. 0 selects the default.
	Homes int
	// Progress receives progress messages.
	Progress io.Writer
	// Log receives the logs of the measured components.
	Log *slog.Logger

	// binaries builds the product once, for the suites that run it as processes.
	binaries func() (blackbox.Binaries, error)
}

// Report holds the machine and the results of the suites.
type Report struct {
	Machine   Machine    `json:"machine"`
	Delivery  *Delivery  `json:"delivery,omitempty"`
	TLS       *TLS       `json:"tls,omitempty"`
	Latency   *Latency   `json:"latency,omitempty"`
	Fairness  *Fairness  `json:"fairness,omitempty"`
	Isolation *Isolation `json:"isolation,omitempty"`
	Estimates *Estimates `json:"estimates,omitempty"`
	Tenants   *Tenants   `json:"tenants,omitempty"`
	Prices    *Prices    `json:"pricing,omitempty"`
	Reads     *Reads     `json:"api,omitempty"`
	State     *State     `json:"state,omitempty"`
	Meters    *Meters    `json:"meters,omitempty"`
	Retries   *Retries   `json:"retries,omitempty"`
	Workers   *Workers   `json:"workers,omitempty"`
	Million   *Million   `json:"million,omitempty"`
	OpenADR   *OpenADR   `json:"openadr,omitempty"`
}

// Machine describes the machine of a report.
type Machine struct {
	OS   string    `json:"os"`
	Arch string    `json:"arch"`
	CPUs int       `json:"cpus"`
	Go   string    `json:"go"`
	At   time.Time `json:"at"`
	// StolenPercent is the share of processor time that the host of a virtual machine
	// gave to others during the run. It is 0 if the system does not report it.
	StolenPercent float64 `json:"stolenPercent"`
}

// suite is a named measurement.
type suite struct {
	name string
	run  func(ctx context.Context, o Options, r *Report) error
}

func suites() []suite {
	return []suite{
		measured("delivery", measureDelivery, func(r *Report, v *Delivery) { r.Delivery = v }),
		measured("tls", measureTLS, func(r *Report, v *TLS) { r.TLS = v }),
		measured("latency", measureLatency, func(r *Report, v *Latency) { r.Latency = v }),
		measured("fairness", measureFairness, func(r *Report, v *Fairness) { r.Fairness = v }),
		measured("isolation", measureIsolation, func(r *Report, v *Isolation) { r.Isolation = v }),
		measured("estimates", measureEstimates, func(r *Report, v *Estimates) { r.Estimates = v }),
		measured("tenants", measureTenants, func(r *Report, v *Tenants) { r.Tenants = v }),
		measured("pricing", measurePrices, func(r *Report, v *Prices) { r.Prices = v }),
		measured("api", measureReads, func(r *Report, v *Reads) { r.Reads = v }),
		measured("state", measureState, func(r *Report, v *State) { r.State = v }),
		measured("meters", measureMeters, func(r *Report, v *Meters) { r.Meters = v }),
		measured("retries", measureRetries, func(r *Report, v *Retries) { r.Retries = v }),
		measured("workers", measureWorkers, func(r *Report, v *Workers) { r.Workers = v }),
		measured("million", measureMillion, func(r *Report, v *Million) { r.Million = v }),
		measured("openadr", measureOpenADR, func(r *Report, v *OpenADR) { r.OpenADR = v }),
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

// names returns the names of all suites.
func names() []string {
	var list []string
	for _, s := range suites() {
		list = append(list, s.name)
	}
	return list
}

// Run runs the suites. Errors: an unknown suite, or a failure in a suite.
func Run(ctx context.Context, o Options) (r *Report, err error) {
	for _, name := range o.Suites {
		if !slices.Contains(names(), name) {
			return nil, fmt.Errorf("there is no suite %q: choose from %s", name, strings.Join(names(), ", "))
		}
	}
	app.ShareProcessors() // as any process that delivers
	if err := app.LimitMemory(0); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "gridhook-bench-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	o.binaries = sync.OnceValues(func() (blackbox.Binaries, error) {
		o.say("building gridhook and nats-server")
		return blackbox.Build(dir)
	})
	r = &Report{Machine: Machine{
		OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.NumCPU(), Go: runtime.Version(), At: time.Now().UTC().Truncate(time.Second),
	}}
	before := processorsNow()
	machine := &r.Machine // r is nil where a suite fails
	defer func() { machine.StolenPercent = before.stolenSince() }()
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

// say prints a progress message.
func (o Options) say(format string, args ...any) {
	_, _ = fmt.Fprintf(o.Progress, format+"\n", args...) // nobody may be watching
}

// median returns the median of a list that is not empty.
func median(list []float64) float64 {
	sorted := slices.Sorted(slices.Values(list))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}
