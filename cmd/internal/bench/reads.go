package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/cmd/internal/sandbox"
)

// Reads compare operations with a bare handler that writes the same bytes.
type Reads struct {
	Operations []Read `json:"operations"`
}

// Read is one operation.
type Read struct {
	Name string `json:"name"`
	// PerSecond and CeilingPerSecond are medians, Ratio is the median of each
	// round's.
	PerSecond        float64 `json:"perSecond"`
	CeilingPerSecond float64 `json:"ceilingPerSecond"`
	Ratio            float64 `json:"ratio"`
	AnswerBytes      int     `json:"answerBytes"`
	// CPU and CeilingCPU are the processor time that the answering process used for
	// each, in microseconds, medians too; that of who asks is not in it.
	CPU        float64 `json:"cpuMicroseconds"`
	CeilingCPU float64 `json:"ceilingCpuMicroseconds"`
	// HalfLoad is how long answers take when half as many are asked for.
	HalfLoad Quantiles `json:"halfLoad"`
}

const readHomes = 1000

func measureReads(ctx context.Context, o Options) (r *Reads, err error) {
	requests, rounds := 40_000, 5
	if o.Quick {
		requests, rounds = 10_000, 3
	}
	m, done, err := startMeter(ctx, o, readHomes)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, done()) }()
	err = sandbox.Import(ctx, m.box.Operator, strings.NewReader(
		`{"resource":"hvacDevice","organizationId":"`+organization+`","deviceId":"dev","homeId":"home_0000000","coolingRate":6,"heatingRate":6,"heatTransferCoefficient":0.05}`+"\n"+
			`{"resource":"onboarding","organizationId":"`+organization+`","homeId":"home_0000000","status":"IN_PROGRESS","step":2}`))
	if err != nil {
		return nil, fmt.Errorf("a device and an onboarding: %w", err)
	}
	key, err := m.box.Operator.CreateKey(ctx, client.NewKey{OrganizationID: organization})
	if err != nil {
		return nil, err
	}
	r = &Reads{}
	for _, operation := range reads(m.box.App.URL()) {
		operation.key = key.Text
		read, err := operation.measure(ctx, o, requests, rounds)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", operation.name, err)
		}
		r.Operations = append(r.Operations, read)
	}
	return r, nil
}

// operation is a request that is made again and again.
type operation struct {
	name, key, body string
	url             func(i int) string
}

// reads are the operations that are measured.
func reads(base string) []operation {
	same := func(path string) func(int) string { return func(int) string { return base + path } }
	return []operation{
		{name: "price signal", body: "{}", url: func(i int) string { return fmt.Sprintf("%s/v1/homes/home_%07d/price_signal", base, i%readHomes) }},
		{name: "device", body: "{}", url: same("/v1/devices/hvac/dev/get")},
		{name: "onboarding", body: `{"homeId":"home_0000000"}`, url: same("/v1/onboarding/status/get")},
		{name: "eligibility", body: `{"zipcode":"94110"}`, url: same("/v1/onboarding/eligibility/check")},
	}
}

// measure compares the operation with a bare handler of the same answer.
func (p *operation) measure(ctx context.Context, o Options, requests, rounds int) (r Read, err error) {
	r.Name = p.name
	answer, err := p.fetch(ctx, http.DefaultTransport, p.url(0))
	if err != nil {
		return r, err
	}
	r.AnswerBytes = len(answer)
	bare, stop, err := bareHandler(ctx, answer)
	if err != nil {
		return r, err
	}
	defer stop()
	var rates, ceilings, ratios []float64
	for range rounds {
		ceiling, err := p.fetchAll(ctx, requests, func(int) string { return bare })
		if err != nil {
			return r, err
		}
		rate, err := p.fetchAll(ctx, requests, p.url)
		if err != nil {
			return r, err
		}
		rates, ceilings, ratios = append(rates, rate), append(ceilings, ceiling), append(ratios, rate/ceiling)
	}
	r.PerSecond, r.CeilingPerSecond, r.Ratio = median(rates), median(ceilings), median(ratios)
	r.HalfLoad, err = p.paced(ctx, requests/2, r.PerSecond/2)
	o.say("api: %s: %6.0f/s, bare handler %6.0f/s, ratio %.2f; at half load %s", p.name, r.PerSecond, r.CeilingPerSecond, r.Ratio, r.HalfLoad)
	return r, err
}

// paced makes requests at a rate, whether or not those before are answered, as far
// as the connections go, and says how long the answers took.
func (p *operation) paced(ctx context.Context, n int, perSecond float64) (Quantiles, error) {
	transport := &http.Transport{MaxIdleConnsPerHost: connections, DisableCompression: true}
	defer transport.CloseIdleConnections()
	took := make([]time.Duration, n)
	var taken atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	began := time.Now()
	for range connections {
		group.Go(func() error {
			for {
				i := int(taken.Add(1)) - 1
				if i >= n {
					return nil
				}
				due := began.Add(time.Duration(float64(i) / perSecond * float64(time.Second)))
				timer := time.NewTimer(time.Until(due))
				select {
				case <-timer.C:
				case <-ctx.Done():
					return context.Cause(ctx)
				}
				asked := time.Now()
				if _, err := p.fetch(ctx, transport, p.url(i)); err != nil {
					return err
				}
				took[i] = time.Since(asked)
			}
		})
	}
	if err := group.Wait(); err != nil {
		return Quantiles{}, err
	}
	return quantiles(took), nil
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
func (p *operation) fetchAll(ctx context.Context, n int, url func(i int) string) (perSecond float64, err error) {
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
				if _, err := p.fetch(ctx, transport, url(i)); err != nil {
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

func (p *operation) fetch(ctx context.Context, transport http.RoundTripper, url string) (answer []byte, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(p.body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("x-ws-api-key", p.key)
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
