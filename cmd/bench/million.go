package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/gridhook/gridhook/cmd/internal/blackbox"
	"github.com/gridhook/gridhook/cmd/internal/sandbox"
)

// Million is the cost of a million homes of one organization, or of another number. The
// api and one worker run on an external NATS.
type Million struct {
	Homes int `json:"homes"`
	// ImportPerSecond is the rate of homes stored durably through the API.
	ImportPerSecond float64 `json:"importPerSecond"`
	// WorkerReadySeconds is the time until a new worker with an empty folder is ready. It
	// builds its replica from the log.
	WorkerReadySeconds float64 `json:"workerReadySeconds"`
	// TriggerMs is the time until the trigger's response.
	TriggerMs           float64 `json:"triggerMs"`
	DeliveriesPerSecond float64 `json:"deliveriesPerSecond"`
	// DeliveryCPU is the processor time of a delivery in all processes but the receiver,
	// in microseconds.
	DeliveryCPU float64 `json:"deliveryCpuMicroseconds"`
	// WorkerHeapBytes is the maximum of the worker's Go heap in use during the walk,
	// sampled twice a second.
	WorkerHeapBytes float64 `json:"workerHeapBytes"`
	// RestartSeconds is the time until all processes are ready again after SIGKILL.
	// NATSRestartSeconds is the part of the NATS server.
	RestartSeconds     float64 `json:"restartSeconds"`
	NATSRestartSeconds float64 `json:"natsRestartSeconds"`
	// Resident is the memory of each process after each step.
	Resident []Residents `json:"resident"`
	// LogBytes is the size of the NATS server's files, ReplicaBytes of the worker's.
	LogBytes     int64 `json:"logBytes"`
	ReplicaBytes int64 `json:"replicaBytes"`
}

// Residents is the resident memory of each process after a step, in bytes. It includes
// mapped pages of files.
type Residents struct {
	After  string `json:"after"`
	NATS   int    `json:"nats"`
	API    int    `json:"api"`
	Worker int    `json:"worker"`
}

func measureMillion(ctx context.Context, o Options) (v *Million, err error) {
	v = &Million{Homes: o.Homes}
	if v.Homes == 0 {
		v.Homes = 1_000_000
		if o.Quick {
			v.Homes = 50_000
		}
	}
	f, err := startFleet(ctx, o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.close()) }()
	o.say("million: importing %d homes", v.Homes)
	began := time.Now()
	if err := sandbox.Furnish(ctx, f.box.Operator, organization, v.Homes); err != nil {
		return nil, err
	}
	v.ImportPerSecond = float64(v.Homes) / time.Since(began).Seconds()
	if err := register(ctx, f.box.Operator, organization, f.sink.URL); err != nil {
		return nil, err
	}
	v.weigh("the import", f)
	o.say("million: %.0f/s; a new worker starts", v.ImportPerSecond)
	began = time.Now()
	worker, err := f.start("worker")
	if err != nil {
		return nil, err
	}
	v.WorkerReadySeconds = time.Since(began).Seconds()
	v.weigh("the worker's start", f)
	o.say("million: ready after %.1f s; a walk", v.WorkerReadySeconds)
	if err := v.walk(ctx, f, worker); err != nil {
		return nil, err
	}
	o.say("million: %.0f/s; a restart after SIGKILL", v.DeliveriesPerSecond)
	return v, v.restart(f)
}

// walk measures a walk of all homes.
func (v *Million) walk(ctx context.Context, f *fleet, worker *blackbox.Gridhook) error {
	heap := mostOf(ctx, worker.Admin, "go_memstats_heap_inuse_bytes")
	m := &deliveryMeter{box: f.box, sink: f.sink, homes: v.Homes, processorTime: f.processorTime}
	walk, err := m.walk(ctx)
	if err == nil {
		v.WorkerHeapBytes, err = heap()
	}
	v.TriggerMs, v.DeliveriesPerSecond, v.DeliveryCPU = walk.answeredMs, walk.perSecond, walk.cpu
	v.weigh("the walk", f)
	return err
}

// restart kills all processes at once and starts them again.
func (v *Million) restart(f *fleet) (err error) {
	worker := f.processes[1].Data
	for _, g := range f.processes {
		g.Kill()
	}
	f.nats.Kill()
	f.processes = nil
	// No process changes the files now.
	if v.LogBytes, err = filesOf(filepath.Join(f.dir, "nats")); err != nil {
		return err
	}
	if v.ReplicaBytes, err = filesOf(worker); err != nil {
		return err
	}
	began := time.Now()
	if err := f.startNATS(); err != nil {
		return err
	}
	v.NATSRestartSeconds = time.Since(began).Seconds()
	for _, role := range []string{"api", "worker"} { // one after another, as each uses both processors
		if _, err := f.start(role); err != nil {
			return err
		}
	}
	v.RestartSeconds = time.Since(began).Seconds()
	v.weigh("the restart", f)
	return nil
}

// weigh records the resident memory of the processes.
func (v *Million) weigh(after string, f *fleet) {
	r := Residents{After: after, NATS: residentOf(f.nats.PID()), API: residentOf(f.processes[0].PID())}
	if len(f.processes) > 1 {
		r.Worker = residentOf(f.processes[1].PID())
	}
	v.Resident = append(v.Resident, r)
}

// filesOf returns the size of a folder's files in bytes.
func filesOf(dir string) (bytes int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			bytes += info.Size()
		}
		return err
	})
	return bytes, err
}

// mostOf samples a metric until most is called. most returns the maximum.
func mostOf(ctx context.Context, admin, name string) (most func() (float64, error)) {
	ctx, cancel := context.WithCancel(ctx)
	var watching sync.WaitGroup
	var top float64
	var failed error
	watching.Go(func() {
		failed = sandbox.Poll(ctx, 500*time.Millisecond, func() (bool, error) {
			n, err := metricAt(ctx, admin, name)
			top = max(top, n)
			return false, err
		})
	})
	return func() (float64, error) {
		cancel()
		watching.Wait()
		if !errors.Is(failed, context.Canceled) { // most canceled it
			return 0, failed
		}
		return top, nil
	}
}

func (v *Million) print(b *strings.Builder) {
	fmt.Fprintf(b, "\nmillion: %d homes of one organization, an api and a worker on an external NATS\n", v.Homes)
	fmt.Fprintf(b, "  %9.0f homes imported a second, durable\n  %9.1f s until a new worker is ready\n", v.ImportPerSecond, v.WorkerReadySeconds)
	fmt.Fprintf(b, "  %9.1f ms until the trigger is accepted\n  %9.0f deliveries/s, %.0f µs of CPU each\n  %9.0f MB of Go heap in the worker at most\n",
		v.TriggerMs, v.DeliveriesPerSecond, v.DeliveryCPU, v.WorkerHeapBytes/megabyte)
	fmt.Fprintf(b, "  %9.1f s until all are ready after SIGKILL, %.1f s of it for NATS\n", v.RestartSeconds, v.NATSRestartSeconds)
	fmt.Fprintf(b, "  %9.0f MB of files in NATS, %.0f MB in the worker\n", float64(v.LogBytes)/megabyte, float64(v.ReplicaBytes)/megabyte)
	for _, r := range v.Resident {
		fmt.Fprintf(b, "  %9d MB resident in NATS, %d in the api, %d in the worker after %s\n", r.NATS/megabyte, r.API/megabyte, r.Worker/megabyte, r.After)
	}
}
