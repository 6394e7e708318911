package api

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/pricing/eligibility"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/signals"
	"github.com/gridhook/gridhook/storage/vault"
)

// Tester sends a webhook.test to an endpoint, once and now.
type Tester interface {
	SendTest(ctx context.Context, e storage.WebhookEndpoint) (events.Delivery, error)
}

// Deps is what the operations work with. All are needed but where it says so.
type Deps struct {
	Store    *storage.Store
	Book     *signals.Book
	Vault    *vault.Vault
	Triggers events.TriggerLog
	Ledger   events.Ledger
	// Tasks is where the next runs of schedules wait. It may be nil; a scheduler
	// sees to them a little later then.
	Tasks interface {
		PutTask(ctx context.Context, t events.Task) error
	}
	// Destinations is the operator's policy on where webhooks may go. It returns
	// a *storage.InvalidError on the field url, or nil.
	Destinations func(rawURL string) error
	// Tester may be nil; endpoints cannot be tested then.
	Tester Tester
	// Eligibility is what is known of places and utilities beside what is
	// published: of which utilities rate plans are at hand, above all. The rate
	// plans that are stored, and what the operator imported, count without being
	// named here.
	Eligibility eligibility.Options
	// Estimates are shared by the listeners of a process. It may be nil; then each
	// has its own.
	Estimates *Estimates
	// Breakers tells how the workers stand to an endpoint. It may be nil; then every
	// breaker is taken to be closed.
	Breakers interface {
		Of(org, endpointID string, now time.Time) events.Breaker
	}
	// Uses may be nil; when keys are used is not noted then.
	Uses *KeyUses
	Log  *slog.Logger
	// Registerer may be nil; nothing is measured then.
	Registerer prometheus.Registerer
	Now        func() time.Time
	// Tracer may be nil; nothing is traced then.
	Tracer trace.Tracer
	// OperatorKey opens the operator's operations. Empty opens them to nobody.
	OperatorKey string
}

// Options bound what a request may cost. Zero fields take their defaults.
type Options struct {
	// MaxBody is the largest JSON body in bytes, by default 1 MiB. It is also
	// the longest line of an import.
	MaxBody int64
	// MaxImportBody is the largest import in bytes, by default 16 MiB.
	MaxImportBody int64
	// MaxDepth is how deep JSON may be nested, by default 32.
	MaxDepth int
	// Rate and Burst limit the requests of one key: by default 100 a second,
	// and 200 at once.
	Rate  float64
	Burst int
	// FeedbackRate and FeedbackBurst limit the feedback of one client address:
	// by default one in five seconds, and 10 at once.
	FeedbackRate  float64
	FeedbackBurst int
	// Timeout bounds one operation, by default 25 s: less than the server
	// waits to write, so that there is always an answer.
	Timeout time.Duration
	// Origins are those whose pages may call the partners' operations from
	// browsers, by default none.
	Origins []string
}

func (o Options) withDefaults() Options {
	o.MaxBody = positive(o.MaxBody, 1<<20)
	o.MaxImportBody = positive(o.MaxImportBody, 16<<20)
	o.MaxDepth = positive(o.MaxDepth, 32)
	o.Rate = positive(o.Rate, 100)
	o.Burst = positive(o.Burst, 200)
	o.FeedbackRate = positive(o.FeedbackRate, 0.2)
	o.FeedbackBurst = positive(o.FeedbackBurst, 10)
	o.Timeout = positive(o.Timeout, 25*time.Second)
	return o
}

func positive[T int | int64 | float64 | time.Duration](v, otherwise T) T {
	if v > 0 {
		return v
	}
	return otherwise
}

// Public serves the partners' operations, with the keys of organizations.
func Public(d Deps, o Options) http.Handler {
	s := newServer(d, o)
	return crossOrigin(o.Origins, s.router(s.partner, partnerRoutes(), partnerDocs))
}

// Admin serves the operator's operations and, for an organization that the
// request names in OrganizationHeader, the partners' too, with the operator's
// key.
func Admin(d Deps, o Options) http.Handler {
	s := newServer(d, o)
	return s.router(s.operator(d.OperatorKey), Routes(), operatorDocs)
}

// server is what every operation has at hand.
type server struct {
	Deps
	options Options
	metrics *metrics
	// keys limits by API key, addresses by client address.
	keys, addresses *limiter
	// plans are the EIA numbers of the utilities that stored rate plans are of.
	plans *index[int]
	facts facts
	// known are the keys of the requests lately: decoding one takes longer than all else
	// that is done to let a request in. devices and flows are those that are asked for
	// again and again while somebody looks at a home, encoded. checkers are the
	// organizations' of eligibility, and areas what they said.
	known    records[*storage.Key]
	devices  records[*answered[storage.HVACDevice]]
	flows    records[*answered[storage.Onboarding]]
	checkers latest[string, *eligibility.Checker]
	areas    latest[areaOf, *answered[eligibility.Result]]
}

func newServer(d Deps, o Options) *server {
	o = o.withDefaults()
	if d.Estimates == nil {
		d.Estimates = NewEstimates(0, nil)
	}
	return &server{
		Deps: d, options: o, metrics: newMetrics(d.Registerer),
		keys: newLimiter(o.Rate, o.Burst), addresses: newLimiter(o.FeedbackRate, o.FeedbackBurst),
		plans: newIndex(storage.KindRatePlan, eiaIDOf), facts: newFacts(),
		known: newRecords[*storage.Key](16384), checkers: latest[string, *eligibility.Checker]{most: 1024}, areas: latest[areaOf, *answered[eligibility.Result]]{most: 4096},
		devices: newRecords[*answered[storage.HVACDevice]](4096), flows: newRecords[*answered[storage.Onboarding]](16384),
	}
}

// Connections bound what one connection may cost. Zero fields take their
// defaults.
type Connections struct {
	// HeaderTimeout is how long a request's headers may take to come, by default
	// 5 s, and ReadTimeout how long all of it, by default 15 s.
	HeaderTimeout, ReadTimeout time.Duration
	// WriteTimeout is how long it may take from the headers to the end of the
	// answer, by default 30 s: longer than Options.Timeout.
	WriteTimeout time.Duration
	// IdleTimeout is how long a connection may wait for its next request, by
	// default 60 s.
	IdleTimeout time.Duration
	// MaxHeaders is the most bytes of headers, by default 16 KiB.
	MaxHeaders int
}

// NewHTTPServer is an http.Server that no slow or greedy client holds up.
func NewHTTPServer(handler http.Handler, c Connections, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: positive(c.HeaderTimeout, 5*time.Second),
		ReadTimeout:       positive(c.ReadTimeout, 15*time.Second),
		WriteTimeout:      positive(c.WriteTimeout, 30*time.Second),
		IdleTimeout:       positive(c.IdleTimeout, 60*time.Second),
		MaxHeaderBytes:    positive(c.MaxHeaders, 16<<10),
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
		// OPTIONS * is answered as every other unknown path.
		DisableGeneralOptionsHandler: true,
	}
}
