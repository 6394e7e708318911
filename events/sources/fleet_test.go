package sources

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/events/embedded"
	"github.com/gridhook/gridhook/events/jetstream"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/replica"
	"github.com/gridhook/gridhook/storage/vault"
)

// fleet are processes that run sources on one NATS.
type fleet struct {
	t      *testing.T
	server *embedded.Server
	url    string
	// asked receives a request of a run, which waits for its response.
	asked chan request
}

// request is a run that waits for the response of the operator's server.
type request struct {
	process string
	path    string
	answer  chan string
	gone    <-chan struct{}
}

// process is one process of a fleet.
type process struct {
	*Runner
	conn *jetstream.Conn
	kill func()
}

func newFleet(t *testing.T) *fleet {
	server, err := embedded.Start(embedded.Options{Dir: filepath.Join(t.TempDir(), "nats"), StartTimeout: time.Minute, Log: slog.New(slog.DiscardHandler)})
	must(t, err)
	t.Cleanup(func() { must(t, server.Stop(time.Minute)) })
	f := &fleet{t: t, server: server, asked: make(chan request)}
	operator := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := request{r.UserAgent(), r.URL.Path, make(chan string), r.Context().Done()}
		select {
		case f.asked <- q:
		case <-q.gone:
			return
		}
		select {
		case body := <-q.answer:
			_, _ = w.Write([]byte(body))
		case <-q.gone:
		}
	}))
	t.Cleanup(operator.Close)
	f.url = operator.URL
	return f
}

// named is a client whose requests name the process.
type named string

func (n named) Do(r *http.Request) (*http.Response, error) {
	r.Header.Set("User-Agent", string(n))
	return http.DefaultClient.Do(r)
}

func (f *fleet) start(name string) *process {
	t := f.t
	ctx, cancel := context.WithCancel(context.Background())
	log := slog.New(slog.DiscardHandler)
	conn, err := jetstream.Connect(ctx, "", jetstream.Options{Replicas: 1, TriggersAge: time.Hour, ReceiptsAge: time.Hour}, log, f.server.Option())
	must(t, err)
	r, err := replica.Open(filepath.Join(t.TempDir(), "state.db"), log)
	must(t, err)
	var parts sync.WaitGroup
	parts.Go(func() { _ = r.Follow(ctx, conn.StateLog()) })
	store := storage.NewStore(conn.StateLog(), r, time.Now)
	must(t, store.CatchUp(ctx))
	v, err := vault.Open(ctx, store)
	must(t, err)
	p := &process{conn: conn, Runner: New(Deps{
		Store: store, Vault: v, Client: named(name), Tasks: conn, Notices: conn, Log: log, Registerer: prometheus.NewRegistry(), Now: time.Now,
	})}
	parts.Go(func() { _ = p.Run(ctx) })
	// Without its connection the process cannot return its task: it is killed.
	p.kill = sync.OnceFunc(func() {
		_ = conn.Close()
		cancel()
		parts.Wait()
		must(t, r.Close())
	})
	t.Cleanup(p.kill)
	return p
}

// next returns the next request of a run.
func (f *fleet) next() request {
	f.t.Helper()
	select {
	case q := <-f.asked:
		return q
	case <-time.After(2 * time.Minute):
		f.t.Fatal("no run asks within two minutes")
		return request{}
	}
}

// none fails the test if a run is in progress.
func (f *fleet) none() {
	f.t.Helper()
	select {
	case <-f.asked:
		f.t.Error("a run is made twice")
	default:
	}
}

// runs waits until a process sees a number of recorded runs, and returns the state.
func (p *process) runs(t *testing.T, s *storage.Source, n int) (state storage.SourceState) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); len(state.Runs) < n; {
		if time.Now().After(deadline) {
			t.Fatalf("%d of %d runs within two minutes", len(state.Runs), n)
		}
		last := p.Store.Revision()
		must(t, p.Store.View(func(v storage.View) error {
			_, revision, err := storage.Read[storage.Source](v, s.Ref())
			if err == nil {
				state, err = storage.ReadSourceState(v, s, revision)
			}
			return err
		}))
		if len(state.Runs) < n {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			_ = p.Store.WaitFor(ctx, last+1)
			cancel()
		}
	}
	return state
}

// TestFleet_EachRunOnce has three processes. Each run is made once. The run of a killed
// process is repeated by another.
func TestFleet_EachRunOnce(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	all := map[string]*process{"a": f.start("a"), "b": f.start("b"), "c": f.start("c")}
	a := all["a"]
	s := storage.Source{ID: "hub", Base: storage.Base{OrganizationID: storage.Shared}, SourceSettings: storage.SourceSettings{
		Adapter: "csv", URL: f.url, Parameters: map[string]string{"node": "HUB"}, Enabled: true, EverySeconds: 86400, Timezone: "UTC",
	}}
	must(t, a.Store.Create(t.Context(), &s))
	revision := a.Store.Revision()
	const rounds = 3
	for i := range rounds {
		due := time.Now()
		if i == 0 {
			due = s.UpdatedAt.Time // a runner may have put this run too
		}
		must(t, a.conn.PutTask(t.Context(), events.TaskOf(s.Ref(), revision, due)))
		f.next().answer <- file(20 + i)
		if state := a.runs(t, &s, i+1); state.Runs[0].Outcome != storage.SourceStored {
			t.Fatalf("round %d: %+v", i, state.Runs[0])
		}
	}
	f.none()

	must(t, a.conn.PutTask(t.Context(), events.TaskOf(s.Ref(), revision, time.Now())))
	killed := f.next().process
	all[killed].kill()
	again := f.next()
	again.answer <- file(50)
	if state := all[again.process].runs(t, &s, rounds+1); len(state.Runs) != rounds+1 || state.Runs[0].Outcome != storage.SourceStored || again.process == killed {
		t.Errorf("after the kill the runs are %+v", state.Runs)
	}
	f.none()
}

// TestFleet_OrganizationThatHangs has an organization with more sources than a process has
// slots. Their server hangs. Another organization's source runs meanwhile, and the rest runs
// later.
func TestFleet_OrganizationThatHangs(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	p := f.start("a")
	for i := range slots + 1 {
		org := map[bool]string{true: "bolt", false: "acme"}[i == slots]
		s := storage.Source{ID: "s" + strconv.Itoa(i), Base: storage.Base{OrganizationID: org}, SourceSettings: storage.SourceSettings{
			Adapter: "csv", URL: f.url + "/" + org, Parameters: map[string]string{"node": "HUB"}, Enabled: true, EverySeconds: 86400, Timezone: "UTC",
		}}
		if i%slots == 0 {
			must(t, p.Store.Create(t.Context(), &storage.Organization{ID: org, Name: org, Base: storage.Base{OrganizationID: storage.Shared}}))
		}
		must(t, p.Store.Create(t.Context(), &s))
		must(t, p.conn.PutNewTask(t.Context(), events.TaskOf(s.Ref(), p.Store.Revision(), s.UpdatedAt.Time)))
	}
	var hanging []request
	for q := f.next(); q.path != "/bolt"; q = f.next() {
		if hanging = append(hanging, q); len(hanging) > share {
			t.Fatalf("%d runs of one organization are in progress", len(hanging))
		}
	}
	for _, q := range hanging {
		q.answer <- file(20)
	}
	for range slots - len(hanging) {
		f.next().answer <- file(20)
	}
}

// file is a file of one price.
func file(price int) string {
	return "start,price_usd_mwh\n" + time.Now().UTC().Truncate(time.Hour).Format(time.RFC3339) + "," + strconv.Itoa(price) + "\n"
}
