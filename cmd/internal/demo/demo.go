package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"time"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/cmd/internal/receiver"
	"github.com/gridhook/gridhook/cmd/internal/sandbox"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/pricing/catalog"
	"github.com/gridhook/gridhook/storage"
)

// Options configure the demonstration.
type Options struct {
	// Homes is the number of triggered homes.
	Homes int
	Log   *slog.Logger
}

// stumbles is the number of webhooks that the receiver refuses one time, which causes
// retries.
const stumbles = 5

const organization = "acme"

// patience is the timeout of the wait for the webhooks.
const patience = 2 * time.Minute

// Report is the result of the demonstration.
type Report struct {
	Homes int `json:"homes"`
	// Verified counts homes whose webhook had a valid signature. Refused counts webhooks
	// that did not verify. Stumbled counts webhooks that were refused on purpose and
	// arrived again.
	Verified int `json:"verified"`
	Refused  int `json:"refused"`
	Stumbled int `json:"stumbled"`
	// AcceptMilliseconds is the time until the trigger was stored durably.
	// FirstMilliseconds and LastMilliseconds are the times from then to the first and the
	// last arrival of a first attempt.
	AcceptMilliseconds float64         `json:"acceptMs"`
	FirstMilliseconds  float64         `json:"firstMs"`
	LastMilliseconds   float64         `json:"lastMs"`
	Plans              []PlanReport    `json:"plans"`
	Progress           events.Progress `json:"trigger"`
	Live               *Live           `json:"live"`
}

// OK reports whether every home's webhook arrived and verified.
func (r *Report) OK() bool {
	return r.Verified == r.Homes && r.Refused == 0 && r.Progress.Outcomes[events.OutcomeDelivered] == r.Homes &&
		r.Live.Verified == r.Live.Homes && r.Live.Others == 0
}

// Run runs the demonstration and prints its progress to out.
func Run(ctx context.Context, o Options, out io.Writer) (report *Report, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("the webhooks did not arrive within %s", patience))
	defer cancel()
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(out, "  "+format+"\n", args...) } // nobody may be reading
	began := time.Now()
	box, err := sandbox.Start(ctx, o.Log)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, box.Close()) }()
	say("started in %s: API, worker, nats-server and bbolt in one process, in a temporary folder", since(began))

	began = time.Now()
	if err := sandbox.Furnish(ctx, box.Operator, organization, o.Homes); err != nil {
		return nil, err
	}
	say("imported the organization %q: %d homes on %d real rate plans, in %s", organization, o.Homes, len(catalog.Plans()), since(began))

	d := &demonstration{Options: o, box: box, say: say, left: atomic.Int64{}}
	return d.run(ctx)
}

// demonstration is a running demonstration.
type demonstration struct {
	Options
	box      *sandbox.Sandbox
	say      func(format string, args ...any)
	left     atomic.Int64 // remaining stumbles
	arrivals arrivals
}

func (d *demonstration) run(ctx context.Context) (*Report, error) {
	server := httptest.NewUnstartedServer(nil)
	defer server.Close()
	url := "http://" + server.Listener.Addr().String() + "/hooks"
	secret, err := d.register(ctx, url)
	if err != nil {
		return nil, err
	}
	verifier, err := receiver.NewVerifier(secret)
	if err != nil {
		return nil, err
	}
	r := receiver.New(receiver.Options{Verifier: verifier, Each: d.arrivals.add})
	server.Config.Handler = d.stumbling(r)
	server.Start()
	d.say("registered %s, whose receiver verifies with the stock Standard Webhooks library", url)

	refused := min(stumbles, d.Homes)
	d.left.Store(int64(refused))
	requested := time.Now()
	trigger, err := d.box.Operator.For(organization).Trigger(ctx, client.TriggerRequest{})
	if err != nil {
		return nil, err
	}
	accepted := time.Now()
	d.say("triggered %s for the next 24 hours: accepted durably in %s", trigger.TriggerID, since(requested))
	report := &Report{Homes: d.Homes, AcceptMilliseconds: milliseconds(accepted.Sub(requested))}
	if report.Progress, err = d.await(ctx, trigger.TriggerID); err != nil {
		return nil, err
	}
	counts := r.Counts()
	report.Verified, report.Refused = counts.Messages, counts.Refused
	report.Stumbled = refused - int(max(d.left.Load(), 0))
	d.arrivals.sumUp(report, accepted)
	report.Live, err = d.changePrices(ctx)
	return report, err
}

// register registers the receiver with short retry delays.
func (d *demonstration) register(ctx context.Context, url string) (secret string, err error) {
	policy := storage.DefaultRetryPolicy()
	policy.InitialSeconds = 1
	endpoint, err := d.box.Operator.For(organization).CreateEndpoint(ctx, client.NewEndpoint{EndpointFields: client.EndpointFields{
		URL: &url, RetryPolicy: &policy, EventTypes: &[]string{storage.EventPriceSignalUpdated},
	}})
	return endpoint.Secret, err
}

// stumbling refuses the first few requests with 503, like a partner's overloaded
// receiver.
func (d *demonstration) stumbling(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if d.left.Add(-1) >= 0 {
			http.Error(w, "back in a second", http.StatusServiceUnavailable)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// await polls the trigger until every home has its outcome.
func (d *demonstration) await(ctx context.Context, id string) (p events.Progress, err error) {
	told := false
	err = sandbox.Poll(ctx, 50*time.Millisecond, func() (bool, error) {
		p, err = d.box.Operator.For(organization).GetTrigger(ctx, id)
		if n := p.Outcomes[events.OutcomeRetrying]; n > 0 && !told {
			told = true
			d.say("%d of %d delivered; %d got 503 and have a retry soon", p.Outcomes[events.OutcomeDelivered], d.Homes, n)
		}
		return p.Status == events.TriggerCompleted, err
	})
	return p, err
}

func since(t time.Time) time.Duration {
	d := time.Since(t)
	if d < 100*time.Millisecond {
		return d.Round(10 * time.Microsecond)
	}
	return d.Round(time.Millisecond)
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
