package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/cmd/internal/app"
	"github.com/gridhook/gridhook/cmd/internal/blackbox"
	"github.com/gridhook/gridhook/cmd/internal/sandbox"
	"github.com/gridhook/gridhook/events/embedded"
)

// Workers is what further worker processes add, on an external nats-server and
// towards a receiver that is slow, so that not the processor is the limit.
type Workers struct {
	Homes int `json:"homes"`
	// AnswerMs is how long the receiver takes for each request.
	AnswerMs float64 `json:"answerMs"`
	// InFlight is how many requests each worker may have in flight there.
	InFlight int         `json:"inFlight"`
	Fleets   []FleetRate `json:"fleets"`
}

// FleetRate is what a number of workers deliver.
type FleetRate struct {
	Workers int `json:"workers"`
	// PerSecond is the median of the rounds, Times that of a single worker.
	PerSecond float64 `json:"deliveriesPerSecond"`
	Times     float64 `json:"times"`
}

// fleetInFlight is so little that four workers do not use up two processors, and
// fleetSlices as many slices as that keep busy: what a worker has taken it delivers
// itself, so that much more would leave the last of it to one worker.
const (
	fleetInFlight = 16
	fleetSlices   = 2
)

// NATSCommand is the hidden subcommand that runs ServeNATS in its own process.
const NATSCommand = "bench-nats"

// ServeNATS runs a nats-server on a free port of the loopback until stdin ends, and
// writes its URL to out.
func ServeNATS(dir string, in io.Reader, out io.Writer) error {
	server, err := embedded.Start(embedded.Options{
		Dir: dir, Listen: "127.0.0.1:0", StartTimeout: time.Minute, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(out, server.ClientURL()); err != nil {
		return errors.Join(err, server.Stop(time.Minute))
	}
	_, _ = io.Copy(io.Discard, in) // ends with the parent
	return server.Stop(time.Minute)
}

func measureWorkers(ctx context.Context, o Options) (w *Workers, err error) {
	homes, rounds := 32_000, 3
	if o.Quick {
		homes, rounds = 16_000, 1
	}
	f, err := startFleet(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.close()) }()
	o.say("workers: importing %d homes", homes)
	if err := f.box.Furnish(ctx, organization, homes, func(int) {}); err != nil {
		return nil, err
	}
	if _, err := f.box.Register(ctx, organization, f.sink.URL+"slow"); err != nil {
		return nil, err
	}
	if err := f.box.Furnish(ctx, warmOrganization, warmHomes, func(int) {}); err != nil {
		return nil, err
	}
	if _, err := f.box.Register(ctx, warmOrganization, f.sink.URL+"slow"); err != nil {
		return nil, err
	}
	w = &Workers{Homes: homes, AnswerMs: float64(slowAnswer.Milliseconds()), InFlight: fleetInFlight}
	m := &deliveryMeter{box: f.box, sink: f.sink, homes: homes}
	for _, size := range []int{1, 2, 4} {
		if err := f.grow(size); err != nil {
			return nil, err
		}
		rate, err := m.fleetRate(ctx, rounds)
		if err != nil {
			return nil, err
		}
		w.Fleets = append(w.Fleets, FleetRate{Workers: size, PerSecond: rate, Times: 1})
		row := &w.Fleets[len(w.Fleets)-1]
		row.Times = rate / w.Fleets[0].PerSecond
		o.say("workers: %d deliver %6.0f/s, %.2f times as much as one", size, rate, row.Times)
	}
	return w, nil
}

// Another organization's homes warm every worker up: its walk opens the connections.
const (
	warmOrganization = "warm"
	warmHomes        = 1_000
)

// fleetRate is the median rate of some walks, after a short one that warms up.
func (m *deliveryMeter) fleetRate(ctx context.Context, rounds int) (float64, error) {
	warm := &deliveryMeter{box: m.box, sink: m.sink, homes: warmHomes, organizations: []string{warmOrganization}}
	if _, err := warm.walk(ctx); err != nil {
		return 0, err
	}
	var rates []float64
	for range rounds {
		walk, err := m.walk(ctx)
		if err != nil {
			return 0, err
		}
		rates = append(rates, walk.perSecond)
	}
	return median(rates), nil
}

// fleet is a Gridhook of several processes.
type fleet struct {
	dir, self string
	sink      *Sink
	nats      *child
	box       *sandbox.Sandbox
	processes []*blackbox.Gridhook
}

func startFleet(ctx context.Context) (f *fleet, err error) {
	f = &fleet{}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.close())
		}
	}()
	if f.self, err = os.Executable(); err != nil {
		return f, err
	}
	if f.dir, err = os.MkdirTemp("", "gridhook-fleet-"); err != nil {
		return f, err
	}
	if f.sink, err = StartSink(ctx); err != nil {
		return f, err
	}
	if f.nats, err = startChild(ctx, NATSCommand, filepath.Join(f.dir, "nats")); err != nil {
		return f, err
	}
	api, err := f.start("api", "--rate-limit", "1000000", "--rate-burst", "1000000")
	if err != nil {
		return f, err
	}
	key, err := os.ReadFile(filepath.Join(api.Data, app.OperatorKeyFile)) //nolint:gosec // it was made just now
	f.box = &sandbox.Sandbox{Operator: &client.Client{BaseURL: api.Admin, Key: strings.TrimSpace(string(key))}}
	return f, err
}

// start starts one more process and waits until it is ready.
func (f *fleet) start(role string, args ...string) (*blackbox.Gridhook, error) {
	g, err := blackbox.StartGridhook(blackbox.Run{
		Binary: f.self, Role: role, Data: filepath.Join(f.dir, role+strconv.Itoa(len(f.processes))),
		Args: append(args, "--nats", f.nats.line), Log: io.Discard, Patience: time.Minute,
	})
	if err == nil {
		f.processes = append(f.processes, g)
	}
	return g, err
}

// grow starts workers until there are so many; the first process is the API.
func (f *fleet) grow(workers int) error {
	for len(f.processes) < workers+1 {
		if _, err := f.start("worker", "--endpoint-concurrency", strconv.Itoa(fleetInFlight), "--slices", strconv.Itoa(fleetSlices)); err != nil {
			return err
		}
	}
	return nil
}

func (f *fleet) close() error {
	var errs []error
	for i := len(f.processes) - 1; i >= 0; i-- {
		errs = append(errs, f.processes[i].Stop(time.Minute))
	}
	if f.nats != nil {
		errs = append(errs, f.nats.Close())
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
		bar(b, fmt.Sprintf("%d workers", f.Workers), f.PerSecond, most, fmt.Sprintf("deliveries/s, %.2f times one", f.Times))
	}
}
