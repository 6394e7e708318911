package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/cmd/internal/sandbox"
)

// greedyCommand is the argument that makes this program run serveGreedy. The address of
// the API and at least a key for each path of greedyLoads follow.
const greedyCommand = "bench-greedy"

// greedyLoad is a request that clients repeat after each response or refusal.
type greedyLoad struct {
	clients    int
	pause      time.Duration
	path, body string
	// slow clients read a response only after slowRead.
	slow bool
	// idempotent requests have a new idempotency key each.
	idempotent bool
}

const (
	greedyPause = 100 * time.Millisecond
	// signalPause makes 16 clients exceed the rate limit of their key.
	signalPause = 40 * time.Millisecond
	// slowPause is longer, because the server computes a response before max-unread refuses
	// it.
	slowPause = time.Second
	// slowRead is how long a slow client waits before it reads a response.
	slowRead = 6 * time.Second
	// greedyStart is how long the clients may take to reach the limits.
	greedyStart = 30 * time.Second
)

// greedyLoads returns the requests of the greedy organization. Each exceeds a limit.
func greedyLoads(now time.Time) []greedyLoad {
	start := now.UTC().Truncate(15 * time.Minute)
	month := fmt.Sprintf(`{"startTime":%q,"endTime":%q}`, start.Format(time.RFC3339), start.AddDate(0, 0, 28).Format(time.RFC3339))
	const (
		home     = "/v1/homes/" + tenantHome
		signal   = home + "/price_signal"
		schedule = "/v1/webhook/schedules/create"
	)
	return []greedyLoad{
		{clients: 100, pause: slowPause, path: signal, body: month, slow: true},
		{clients: 16, pause: signalPause, path: signal, body: month},
		{clients: 150, pause: greedyPause, path: home + "/hvac/estimate_savings", body: `{"type":"annual"}`},
		{clients: 2, pause: greedyPause, path: "/v1/feedback", body: `{"feedback_type":"bug","summary":"s","message":"m"}`},
		{clients: 8, pause: greedyPause, path: "/v1/webhook/price_signal/trigger", body: `{}`},
		{clients: 1, pause: greedyPause, path: "/v1/webhook/endpoints/create", body: `{"url":"` + nowhere + `"}`},
		{clients: 1, pause: greedyPause, path: "/v1/channels/create", body: `{"kind":"SLACK","address":"` + nowhere + `"}`},
		{clients: 1, pause: greedyPause, path: "/v1/console/links/create", body: `{}`},
		{clients: 1, pause: greedyPause, path: schedule, body: `{}`},
		{clients: 4, pause: greedyPause, path: schedule, body: `{}`, idempotent: true},
		{clients: 1, pause: greedyPause, path: "/v1/onboarding/start", body: onboarding},
	}
}

// nowhere is a URL that nothing is sent to.
const nowhere = "http://127.0.0.1:9/"

// onboarding is larger than each device that fills the organization's state.
var onboarding = fmt.Sprintf(`{"homeId":%q,"zipcode":"94110","thermostatBrandCode":%q}`, tenantHome, strings.Repeat("x", 255))

// serveGreedy exceeds an organization's limits until in ends. It writes a line when it has
// reached them all, or after greedyStart, and at the end the refusals as JSON. It does not
// decode the responses: on a machine shared with the server, that would take more processor
// time than the server itself.
func serveGreedy(ctx context.Context, url string, keys []string, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	counts := &refusals{byLimit: map[string]int{}}
	var asking sync.WaitGroup
	keyOf := map[string]string{} // by path, so that refusals of one do not hold up another
	for _, load := range greedyLoads(time.Now()) {
		if keyOf[load.path] == "" {
			keyOf[load.path] = keys[len(keyOf)]
		}
		c := &client.Client{BaseURL: url, Key: keyOf[load.path]}
		for n := range load.clients {
			asking.Go(func() { load.repeat(ctx, c, n, counts) })
		}
	}
	reached, stop := context.WithTimeout(ctx, greedyStart)
	_ = sandbox.Poll(reached, greedyPause, func() (bool, error) { return counts.complete(), nil }) // the parent checks the refusals
	stop()
	_, err := fmt.Fprintln(out, "ready")
	if err == nil {
		_, err = io.Copy(io.Discard, in)
	}
	cancel()
	asking.Wait()
	return errors.Join(err, json.NewEncoder(out).Encode(counts.byLimit))
}

// repeat sends the request until ctx ends. n is the number of the client.
func (l *greedyLoad) repeat(ctx context.Context, c *client.Client, n int, counts *refusals) {
	for i := 0; ctx.Err() == nil; i++ {
		key := ""
		if l.idempotent {
			key = fmt.Sprintf("%d-%d-%d", time.Now().UnixNano(), n, i)
		}
		if refusal := l.send(ctx, c, key); refusal != nil {
			counts.add(refusal)
		}
		_ = pauseFor(ctx, l.pause) // it ends with ctx
	}
}

// send sends the request and returns the refusal, nil if there is none or if the request
// failed.
func (l *greedyLoad) send(ctx context.Context, c *client.Client, key string) *client.Error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.BaseURL+l.path, strings.NewReader(l.body))
	if err != nil {
		return nil
	}
	request.Header = http.Header{"Content-Type": {"application/json"}, "X-Ws-Api-Key": {c.Key}}
	if key != "" {
		request.Header.Set("Idempotency-Key", key)
	}
	sender := http.DefaultClient
	if l.slow {
		sender = slowClient
	}
	response, err := sender.Do(request)
	if err != nil {
		return nil
	}
	defer response.Body.Close() //nolint:errcheck // it was read to its end or is of no use
	if response.StatusCode != http.StatusOK {
		refusal := &client.Error{}
		if json.NewDecoder(response.Body).Decode(refusal) != nil {
			return nil
		}
		return refusal
	}
	if l.slow {
		_ = pauseFor(ctx, slowRead) // the server disconnects meanwhile
		return nil
	}
	_, _ = io.Copy(io.Discard, response.Body) // it ends with ctx
	return nil
}

// slowClient has the smallest receive buffers, and segments as of the Internet: a segment of
// the loopback is so large that the system would hold the whole response. So what a client
// does not read stays with the server. A connection has one request.
var slowClient = &http.Client{Transport: &http.Transport{
	DisableKeepAlives: true,
	DialContext: (&net.Dialer{ControlContext: func(_ context.Context, _, _ string, conn syscall.RawConn) (err error) {
		const segment = 1400
		controlled := conn.Control(func(fd uintptr) {
			err = errors.Join(syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_MAXSEG, segment),
				syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 1))
		})
		return errors.Join(controlled, err)
	}}).DialContext,
}}

// pauseFor returns after a time. Errors: the error of ctx.
func pauseFor(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
