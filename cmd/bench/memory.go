package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"

	"github.com/gridhook/gridhook/api/rest"
)

// Memory is the memory of a process at one moment.
type Memory struct {
	// LiveMB is the Go heap in use after a collection.
	LiveMB float64 `json:"liveMB"`
	// ResidentMB is the process's resident memory before the collection. It includes free
	// memory that Go has not returned to the system.
	ResidentMB float64 `json:"residentMB"`
}

// megabyte is the unit of memory in the report.
const megabyte = 1e6

// memoryAt reads the memory of the process at an admin address. collect triggers a
// garbage collection in that process.
func memoryAt(ctx context.Context, admin string, collect func() error) (m Memory, err error) {
	if m.ResidentMB, err = metricAt(ctx, admin, "process_resident_memory_bytes"); err != nil {
		return m, err
	}
	if err := collect(); err != nil {
		return m, err
	}
	m.LiveMB, err = metricAt(ctx, admin, "go_memstats_heap_alloc_bytes")
	m.LiveMB, m.ResidentMB = m.LiveMB/megabyte, m.ResidentMB/megabyte
	return m, err
}

// memory returns the memory of the sandbox, including the measuring code in the same
// process.
func (m *deliveryMeter) memory(ctx context.Context) (Memory, error) {
	return memoryAt(ctx, m.box.App.AdminURL(), func() error { runtime.GC(); return nil })
}

// memory returns the server's memory.
func (s *server) memory(ctx context.Context) (Memory, error) {
	return memoryAt(ctx, s.running.Admin, func() error { return s.collect(ctx) })
}

// collect triggers a garbage collection in the server. A request for its heap profile
// does so.
func (s *server) collect(ctx context.Context) (err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.running.Admin+"/debug/pprof/heap?gc=1", http.NoBody)
	if err != nil {
		return err
	}
	request.Header.Set(rest.KeyHeader, s.Operator.Key)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("heap profile: response %s", response.Status)
	}
	return nil
}
