package bench

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

// LoadCommand is the hidden subcommand that runs ServeLoad in its own process, so that
// what asking takes is not in the way of what answering does.
const LoadCommand = "bench-load"

// order is a load to be made.
type order struct {
	// URL and Body may have a %d, which takes the numbers below Turns in turn.
	URL   string `json:"url"`
	Turns int    `json:"turns"`
	Key   string `json:"key"`
	Body  string `json:"body"`
	// Requests are made over so many connections, and PerSecond of them a second, 0
	// for as many as there can be.
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

// requests are those of each turn, as they are sent, and where to.
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

// load is what came of an order.
type load struct {
	PerSecond float64 `json:"perSecond"`
	// Took is how long each request took that was made at a rate, in nanoseconds.
	Took  []time.Duration `json:"took,omitempty"`
	Error string          `json:"error,omitempty"`
}

// loadMemory is where a load begins to be collected, in bytes.
const loadMemory = 2 << 30

// ServeLoad makes the loads that it reads from in, one JSON text each, until that
// ends, and writes what came of each to out. Its garbage is collected between loads: a
// heap as small as this one's would be up to a hundred times a second, and what that
// takes would be taken for the server's time. It takes one processor at most, and wakes
// no second thread for each answer that comes.
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

// make makes the requests. At a rate they are made whether or not those before are
// answered, as far as the connections go.
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
			c, err := dialAsker(ctx, address)
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

// await waits until a request is due, and returns from when it is to be measured: one
// that was due before there was a connection for it waited for those before, one whose
// timer was late did not.
func (o *order) await(began time.Time, i int) time.Time {
	if o.PerSecond == 0 {
		return time.Now()
	}
	due := began.Add(time.Duration(float64(i) / o.PerSecond * float64(time.Second)))
	left := time.Until(due)
	if left <= 0 {
		return due
	}
	time.Sleep(left) // milliseconds: the connections take turns
	return time.Now()
}

// loader makes loads in a process of its own.
type loader struct{ *child }

func startLoader(ctx context.Context) (*loader, error) {
	c, err := startChild(ctx, LoadCommand)
	return &loader{c}, err
}

// load has a load made.
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
