package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gridhook/gridhook/cmd/internal/blackbox"
	"github.com/gridhook/gridhook/cmd/internal/sandbox"
)

// Workers shows what further worker processes add on an external nats-server. The
// receiver is slow, so that the processor is not the limit.
type Workers struct {
	Homes int `json:"homes"`
	// AnswerMs is the receiver's response time.
	AnswerMs float64 `json:"answerMs"`
	// InFlight is each worker's maximum of requests in flight to the receiver.
	InFlight int         `json:"inFlight"`
	Fleets   []FleetRate `json:"fleets"`
}

// FleetRate is the delivery rate of a number of workers.
type FleetRate struct {
	Workers int `json:"workers"`
	// PerSecond is the median of the rounds. Times is the ratio to a single worker's
	// rate.
	PerSecond float64 `json:"deliveriesPerSecond"`
	Times     float64 `json:"times"`
	// CPU is the median processor time of a delivery in all processes but the receiver,
	// in microseconds.
	CPU float64 `json:"cpuMicroseconds"`
}

// fleetInFlight is so small that four workers do not use up two processors. fleetSlices
// is just enough slices to keep the workers busy. A worker delivers its slices alone, so
// more slices would leave the last of them to a single worker.
const (
	fleetInFlight = 16
	fleetSlices   = 4
)

func measureWorkers(ctx context.Context, o Options) (w *Workers, err error) {
	homes, rounds := 32_000, 3
	if o.Quick {
		homes, rounds = 16_000, 1
	}
	f, err := startFleet(ctx, o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.close()) }()
	o.say("workers: importing %d homes", homes)
	if err := sandbox.Furnish(ctx, f.box.Operator, organization, homes); err != nil {
		return nil, err
	}
	if err := register(ctx, f.box.Operator, organization, f.sink.URL+"slow"); err != nil {
		return nil, err
	}
	if err := sandbox.Furnish(ctx, f.box.Operator, warmOrganization, warmHomes); err != nil {
		return nil, err
	}
	if err := register(ctx, f.box.Operator, warmOrganization, f.sink.URL+"slow"); err != nil {
		return nil, err
	}
	w = &Workers{Homes: homes, AnswerMs: float64(slowAnswer.Milliseconds()), InFlight: fleetInFlight}
	m := &deliveryMeter{box: f.box, sink: f.sink, homes: homes, processorTime: f.processorTime}
	for _, size := range []int{1, 2, 4} {
		if err := f.grow(size); err != nil {
			return nil, err
		}
		rate, cpu, err := m.fleetRate(ctx, rounds)
		if err != nil {
			return nil, err
		}
		w.Fleets = append(w.Fleets, FleetRate{Workers: size, PerSecond: rate, Times: 1, CPU: cpu})
		row := &w.Fleets[len(w.Fleets)-1]
		row.Times = rate / w.Fleets[0].PerSecond
		o.say("workers: %d deliver %6.0f/s (%.0f µs of CPU each), %.2f times as much as one", size, rate, cpu, row.Times)
	}
	return w, nil
}

// Another organization's homes warm up every worker: its walk opens the connections.
const (
	warmOrganization = "warm"
	warmHomes        = 1_000
)

// fleetRate returns the median rate and processor time of some walks, after a short walk
// for warm-up.
func (m *deliveryMeter) fleetRate(ctx context.Context, rounds int) (perSecond, cpu float64, err error) {
	warm := &deliveryMeter{box: m.box, sink: m.sink, homes: warmHomes, organizations: []string{warmOrganization}}
	if _, err := warm.walk(ctx); err != nil {
		return 0, 0, err
	}
	var rates, used []float64
	for range rounds {
		walk, err := m.walk(ctx)
		if err != nil {
			return 0, 0, err
		}
		rates, used = append(rates, walk.perSecond), append(used, walk.cpu)
	}
	return median(rates), median(used), nil
}

