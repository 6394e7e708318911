package rest

import (
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"github.com/gridhook/gridhook/storage"
)

// Deps are the dependencies of a server. Every field is required unless its comment says
// otherwise.
type Deps struct {
	Store *storage.Store
	// Requests stores requests by their idempotency keys.
	Requests storage.Requests
	// LastUsed records when keys were last used. If nil, nothing is recorded.
	LastUsed *LastUsed
	// Audit stores who changed what.
	Audit storage.AuditLog
	Log   *slog.Logger
	// Registerer registers the metrics. If nil, nothing is measured.
	Registerer prometheus.Registerer
	// Tracer records spans. If nil, nothing is traced.
	Tracer trace.Tracer
	// Explain returns the problem of an error that only the operations define, or nil for
	// every other error. It may be nil. Package api sets it.
	Explain func(error) *Problem
}

// Server routes requests to operations.
type Server struct {
	Deps
	Options Options
	metrics *metrics
	// keys limits by API key, organizations by their organization, and addresses by client
	// address.
	keys, organizations, addresses *limiter
	// newKeys limits new idempotency keys by payer. anonymousKeys limits the new
	// idempotency keys of callers without an API key by client address.
	newKeys, anonymousKeys *limiter

	known  keyCache
	bodies bodyMemory
	reads  *Queue
}

// New returns a server with the given options.
func New(d Deps, o Options) *Server {
	return &Server{
		Deps: d, Options: o, metrics: newMetrics(d.Registerer),
		keys: newLimiter(o.Rate, o.Burst), organizations: newLimiter(keysShare*o.Rate, keysShare*o.Burst), addresses: newLimiter(o.FeedbackRate, o.FeedbackBurst),
		newKeys: newDailyLimiter(o.MaxIdempotencyKeys), anonymousKeys: newDailyLimiter(max(1, o.MaxIdempotencyKeys/anonymousShare)),
		bodies: bodyMemory{max: o.MaxUnread}, reads: newReads(),
	}
}

// Call is a request as an operation sees it.
type Call struct {
	RequestID string
	// Operation is the template of the path.
	Operation string
	// Client identifies the client by its address, as returned by clientAddress.
	Client string
	// Now is the time when the request arrived.
	Now time.Time
	Caller
	// ID is the identifier in the path. It is empty if the path has no identifier.
	ID string
	// Body is the request's JSON as sent. It is nil if there is no body, and after the
	// operation.
	Body []byte
	// Text is the body of an operation that takes XML, nil for every other operation.
	Text *Text
	// Wrong has the wrong fields that were found so far.
	Wrong FieldErrors
	// IdempotencyKey is empty if the request has no key or the operation ignores the key.
	IdempotencyKey string
	// release ends the count of the body. It is nil if the body is not counted.
	release func()
	// Change is what the call changes, for the audit log. It is zero for a call that only
	// reads.
	Change Change
}
