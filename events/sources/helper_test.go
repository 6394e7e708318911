package sources

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/pricing/market"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/storagetest"
	"github.com/gridhook/gridhook/storage/vault"
)

// tasks are the pending tasks in memory.
type tasks struct {
	mu      sync.Mutex
	waiting map[events.TaskName]events.Task
	doing   events.TaskName // a run in progress
	clock   func() time.Time
}

func (q *tasks) put(t events.Task, replace bool) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if _, there := q.waiting[t.TaskName]; !there || replace {
		q.waiting[t.TaskName] = t
	}
	return nil
}

func (q *tasks) PutTask(_ context.Context, t events.Task) error    { return q.put(t, true) }
func (q *tasks) PutNewTask(_ context.Context, t events.Task) error { return q.put(t, false) }
func (q *tasks) DropTask(_ context.Context, name events.TaskName) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.waiting, name)
	return nil
}

func (q *tasks) ConsumeTasks(_, _ context.Context, _ events.TaskKind, _ int, _ func(context.Context, events.Task, events.Taken) error) error {
	return nil
}

func (q *tasks) Tasks(context.Context, events.TaskKind) (map[events.TaskName]bool, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	names := map[events.TaskName]bool{q.doing: true}
	for name := range maps.Keys(q.waiting) {
		names[name] = true
	}
	return names, nil
}

func (q *tasks) TaskDue(_ context.Context, name events.TaskName) (time.Time, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.waiting[name].DueAt.Time, nil
}

func (q *tasks) Clock(context.Context) (time.Time, error) { return q.clock(), nil }

// notices are the stored notices. err is what the store of notices returns.
type notices struct {
	list []events.Notice
	err  error
}

func (n *notices) PutNotice(_ context.Context, notice events.Notice) (bool, error) {
	for _, have := range n.list {
		if have.ID == notice.ID {
			return false, nil
		}
	}
	if n.err != nil {
		return false, n.err
	}
	n.list = append(n.list, notice)
	return true, nil
}

// world is a runner with a source, and the operator's server that the source asks.
type world struct {
	*Runner
	t        *testing.T
	tasks    *tasks
	notified *notices
	log      *storagetest.Log
	now      time.Time
	// ahead is how far the runner's clock is ahead of now.
	ahead  time.Duration
	server *httptest.Server
	// answer is the server's response to the next requests.
	answer http.HandlerFunc
	asked  []*http.Request
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, now: storagetest.Start, notified: &notices{}, tasks: &tasks{waiting: map[events.TaskName]events.Task{}}}
	clock := func() time.Time { return w.now }
	w.tasks.clock = clock
	store, log, _ := storagetest.NewStore(clock)
	w.log = log
	v, err := vault.Open(t.Context(), store)
	must(t, err)
	w.server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.asked = append(w.asked, r)
		w.answer(rw, r)
	}))
	t.Cleanup(w.server.Close)
	client := w.server.Client()
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	w.Runner = New(Deps{
		Store: store, Vault: v, Client: client, Tasks: w.tasks, Notices: w.notified, Log: slog.New(slog.DiscardHandler), Registerer: prometheus.NewRegistry(),
		Now:    func() time.Time { return w.now.Add(w.ahead) },
		Jitter: func() float64 { return 0 },
	})
	return w
}

// add stores a source of hourly prices. change may be nil.
func (w *world) add(change func(*storage.Source)) storage.Source {
	w.t.Helper()
	s := storage.Source{ID: "hub", Base: storage.Base{OrganizationID: storage.Shared}, SourceSettings: storage.SourceSettings{
		Adapter: "csv", URL: w.server.URL, Parameters: map[string]string{"node": "HUB"}, Enabled: true,
	}}
	if change != nil {
		change(&s)
	}
	s.SetDefaults()
	must(w.t, w.Vault.SealSource(&s, &storage.Source{}))
	must(w.t, w.Store.Create(w.t.Context(), &s))
	return s
}

// run makes the pending run of a source, or its first run, and returns the state.
func (w *world) run(s storage.Source) storage.SourceState {
	w.t.Helper()
	must(w.t, w.handle(w.t.Context(), w.due(s), events.Taken{}))
	return w.state(s)
}

// due takes the pending task of a source, after its time has come.
func (w *world) due(s storage.Source) events.Task {
	w.t.Helper()
	must(w.t, w.plan(w.t.Context()))
	task := events.TaskOf(s.Ref(), w.revision(s), w.now)
	pending, there := w.tasks.waiting[task.TaskName]
	if !there {
		w.t.Fatalf("no run of %s is pending", s.ID)
	}
	delete(w.tasks.waiting, task.TaskName)
	if pending.DueAt.After(w.now) {
		w.now = pending.DueAt.Time
	}
	return pending
}

func (w *world) revision(s storage.Source) (revision uint64) {
	must(w.t, w.Store.View(func(v storage.View) (err error) {
		_, revision, err = storage.Read[storage.Source](v, s.Ref())
		return err
	}))
	return revision
}

func (w *world) state(s storage.Source) (state storage.SourceState) {
	w.t.Helper()
	must(w.t, w.Store.View(func(v storage.View) (err error) {
		state, err = storage.ReadSourceState(v, &s, w.revision(s))
		return err
	}))
	return state
}

// prices returns the stored prices, in $/MWh.
func (w *world) prices() (list []float64) {
	for _, p := range w.points() {
		list = append(list, p.Price*1000)
	}
	return list
}

// points returns the stored prices of all nodes.
func (w *world) points() (points []market.Point) {
	must(w.t, w.Store.View(func(v storage.View) error {
		for record, err := range storage.Live(v, storage.KindMarketSeries, storage.Shared, "") {
			if err != nil {
				return err
			}
			series, err := storage.Decode[storage.MarketSeries](record)
			if err != nil {
				return err
			}
			loaded, err := series.Load(v)
			if err != nil {
				return err
			}
			points = append(points, loaded.Points()...)
		}
		return nil
	}))
	return points
}

// hours is a file of hourly prices from the start of the tests on, in $/MWh.
func hours(prices ...float64) string {
	var b strings.Builder
	b.WriteString("start,price_usd_mwh\n")
	for i, p := range prices {
		fmt.Fprintf(&b, "%s,%v\n", storagetest.Start.Truncate(time.Hour).Add(time.Duration(i)*time.Hour).Format(time.RFC3339), p)
	}
	return b.String()
}

// text responds with a body.
func text(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) }
}

// status responds with a status and a header.
func status(code int, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
