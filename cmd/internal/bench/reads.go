package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gridhook/gridhook/api/client"
)

// Reads compare the price signal operation with a bare handler that writes the
// same bytes.
type Reads struct {
	SignalsPerSecond float64 `json:"signalsPerSecond"`
	CeilingPerSecond float64 `json:"ceilingPerSecond"`
	Ratio            float64 `json:"ratio"`
	AnswerBytes      int     `json:"answerBytes"`
}

func measureReads(ctx context.Context, o Options) (r *Reads, err error) {
	requests, rounds := 40_000, 5
	if o.Quick {
		requests, rounds = 10_000, 3
	}
	const homes = 1000
	m, done, err := startMeter(ctx, o, homes)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, done()) }()
	key, err := m.box.Operator.CreateKey(ctx, client.NewKey{OrganizationID: organization})
	if err != nil {
		return nil, err
	}
	signal := func(i int) string {
		return fmt.Sprintf("%s/v1/homes/home_%07d/price_signal", m.box.App.URL(), i%homes)
	}
	answer, err := fetch(ctx, http.DefaultTransport, signal(0), key.Text)
	if err != nil {
		return nil, err
	}
	bare, stop, err := bareHandler(ctx, answer)
	if err != nil {
		return nil, err
	}
	defer stop()
	o.say("api: %d price signals of %d bytes over %d connections", requests, len(answer), connections)
	r = &Reads{AnswerBytes: len(answer)}
	var signals, ceilings, ratios []float64
	for range rounds {
		ceiling, err := fetchAll(ctx, requests, key.Text, func(int) string { return bare })
		if err != nil {
			return nil, err
		}
		rate, err := fetchAll(ctx, requests, key.Text, signal)
		if err != nil {
			return nil, err
		}
		o.say("api: %6.0f/s, bare handler %6.0f/s, ratio %.2f", rate, ceiling, rate/ceiling)
		signals, ceilings, ratios = append(signals, rate), append(ceilings, ceiling), append(ratios, rate/ceiling)
	}
	r.SignalsPerSecond, r.CeilingPerSecond, r.Ratio = median(signals), median(ceilings), median(ratios)
	return r, nil
}

// bareHandler answers every request with the same bytes.
func bareHandler(ctx context.Context, answer []byte) (url string, stop func(), err error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(answer) // a broken answer shows at the client
	})}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	return "http://" + l.Addr().String(), func() { _, _ = server.Close(), <-served }, nil
}

// fetchAll makes a number of requests over the connections.
func fetchAll(ctx context.Context, n int, key string, url func(i int) string) (perSecond float64, err error) {
	transport := &http.Transport{MaxIdleConnsPerHost: connections, DisableCompression: true}
	defer transport.CloseIdleConnections()
	var taken atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	began := time.Now()
	for range connections {
		group.Go(func() error {
			for {
				i := int(taken.Add(1))
				if i > n {
					return nil
				}
				if _, err := fetch(ctx, transport, url(i), key); err != nil {
					return err
				}
			}
		})
	}
	if err := group.Wait(); err != nil {
		return 0, err
	}
	return float64(n) / time.Since(began).Seconds(), nil
}

func fetch(ctx context.Context, transport http.RoundTripper, url, key string) (answer []byte, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader([]byte("{}")))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("x-ws-api-key", key)
	response, err := transport.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	answer, err = io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s was answered %s: %s", url, response.Status, answer)
	}
	return answer, err
}
