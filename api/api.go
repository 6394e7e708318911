package api

import (
	"context"
	"net/http"
	"strings"

	"github.com/gridhook/gridhook/api/openadr"
	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/events/ledger"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/signals"
	"github.com/gridhook/gridhook/storage/vault"
)

// Tester sends a single webhook.test to an endpoint, or a test message to a notification
// channel, immediately. Message makes the body of a delivery, and the headers that identify
// and sign it now. Verify sends the challenge to a URL.
type Tester interface {
	Message(e storage.WebhookEndpoint, t *events.Trigger, signal signals.Signal, f storage.SignalFormat) (body []byte, headers map[string]string, err error)
	SendTest(ctx context.Context, e storage.WebhookEndpoint) (events.Delivery, error)
	Verify(ctx context.Context, rawURL string) error
	TestChannel(ctx context.Context, c storage.Channel) events.ChannelTest
}

// Deps are the dependencies of the operations. Every field is required unless its comment
// says otherwise.
type Deps struct {
	rest.Deps

	Feedback storage.FeedbackLog
	Pricer   *signals.Pricer
	Vault    *vault.Vault
	Triggers events.TriggerLog
	Ledger   *ledger.Ledger
	// Tasks schedules the next runs of schedules.
	Tasks interface {
		PutTask(ctx context.Context, t events.Task) error
	}
	// Destinations applies the operator's policy on webhook destinations. It returns nil
	// or a *storage.InvalidError on the field url.
	Destinations func(rawURL string) error
	Tester       Tester
	Relay        Relay
	Sources      Sources
	// Tariffs are the EIA numbers of the utilities whose rate plans are at hand. Stored
	// rate plans count without being listed here.
	Tariffs map[int]bool
	// Estimates are shared by the listeners of a process. Their end also ends the long reads
	// that wait.
	Estimates *Estimates
	// Breakers has the state of each endpoint's circuit breaker in the workers.
	Breakers *events.Breakers
	// Email enables notification channels of the kind EMAIL, which need an SMTP server.
	Email bool
	// OpenADR enables the OpenADR interface beside the partners' operations.
	OpenADR bool
	// VerifyCallbacks enables the challenge to the callbacks of OpenADR subscriptions.
	VerifyCallbacks bool
	// MQTT is the listener for OpenADR clients, nil if there is none.
	MQTT *openadr.MQTT
	// OperatorKey is the configured operator key. If empty, only stored operator keys are
	// authorized.
	OperatorKey string
	// Backup serves a backup, which is a file and therefore not an operation. It calls audit
	// when the backup begins. If nil, there is no BackupPath.
	Backup func(w http.ResponseWriter, r *http.Request, audit func())
}

// BackupPath is the path of backups on the operator's listener.
const BackupPath = "/backup"

// Public returns the handler of the partners' operations. Callers authenticate with an
// organization's API key.
func Public(d Deps, o rest.Options) http.Handler {
	s := newServer(d, o)
	operations := rest.CrossOrigin(o.Origins, s.rest.Router(s.rest.Partner, s.routes(AudiencePartner), pages(AudiencePartner)))
	if !d.OpenADR {
		return operations
	}
	adr := openadr.New(s.openADR())
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.EscapedPath(), openadr.Prefix) {
			adr.ServeHTTP(w, r)
			return
		}
		operations.ServeHTTP(w, r)
	})
}

// Admin returns the handler of the operator's and the partners' operations. Callers
// authenticate with the operator's key. For a partner's operation, the request names the
// organization in rest.OrganizationHeader.
func Admin(d Deps, o rest.Options) http.Handler {
	s := newServer(d, o)
	operators := rest.Operators{Key: d.OperatorKey, Store: d.Store}
	operations := s.rest.Router(operators.Authenticate, s.routes(AudienceOperator), pages(AudienceOperator))
	if d.Backup == nil {
		return operations
	}
	backups := operators.Only(func(w http.ResponseWriter, r *http.Request, c rest.Caller) {
		d.Backup(w, r, func() {
			s.rest.AuditPage(r, c, w.Header().Get("X-Request-Id"), rest.Change{Operation: "backup", Kind: "backups"})
		})
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && r.URL.EscapedPath() == BackupPath {
			backups.ServeHTTP(w, r)
			return
		}
		operations.ServeHTTP(w, r)
	})
}

// server has the shared state of the operations.
type server struct {
	Deps
	rest *rest.Server

	listening rest.Shares // clients that listen at relay endpoints, by payer
	testing   rest.Shares // tests of endpoints and verifications of URLs, by payer
}

// openADR returns the dependencies of the OpenADR operations.
func (s *server) openADR() openadr.Deps {
	d := openadr.Deps{
		Store: s.Store, Pricer: s.Pricer, Vault: s.Vault, REST: s.rest, CheckDestination: s.checkDestination, MQTT: s.MQTT,
		CheckHistory: s.Ledger.CheckHistory,
	}
	if s.VerifyCallbacks {
		d.Verify = s.verify
	}
	return d
}

func newServer(d Deps, o rest.Options) *server {
	d.Explain = explainError
	s := &server{Deps: d, rest: rest.New(d.Deps, o)}
	context.AfterFunc(d.Estimates.Stopping(), s.rest.StopReads)
	return s
}
