package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/gridhook/gridhook/cmd/internal/sandbox"
)

// Million is the cost of a million homes of one organization. The api and one worker run
// on an external NATS.
type Million struct {
	Homes int `json:"homes"`
	// ImportPerSecond is the rate of homes stored durably through the API.
	ImportPerSecond float64 `json:"importPerSecond"`
	// WorkerReadySeconds is the time until a new worker with an empty folder is ready.
	WorkerReadySeconds float64 `json:"workerReadySeconds"`
	// TriggerMs is the time until the trigger's response.
	TriggerMs           float64 `json:"triggerMs"`
	DeliveriesPerSecond float64 `json:"deliveriesPerSecond"`
	// DeliveryCPU is the processor time of a delivery in all processes but the receiver,
	// in microseconds.
	DeliveryCPU float64 `json:"deliveryCpuMicroseconds"`
	// WorkerHeapBytes is the maximum of the worker's Go heap in use, sampled twice a
	// second.
	WorkerHeapBytes float64 `json:"workerHeapBytes"`
}

func measureMillion(ctx context.Context, o Options) (v *Million, err error) {
	v = &Million{Homes: 1_000_000}
	if o.Quick {
		v.Homes = 50_000
	}
	f, err := startFleet(ctx, o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.close()) }()
	o.say("million: importing %d homes", v.Homes)
	began := time.Now()
	if err := f.box.Furnish(ctx, organization, v.Homes, func(int) {}); err != nil {
		return nil, err
	}
	v.ImportPerSecond = float64(v.Homes) / time.Since(began).Seconds()
	if err := register(ctx, f.box.Operator, organization, f.sink.URL); err != nil {
		return nil, err
	}
	o.say("million: %.0f/s; a new worker starts", v.ImportPerSecond)
	began = time.Now()
	worker, err := f.start("worker")
	if err != nil {
		return nil, err
	}
	v.WorkerReadySeconds = time.Since(began).Seconds()
	o.say("million: ready after %.1f s; a walk", v.WorkerReadySeconds)
	heap := mostOf(ctx, worker.Admin, "go_memstats_heap_inuse_bytes")
	m := &deliveryMeter{box: f.box, sink: f.sink, homes: v.Homes, processorTime: f.processorTime}
	walk, err := m.walk(ctx)
	if err == nil {
		v.WorkerHeapBytes, err = heap()
	}
	v.TriggerMs, v.DeliveriesPerSecond, v.DeliveryCPU = walk.answeredMs, walk.perSecond, walk.cpu
	return v, err
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
}
