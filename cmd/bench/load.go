package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// loadCommand is the argument that makes this program run ServeLoad. The client runs in
// its own process because it uses processor time.
const loadCommand = "bench-load"

// order describes a load.
type order struct {
	// URL and Body may contain a %d. It cycles through the numbers below Turns.
	URL   string `json:"url"`
	Turns int    `json:"turns"`
	Key   string `json:"key"`
	Body  string `json:"body"`
	// Requests is the total number of requests. PerSecond is their rate; 0 means as fast
	// as possible.
	Requests  int     `json:"requests"`
	PerSecond float64 `json:"perSecond"`
}

func (o *order) url(turn int) string  { return inTurn(o.URL, turn) }
func (o *order) body(turn int) string { return inTurn(o.Body, turn) }

func inTurn(text string, turn int) string {
	if !strings.Contains(text, "%") {
		return text
	}
	return fmt.Sprintf(text, turn)
}

// requests returns the address and the encoded request of each turn.
func (o *order) requests() (address string, texts [][]byte, err error) {
	for turn := range max(o.Turns, 1) {
		at, err := url.Parse(o.url(turn))
		if err != nil {
			return "", nil, err
		}
		address = at.Host
		body := o.body(turn)
		texts = append(texts, fmt.Appendf(nil, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nX-Ws-Api-Key: %s\r\nContent-Length: %d\r\n\r\n%s",
			at.EscapedPath(), at.Host, o.Key, len(body), body))
	}
	return address, texts, nil
}

// load is the result of an order.
type load struct {
	PerSecond float64 `json:"perSecond"`
	// Took lists the duration of each request of a load with a rate, in nanoseconds.
	Took  []time.Duration `json:"took,omitempty"`
	Error string          `json:"error,omitempty"`
}

// loadMemory is the heap size at which collection begins during a load, in bytes.
const loadMemory = 2 << 30

// ServeLoad reads orders from in, one JSON text each, until in ends. It writes each
// order's result to out. It collects garbage between loads only: a heap this small would
// be collected up to a hundred times a second, and the measurement would count that time
// as the server's. It uses at most one processor, so that a response wakes no second
// thread.
func ServeLoad(ctx context.Context, in io.Reader, out io.Writer) error {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(loadMemory))
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if _, err := fmt.Fprintln(out, "ready"); err != nil {
		return err
	}
	orders, loads := json.NewDecoder(in), json.NewEncoder(out)
	for {
		var o order
		switch err := orders.Decode(&o); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		runtime.GC()
		made, err := o.make(ctx)
		if err != nil {
			made.Error = err.Error()
		}
		if err := loads.Encode(made); err != nil {
			return err
		}
	}
}

// make sends the requests. At a given rate it sends each request when due, even if
// earlier requests are unanswered, as long as a connection is free.
func (o *order) make(ctx context.Context) (l load, err error) {
	address, requests, err := o.requests()
	if err != nil {
		return l, err
	}
	took := make([]time.Duration, o.Requests)
	var taken atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	began := time.Now()
	for range connections {
		group.Go(func() error {
			c, err := dialRaw(ctx, address)
			if err != nil {
				return err
			}
			defer c.close()
			for {
				i := int(taken.Add(1)) - 1
				if i >= o.Requests {
					return nil
				}
				asked := o.await(began, i)
				if err := c.ask(requests[i%len(requests)]); err != nil {
					return err
				}
				took[i] = time.Since(asked)
			}
		})
	}
	if err := group.Wait(); err != nil {
		return l, err
	}
	l.PerSecond = float64(o.Requests) / time.Since(began).Seconds()
	if o.PerSecond > 0 {
		l.Took = took
	}
	return l, nil
}

// await waits until a request is due and returns the start of its measurement. A request
// that was due before a connection was free counts from its due time. A late timer does
// not count.
func (o *order) await(began time.Time, i int) time.Time {
	if o.PerSecond == 0 {
		return time.Now()
	}
	due := began.Add(time.Duration(float64(i) / o.PerSecond * float64(time.Second)))
	left := time.Until(due)
	if left <= 0 {
		return due
	}
	time.Sleep(left) // milliseconds: the connections alternate
	return time.Now()
}

// loader runs loads in its own process.
type loader struct{ *child }

func startLoader(ctx context.Context) (*loader, error) {
	c, err := startChild(ctx, loadCommand)
	return &loader{c}, err
}

// load runs an order and returns its result.
func (l *loader) load(o order) (made load, err error) {
	if err := json.NewEncoder(l.stdin).Encode(o); err != nil {
		return made, err
	}
	line, err := l.stdout.ReadBytes('\n')
	if err != nil {
		return made, fmt.Errorf("the process that makes the load: %w", err)
	}
	if err := json.Unmarshal(line, &made); err != nil {
		return made, err
	}
	if made.Error != "" {
		return made, errors.New(made.Error)
	}
	return made, nil
}
