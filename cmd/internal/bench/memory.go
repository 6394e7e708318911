package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"

	"github.com/gridhook/gridhook/api"
)

// Memory is what a process takes of it at one moment.
type Memory struct {
	// LiveMB is what of the Go heap is in use right after it was collected.
	LiveMB float64 `json:"liveMB"`
	// ResidentMB is what the system counts as the process's, before that: also what is
	// not in use any more and Go has not given back.
	ResidentMB float64 `json:"residentMB"`
}

// megabyte is how memory is shown.
const megabyte = 1e6

// memoryAt reads what the process at an admin address takes. Collect has its garbage
// collected.
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

// memory is what the sandbox takes, with the process that measures in it.
func (m *deliveryMeter) memory(ctx context.Context) (Memory, error) {
	return memoryAt(ctx, m.box.App.AdminURL(), func() error { runtime.GC(); return nil })
}

// memory is what the server takes.
func (s *server) memory(ctx context.Context) (Memory, error) {
	return memoryAt(ctx, s.running.Admin, func() error { return s.collect(ctx) })
}

// collect has the server's garbage collected, as a profile of its heap can ask for.
func (s *server) collect(ctx context.Context) (err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.running.Admin+"/debug/pprof/heap?gc=1", http.NoBody)
	if err != nil {
		return err
	}
	request.Header.Set(api.KeyHeader, s.Operator.Key)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("a profile of the heap was answered %s", response.Status)
	}
	return nil
}
