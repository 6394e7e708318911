package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"text/template"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"
)

// publishCommand is the argument that measures another server.
const publishCommand = "publish"

// publishing are the settings of a measurement of any server that takes an event by HTTP
// and delivers it to a receiver.
type publishing struct {
	listen   string
	headers  []string
	events   int
	requests int
	expect   int
	idle     int
	patience time.Duration
	pids     []int

	url  *url.URL
	body *template.Template
}

// Published is the result of a measurement.
type Published struct {
	Events     int `json:"events"`
	Deliveries int `json:"deliveries"`
	// PerSecond is the rate of deliveries from the first request to the last arrival.
	PerSecond float64 `json:"perSecond"`
	// Idle is the time from a request to the first arrival, without other requests.
	Idle Quantiles `json:"idle"`
	// CPU is the processor time per delivery of the processes named, in microseconds.
	CPU float64 `json:"cpuMicroseconds,omitempty"`
}

// String is the report.
func (p *Published) String() string {
	s := fmt.Sprintf("%d events, %d deliveries: %.0f deliveries a second\nrequest to first arrival, idle: %s\n", p.Events, p.Deliveries, p.PerSecond, p.Idle)
	if p.CPU > 0 {
		s += fmt.Sprintf("CPU time per delivery: %.0f µs\n", p.CPU)
	}
	return s
}

// parsePublishing parses the arguments after publishCommand.
func parsePublishing(args []string) (*publishing, bool, error) {
	p := &publishing{}
	flags := pflag.NewFlagSet(publishCommand, pflag.ContinueOnError)
	flags.StringVar(&p.listen, "listen", "127.0.0.1:9977", "`address` of the receiver that the server must deliver to; any path")
	flags.StringArrayVar(&p.headers, "header", nil, "`header` of each request, such as 'Authorization: Bearer KEY'; repeatable")
	flags.IntVar(&p.events, "events", 20000, "`number` of events to publish")
	flags.IntVar(&p.requests, "requests", 64, "maximum `number` of requests at a time")
	flags.IntVar(&p.expect, "deliveries", 1, "`number` of deliveries that each event causes")
	flags.IntVar(&p.idle, "idle", 100, "`number` of events to publish one after another first")
	flags.DurationVar(&p.patience, "patience", 2*time.Minute, "maximum `duration` without an arrival")
	flags.IntSliceVar(&p.pids, "pid", nil, "`process` of the server whose processor time to report; repeatable")
	asJSON := flags.Bool("json", false, "print the result as JSON")
	flags.Usage = func() {
		_, _ = fmt.Fprintf(os.Stderr, "Usage: bench %s [flags] URL BODY\n\nPublishes events to a server by POST and counts what it delivers. BODY is a Go template: {{.ID}} is unique,\n"+
			"{{.N}} counts from 1.\n\nFlags:\n%s", publishCommand, flags.FlagUsages())
	}
	if err := flags.Parse(args); err != nil {
		return nil, false, err
	}
	if flags.NArg() != 2 {
		return nil, false, fmt.Errorf("%s needs a URL and a body, got %d arguments: see --help", publishCommand, flags.NArg())
	}
	if p.events < 1 || p.requests < 1 || p.expect < 1 || p.idle < 1 {
		return nil, false, errors.New("--events, --requests, --deliveries and --idle must be 1 or more")
	}
	var err error
	if p.url, err = url.Parse(flags.Arg(0)); err != nil || p.url.Host == "" {
		return nil, false, fmt.Errorf("%q is no absolute URL", flags.Arg(0))
	}
	for _, h := range p.headers {
		if !strings.Contains(h, ":") {
			return nil, false, fmt.Errorf("--header %q has no colon: write NAME: VALUE", h)
		}
	}
	p.body, err = template.New("body").Option("missingkey=error").Parse(flags.Arg(1))
	return p, *asJSON, err
}

// measure publishes the events and counts the arrivals at a receiver.
func (p *publishing) measure(ctx context.Context, listener net.Listener) (result *Published, err error) {
	var arrivals counter
	receiver := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return
		}
		arrivals.arrived()
		w.WriteHeader(http.StatusNoContent)
	})}
	served := make(chan error, 1)
	go func() { served <- receiver.Serve(listener) }()
	defer func() {
		err = errors.Join(err, receiver.Close())
		if end := <-served; !errors.Is(end, http.ErrServerClosed) {
			err = errors.Join(err, end)
		}
	}()
	result = &Published{Events: p.events, Deliveries: p.events * p.expect}
	if result.Idle, err = p.oneByOne(ctx, &arrivals); err != nil {
		return nil, err
	}
	arrivals.reset()
	start, used := time.Now(), p.processorTime()
	if err := p.together(ctx); err != nil {
		return nil, err
	}
	if err := p.await(ctx, &arrivals, result.Deliveries); err != nil {
		return nil, err
	}
	result.PerSecond = float64(result.Deliveries) / time.Unix(0, arrivals.last.Load()).Sub(start).Seconds()
	result.CPU = microsecondsEach(p.processorTime()-used, result.Deliveries)
	return result, nil
}

// oneByOne publishes events to an idle server and returns the time to the first arrival.
func (p *publishing) oneByOne(ctx context.Context, arrivals *counter) (Quantiles, error) {
	var list []time.Duration
	for n := range p.idle {
		arrivals.reset()
		start := time.Now()
		if err := p.post(ctx, n+1); err != nil {
			return Quantiles{}, err
		}
		if err := p.await(ctx, arrivals, p.expect); err != nil {
			return Quantiles{}, err
		}
		list = append(list, time.Unix(0, arrivals.first.Load()).Sub(start))
	}
	return quantiles(list), nil
}

// together publishes all events, several at a time.
func (p *publishing) together(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(p.requests)
	for n := range p.events {
		group.Go(func() error { return p.post(ctx, p.idle+n+1) })
	}
	return group.Wait()
}

// post publishes one event.
func (p *publishing) post(ctx context.Context, n int) error {
	var body bytes.Buffer
	if err := p.body.Execute(&body, map[string]any{"N": n, "ID": rand.Text()}); err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url.String(), &body) //nolint:gosec // whoever calls names the server
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	for _, h := range p.headers {
		name, value, _ := strings.Cut(h, ":")
		r.Header.Set(strings.TrimSpace(name), strings.TrimSpace(value))
	}
	response, err := publisher.Do(r) //nolint:gosec // as above
	if err != nil {
		return err
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	err = errors.Join(err, response.Body.Close())
	if err == nil && response.StatusCode >= http.StatusMultipleChoices {
		err = fmt.Errorf("the server responded %s to event %d: %.500s", response.Status, n, text)
	}
	return err
}

// publisher keeps as many connections as there are requests at a time.
var publisher = &http.Client{Timeout: time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: 1024}}

// await waits until n deliveries have arrived.
func (p *publishing) await(ctx context.Context, arrivals *counter, n int) error {
	done := arrivals.wait(int64(n))
	for seen := arrivals.requests.Load(); ; {
		select {
		case <-done:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(p.patience):
			now := arrivals.requests.Load()
			if now == seen || now == 0 {
				return fmt.Errorf("%d of %d deliveries arrived at %s, and no more for %s: does the server deliver there?", now, n, p.listen, p.patience)
			}
			seen = now
		}
	}
}

// processorTime returns the processor time of the server's processes.
func (p *publishing) processorTime() (sum time.Duration) {
	for _, pid := range p.pids {
		sum += processorTimeOf(pid)
	}
	return sum
}
