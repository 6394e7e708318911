package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/cmd/internal/sandbox"
)

// Reads compare operations with a bare handler that writes the same bytes. The client
// runs in its own process.
type Reads struct {
	Operations []Read `json:"operations"`
}

// Read is the result of one operation.
type Read struct {
	Name string `json:"name"`
	// PerSecond and CeilingPerSecond are medians. Ratio is the median of the rounds'
	// ratios.
	PerSecond        float64 `json:"perSecond"`
	CeilingPerSecond float64 `json:"ceilingPerSecond"`
	Ratio            float64 `json:"ratio"`
	AnswerBytes      int     `json:"answerBytes"`
	// CPU and CeilingCPU are the answering process's processor time per request, in
	// microseconds. They are medians and exclude the client's time.
	CPU        float64 `json:"cpuMicroseconds"`
	CeilingCPU float64 `json:"ceilingCpuMicroseconds"`
	// HalfLoad holds the operation's response times at half of its maximum rate.
	// CeilingHalfLoad holds the bare handler's response times at the same rate. Both
	// include all rounds.
	HalfLoad        Quantiles `json:"halfLoad"`
	CeilingHalfLoad Quantiles `json:"ceilingHalfLoad"`
	// StolenPercent is the worst round's share of processor time that the host took. It
	// covers the rounds that measure response times. Like the rounds that measure rates,
	// they are the calmest rounds.
	StolenPercent float64 `json:"stolenPercent"`
}

const (
	readHomes    = 1000
	readZipcodes = 100
	// typical is the turn whose response the bare handler writes. Its zipcode 94110 is in
	// San Francisco, like most existing zipcodes from 94100 to 94199.
	typical = 10
	// waiting multiplies the requests of a round at half load. Such a round is longer
	// than the time between two garbage collections of the bare handler. Both loads leave
	// garbage in the same process. In short rounds one load may pay for the collection of
	// both. waitingRounds is the number of these rounds.
	waiting, waitingRounds = 3, 3
)

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
	var lines strings.Builder
	for i := range readHomes {
		fmt.Fprintf(&lines, `{"resource":"hvacDevice","organizationId":%q,"deviceId":"dev_%07d","homeId":"home_%07[2]d","coolingRate":6,"heatingRate":6,"heatTransferCoefficient":0.05}`+"\n", organization, i)
		fmt.Fprintf(&lines, `{"resource":"onboarding","organizationId":%q,"homeId":"home_%07d","status":"IN_PROGRESS","step":2}`+"\n", organization, i)
	}
	if err := sandbox.Import(ctx, m.box.Operator, strings.NewReader(lines.String())); err != nil {
		return nil, fmt.Errorf("devices and onboardings: %w", err)
	}
	key, err := m.box.Operator.CreateKey(ctx, client.NewKey{OrganizationID: organization})
	if err != nil {
		return nil, err
	}
	l, err := startLoader(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	r = &Reads{}
	for _, operation := range reads(m.box.App.URL(), key.Text) {
		read, err := operation.measure(ctx, o, l, requests, rounds)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", operation.name, err)
		}
		r.Operations = append(r.Operations, read)
	}
	return r, nil
}

// operation is a request that is sent repeatedly.
type operation struct {
	name string
	order
}

// reads returns the operations to measure.
func reads(base, key string) []operation {
	return []operation{
		{"price signal", order{URL: base + "/v1/homes/home_%07d/price_signal", Turns: readHomes, Key: key, Body: "{}"}},
		{"device", order{URL: base + "/v1/devices/hvac/dev_%07d/get", Turns: readHomes, Key: key, Body: "{}"}},
		{"onboarding", order{URL: base + "/v1/onboarding/status/get", Turns: readHomes, Key: key, Body: `{"homeId":"home_%07d"}`}},
		{"eligibility", order{URL: base + "/v1/onboarding/eligibility/check", Turns: readZipcodes, Key: key, Body: `{"zipcode":"941%02d"}`}},
	}
}

