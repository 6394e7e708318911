package app

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/pprof"
	"slices"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/gridhook/gridhook/api"
	"github.com/gridhook/gridhook/api/console"
	"github.com/gridhook/gridhook/api/openadr"
	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/config"
	"github.com/gridhook/gridhook/pricing/catalog"
)

// listenPublic serves the partners' operations and their console.
func (a *App) listenPublic(ctx context.Context) (err error) {
	deps, options := a.apiDeps("public"), requestOptions(&a.Config)
	handler := console.WithConsole(api.Public(deps, options), string(api.AudiencePartner), wire.Enums(), config.List(a.Limits.FrameOrigins)...)
	var end func() error
	a.httpAddr, end, err = a.serve(ctx, "the API", "http", a.HTTP, a.TLS, rest.NewConnectionLimit(deps.Deps, options), handler)
	return a.started("the API", end, err)
}

// listenAdmin serves the metrics and the health checks. If the role serves requests, it
// also serves the operator's operations and console.
func (a *App) listenAdmin(ctx context.Context) (err error) {
	const name = "the admin listener"
	var end func() error
	if a.adminAddr, end, err = a.serve(ctx, name, "admin", a.Admin, a.AdminTLS, nil, a.adminHandler()); err == nil {
		a.stops = slices.Insert(a.stops, a.delivering, stop{name, end})
	}
	return err
}

// adminHandler routes each path unchanged. http.ServeMux would clean the path: it answers
// //v1/... with a redirect that turns a POST into a GET.
func (a *App) adminHandler() http.Handler {
	pages := map[string]http.Handler{
		"/metrics": promhttp.HandlerFor(a.Registry, promhttp.HandlerOpts{
			ErrorLog: slog.NewLogLogger(a.Log.Handler(), slog.LevelWarn), EnableOpenMetrics: true,
		}),
		"/livez":  http.HandlerFunc(a.livez),
		"/readyz": http.HandlerFunc(a.readyz),
	}
	operators := rest.Operators{Key: a.operator, Store: a.store}
	if a.Profiles {
		for name, page := range profiles {
			pages["/debug/pprof/"+name] = operators.Only(func(w http.ResponseWriter, r *http.Request, _ rest.Caller) { page(w, r) })
		}
	}
	operations := http.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rest.Refuse(w, r, errNoOperations)
	}))
	if a.servesAPI() {
		deps := a.apiDeps("admin")
		deps.Backup = a.serveBackup
		operations = console.WithConsole(api.Admin(deps, requestOptions(&a.Config)), string(api.AudienceOperator), wire.Enums())
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		page, ok := pages[r.URL.EscapedPath()]
		if ok && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
			page.ServeHTTP(w, r)
			return
		}
		if a.health.phase.Load() == "stopping" { // the parts that operations need may have stopped
			rest.Refuse(w, r, rest.ErrUnavailable)
			return
		}
		operations.ServeHTTP(w, r)
	})
}

// profiles are the profiles of the running process. Index serves those without a handler of
// their own. The command line is not among them, because it may have secrets.
var profiles = map[string]http.HandlerFunc{
	"profile": pprof.Profile, "trace": pprof.Trace, "symbol": pprof.Symbol,
	"": pprof.Index, "allocs": pprof.Index, "block": pprof.Index, "goroutine": pprof.Index, "heap": pprof.Index, "mutex": pprof.Index, "threadcreate": pprof.Index,
}

var errNoOperations = rest.NewProblem(rest.CodeNotFound, "This process has no operations.", "Send the request to gridhook serve or gridhook api.")

// apiDeps returns the dependencies of the operations. A label separates the metrics of
// the two listeners.
func (a *App) apiDeps(listener string) api.Deps {
	d := api.Deps{
		Deps: rest.Deps{
			Store: a.store, Requests: a.conn, LastUsed: a.uses, Audit: a.conn,
			Log:        a.Log.With("listener", listener),
			Registerer: prometheus.WrapRegistererWith(prometheus.Labels{"listener": listener}, a.Registry),
			Tracer:     a.tracer,
		},
		Feedback: a.conn, Pricer: a.pricer, Vault: a.vault,
		Triggers: a.ledger.Log(a.triggers()), Ledger: a.ledger, Tasks: a.conn,
		Destinations: a.delivery.Guard.CheckURL,
		Tester:       a.tester,
		Email:        a.SMTP.URL.URL != nil,
		Relay:        a.conn,
		Sources:      a.sources,
		Tariffs:      utilitiesAtHand(),
		Estimates:    a.estimates,
		Breakers:     &a.breakers,
		OperatorKey:  a.operator,
		OpenADR:      a.OpenADR.Enabled,

		VerifyCallbacks: a.OpenADR.VerifyCallbacks,
	}
	if a.MQTT != "" {
		d.MQTT = &openadr.MQTT{Port: a.embedded.MQTTPort, Secure: a.TLS != config.KeyPair{}, Admit: func(f openadr.Admission) { a.admission.Store(&f) }}
	}
	return d
}

// utilitiesAtHand returns the EIA numbers of the utilities in the catalog. The product
// includes their residential rate plans.
var utilitiesAtHand = sync.OnceValue(func() map[int]bool {
	at := map[int]bool{}
	for _, p := range catalog.All() {
		if p.EIAID != 0 {
			at[p.EIAID] = true
		}
	}
	return at
})
