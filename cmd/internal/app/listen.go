package app

import (
	"context"
	"net/http"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/gridhook/gridhook/api"
	"github.com/gridhook/gridhook/api/console"
	"github.com/gridhook/gridhook/dispatcher"
	"github.com/gridhook/gridhook/pricing/catalog"
	"github.com/gridhook/gridhook/pricing/eligibility"
)

// listenPublic serves the partners' operations and their console.
func (a *App) listenPublic(ctx context.Context) (err error) {
	handler := console.Beside(api.Public(a.apiDeps("public"), a.Limits.Requests), console.Partner)
	a.httpAddr, err = a.serve(ctx, "the API", a.HTTP, a.TLS, handler, true)
	return err
}

// listenAdmin serves the metrics and the health checks, and, where the process
// answers, the operator's operations and console.
func (a *App) listenAdmin(ctx context.Context) (err error) {
	a.adminAddr, err = a.serve(ctx, "the admin listener", a.Admin, a.AdminTLS, a.adminHandler(), false)
	return err
}

// adminHandler sends each path where it belongs as it was sent: http.ServeMux
// would clean it, and answer //v1/... with a redirect that turns a POST into a
// GET.
func (a *App) adminHandler() http.Handler {
	pages := map[string]http.Handler{
		"/metrics": promhttp.HandlerFor(a.Registry, promhttp.HandlerOpts{
			ErrorLog: promLog{a.Log.Warn}, EnableOpenMetrics: true,
		}),
		"/livez":  http.HandlerFunc(a.health.livez),
		"/readyz": http.HandlerFunc(a.health.readyz),
	}
	if a.Profiles {
		for path, page := range profilePages() {
			pages[path] = api.OperatorOnly(a.operator, page)
		}
	}
	rest, backups := http.Handler(http.HandlerFunc(nothingHere)), api.OperatorOnly(a.operator, http.HandlerFunc(a.serveBackup))
	if a.Role.answers() {
		rest = console.Beside(api.Admin(a.apiDeps("admin"), a.Limits.Requests), console.Operator)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		page, ok := pages[r.URL.EscapedPath()]
		if ok && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
			page.ServeHTTP(w, r)
			return
		}
		if r.URL.EscapedPath() == BackupPath && r.Method == http.MethodPost && a.Role.answers() {
			backups.ServeHTTP(w, r)
			return
		}
		rest.ServeHTTP(w, r)
	})
}

// nothingHere answers what a process without operations does not have.
func nothingHere(w http.ResponseWriter, r *http.Request) {
	api.Refuse(w, r, &api.Problem{
		Status: http.StatusNotFound, Code: api.CodeNotFound,
		Message: "There is nothing at this path.", Recovery: "Ask a process that answers: gridhook serve or gridhook api.",
	})
}

// apiDeps are what the operations work with. The two listeners measure the same
// things, told apart by a label.
func (a *App) apiDeps(listener string) api.Deps {
	return api.Deps{
		Store: a.store, Book: a.book, Vault: a.vault,
		Triggers: a.ledger.Log(a.triggers()), Ledger: a.ledger, Tasks: a.conn,
		Destinations: a.destinations().CheckURL,
		Tester:       dispatcher.NewTester(a.store, a.vault, a.destinations(), a.tracer),
		Eligibility:  eligibility.Options{Tariffs: utilitiesAtHand()},
		Estimates:    a.estimates,
		Breakers:     &a.breakers,
		Uses:         a.uses,
		Log:          a.Log.With("listener", listener),
		Registerer:   prometheus.WrapRegistererWith(prometheus.Labels{"listener": listener}, a.Registry),
		Now:          a.store.Now,
		Tracer:       a.tracer,
		OperatorKey:  a.operator,
	}
}

// utilitiesAtHand are the EIA numbers of the utilities whose residential rate
// plans come with the product: those of the catalog.
var utilitiesAtHand = sync.OnceValue(func() map[int]bool {
	at := map[int]bool{}
	for _, p := range catalog.All() {
		if p.EIAID != 0 {
			at[p.EIAID] = true
		}
	}
	return at
})

// promLog hands the metrics handler's complaints to the log.
type promLog struct {
	warn func(msg string, args ...any)
}

func (l promLog) Println(v ...any) { l.warn("the metrics could not be served", "problem", v) }