// measure compares the operation with a bare handler of the same response.
func (p *operation) measure(ctx context.Context, o Options, l *loader, requests, rounds int) (r Read, err error) {
	r.Name = p.name
	answer, err := p.answer(ctx)
	if err != nil {
		return r, err
	}
	r.AnswerBytes = len(answer)
	url, stop, err := bareHandler(ctx, answer)
	if err != nil {
		return r, err
	}
	defer stop()
	ours, bare := p.order, p.order
	bare.URL = url + "/"
	ours.Requests, bare.Requests = requests, requests
	if err := r.atFullLoad(l, ours, bare, rounds); err != nil {
		return r, err
	}
	ours.PerSecond, bare.PerSecond = r.PerSecond/2, r.PerSecond/2
	ours.Requests, bare.Requests = waiting*requests, waiting*requests
	if err := r.atHalfLoad(l, ours, bare); err != nil {
		return r, err
	}
	o.say("api: %s: %6.0f/s (%.0f µs of CPU each), bare handler %6.0f/s (%.0f µs), ratio %.2f; at half load %s, bare handler %s, %.1f %% stolen at most",
		p.name, r.PerSecond, r.CPU, r.CeilingPerSecond, r.CeilingCPU, r.Ratio, r.HalfLoad, r.CeilingHalfLoad, r.StolenPercent)
	return r, nil
}

// timedLoad is the result of an order with the processor time of each response in
// microseconds.
type timedLoad struct {
	load
	cpu float64
}

// turns alternates two loads, the product's and the bare handler's. It returns the
// calmest rounds and the largest stolen share of these rounds.
func turns(l *loader, rounds int, ours, bare order) (list [][2]timedLoad, stolen float64, err error) {
	return calmest(rounds, func() (round [2]timedLoad, err error) {
		for i, o := range []order{ours, bare} {
			used := cpuTime()
			made, err := l.load(o)
			if err != nil {
				return round, err
			}
			round[i] = timedLoad{made, microsecondsEach(cpuTime()-used, o.Requests)}
		}
		return round, nil
	})
}

// atFullLoad measures the maximum rates of two loads.
func (r *Read) atFullLoad(l *loader, ours, bare order, rounds int) error {
	made, _, err := turns(l, rounds, ours, bare)
	if err != nil {
		return err
	}
	of := func(figure func(ours, bare timedLoad) float64) float64 {
		var figures []float64
		for _, round := range made {
			figures = append(figures, figure(round[0], round[1]))
		}
		return median(figures)
	}
	r.PerSecond = of(func(ours, _ timedLoad) float64 { return ours.PerSecond })
	r.CeilingPerSecond = of(func(_, bare timedLoad) float64 { return bare.PerSecond })
	r.Ratio = of(func(ours, bare timedLoad) float64 { return ours.PerSecond / bare.PerSecond })
	r.CPU = of(func(ours, _ timedLoad) float64 { return ours.cpu })
	r.CeilingCPU = of(func(_, bare timedLoad) float64 { return bare.cpu })
	return nil
}

// atHalfLoad measures the response times of two loads over all rounds.
func (r *Read) atHalfLoad(l *loader, ours, bare order) error {
	made, stolen, err := turns(l, waitingRounds, ours, bare)
	if err != nil {
		return err
	}
	var took, ceiling []time.Duration
	for _, round := range made {
		took, ceiling = append(took, round[0].Took...), append(ceiling, round[1].Took...)
	}
	r.HalfLoad, r.CeilingHalfLoad, r.StolenPercent = quantiles(took), quantiles(ceiling), stolen
	return nil
}

// answer returns the operation's response.
func (p *operation) answer(ctx context.Context) (answer []byte, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url(typical), strings.NewReader(p.body(typical)))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("X-Ws-Api-Key", p.Key)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	answer, err = io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s got the response %s: %s", request.URL, response.Status, answer)
	}
	return answer, err
}

// bareHandler answers every request with the same bytes. It reads the body as every
// handler must, and its server has the product's timeouts. The difference is what the
// product adds to net/http.
func bareHandler(ctx context.Context, answer []byte) (url string, stop func(), err error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.ReadAll(r.Body); err != nil {
			return // the client's fault, which it shows
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(answer)))
		_, _ = w.Write(answer) // a broken answer shows at the client
	})
	server := rest.Prepare(&http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second, MaxHeaderBytes: 16 << 10}, slog.New(slog.DiscardHandler))
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	return "http://" + l.Addr().String(), func() { _, _ = server.Close(), <-served }, nil
}