// fleet is a Gridhook of several processes.
type fleet struct {
	dir         string
	binaries    blackbox.Binaries
	sink        *Sink
	nats        *blackbox.Process
	natsAddress string
	box         *sandbox.Sandbox
	processes   []*blackbox.Gridhook
}

// fleetPatience is the timeout of the start of each process, enough for ten million homes.
const fleetPatience = 10 * time.Minute

func startFleet(ctx context.Context, o Options) (f *fleet, err error) {
	f = &fleet{}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.close())
		}
	}()
	if f.binaries, err = o.binaries(); err != nil {
		return f, err
	}
	if f.dir, err = os.MkdirTemp("", "gridhook-fleet-"); err != nil {
		return f, err
	}
	if f.sink, err = StartSink(ctx); err != nil {
		return f, err
	}
	address, err := blackbox.FreeAddress()
	if err != nil {
		return f, err
	}
	f.natsAddress = address
	if err := f.startNATS(); err != nil {
		return f, err
	}
	api, err := f.start("api", "--rate-limit", "1000000", "--rate-burst", "1000000", "--max-waiting", "0", "--max-homes", "100000000", "--max-state", "0")
	if err != nil {
		return f, err
	}
	operator, err := operatorOf(api)
	f.box = &sandbox.Sandbox{Operator: operator}
	return f, err
}

// startNATS starts the NATS server, with the files of the one before.
func (f *fleet) startNATS() (err error) {
	nats := &blackbox.NATS{Binary: f.binaries.NATS, Dir: filepath.Join(f.dir, "nats"), Address: f.natsAddress, Log: io.Discard, Patience: fleetPatience}
	f.nats, err = nats.Start()
	return err
}

// start starts another process and waits until it is ready.
func (f *fleet) start(role string, args ...string) (*blackbox.Gridhook, error) {
	g, err := blackbox.StartGridhook(blackbox.Run{
		Binary: f.binaries.Gridhook, Role: role, Data: filepath.Join(f.dir, role+strconv.Itoa(len(f.processes))),
		Args: append(args, "--nats", "nats://"+f.natsAddress), Log: io.Discard, Patience: fleetPatience,
	})
	if err == nil {
		f.processes = append(f.processes, g)
	}
	return g, err
}

// grow starts workers until there are enough. The first process is the API.
func (f *fleet) grow(workers int) error {
	for len(f.processes) < workers+1 {
		if _, err := f.start("worker", "--endpoint-concurrency", strconv.Itoa(fleetInFlight), "--slices", strconv.Itoa(fleetSlices)); err != nil {
			return err
		}
	}
	return nil
}

// processorTime returns the processor time of all processes, including the NATS server.
func (f *fleet) processorTime() time.Duration {
	used := processorTimeOf(f.nats.PID())
	for _, g := range f.processes {
		used += processorTimeOf(g.PID())
	}
	return used
}

func (f *fleet) close() error {
	var errs []error
	for i := len(f.processes) - 1; i >= 0; i-- {
		errs = append(errs, f.processes[i].Stop(time.Minute))
	}
	if f.nats != nil {
		f.nats.Kill() // its files are removed next
	}
	if f.sink != nil {
		errs = append(errs, f.sink.Close())
	}
	return errors.Join(append(errs, os.RemoveAll(f.dir))...)
}

func (w *Workers) print(b *strings.Builder) {
	fmt.Fprintf(b, "\nworkers: %d homes, a receiver that takes %.0f ms, %d requests in flight for each worker\n", w.Homes, w.AnswerMs, w.InFlight)
	most := w.Fleets[len(w.Fleets)-1].PerSecond
	for _, f := range w.Fleets {
		bar(b, fmt.Sprintf("%d workers", f.Workers), f.PerSecond, most, fmt.Sprintf("deliveries/s, %.2f times one, %.0f µs of CPU each", f.Times, f.CPU))
	}
}
