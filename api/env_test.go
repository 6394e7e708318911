package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gridhook/gridhook/api"
	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/events/embedded"
	"github.com/gridhook/gridhook/events/jetstream"
	"github.com/gridhook/gridhook/events/ledger"
	"github.com/gridhook/gridhook/pricing/catalog"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/replica"
	"github.com/gridhook/gridhook/storage/signals"
	"github.com/gridhook/gridhook/storage/vault"
)

// operatorKey opens the admin listener of a test.
const operatorKey = "gho_0123456789abcdef"

// start is the time at the beginning of each test.
var start = time.Date(2026, 7, 1, 12, 7, 30, 0, time.UTC)

// env is a complete API on a real log of record, with a clock that the test controls.
type env struct {
	t        *testing.T
	store    *storage.Store
	vault    *vault.Vault
	registry *prometheus.Registry
	log      *syncBuffer
	nats     *embedded.Server
	deps     api.Deps
	tasks    *waitingTasks
	bus      *jetstream.Conn
	quota    events.Quota // of processes that start later

	public, admin *listening

	mu  sync.Mutex
	now time.Time
}

// tester responds to every test webhook.
type tester struct{}

func (tester) SendTest(_ context.Context, e storage.WebhookEndpoint) (events.Delivery, error) {
	return events.Delivery{MessageID: "msg_1", EndpointID: e.ID, Outcome: events.OutcomeDelivered, Attempt: 1, Status: 204, At: storage.Time{Time: start}}, nil
}

func (tester) Message(e storage.WebhookEndpoint, t *events.Trigger, signal signals.Signal, f storage.SignalFormat) (body []byte, headers map[string]string, err error) {
	body = fmt.Appendf(nil, `{"home":%q,"format":%q,"revision":%d}`, signal.HomeID, f, signal.Revision)
	return body, map[string]string{"Webhook-Id": events.MessageID(t.ID, signal.HomeID, e.ID), "Webhook-Timestamp": "1", "Webhook-Signature": "v1,signed"}, nil
}

func (tester) Verify(_ context.Context, rawURL string) error {
	if strings.HasSuffix(rawURL, "/mute") {
		return errors.New("did not echo the challenge")
	}
	return nil
}

func (tester) TestChannel(_ context.Context, c storage.Channel) events.ChannelTest {
	return events.ChannelTest{Delivered: c.Kind != storage.ChannelEmail}
}

// checker responds to every check of a source.
type checker struct{}

func (checker) Check(context.Context, storage.Source) (events.SourceCheck, error) {
	at := storage.Time{Time: start}
	return events.SourceCheck{
		SourceRun: storage.SourceRun{At: at, Outcome: storage.SourceStored, Requests: 1, Added: 2}, Alerts: []storage.PlanEvent{},
		Prices: []events.SourcePrices{{Node: "NP15", Market: "DAY_AHEAD", StepMinutes: 60, StartTime: at, EndTime: at, Prices: 2, Lowest: 0.01, Highest: 0.02}},
	}, nil
}

// publicOnly is a destination policy that refuses loopback addresses.
func publicOnly(url string) error {
	if strings.Contains(url, "localhost") {
		return &storage.InvalidError{Fields: []storage.FieldError{{Field: "url", Message: "must not lead to this machine"}}}
	}
	return nil
}

// newEnv returns the environment of a test that runs beside others.
func newEnv(t *testing.T, options rest.Options) *env {
	t.Helper()
	t.Parallel()
	return startEnv(t, options)
}

func startEnv(t *testing.T, options rest.Options) *env {
	t.Helper()
	e := &env{t: t, tasks: &waitingTasks{}, now: start, registry: prometheus.NewRegistry(), log: &syncBuffer{}}
	log := slog.New(slog.NewJSONHandler(e.log, nil))
	dir := t.TempDir()
	server, err := embedded.Start(embedded.Options{Dir: filepath.Join(dir, "nats"), StartTimeout: time.Minute, Log: slog.New(slog.DiscardHandler)})
	must(t, err)
	t.Cleanup(func() { must(t, server.Stop(time.Minute)) })
	e.nats = server
	e.deps = e.process(log)
	e.store, e.vault = e.deps.Store, e.deps.Vault
	e.deps.Registerer = e.registry
	e.public = e.serve(publicAPI(e.deps, options))
	admin := e.deps
	admin.Registerer = nil
	e.admin = listen(t, bare(adminAPI(admin, options)))
	return e
}

// process has the parts of one process: a connection, a replica and a ledger.
func (e *env) process(log *slog.Logger) api.Deps {
	t, dir := e.t, e.t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	conn, err := jetstream.Connect(ctx, "", jetstream.Options{Replicas: 1, TriggersAge: 100 * time.Hour, ReceiptsAge: 100 * time.Hour}, slog.New(slog.DiscardHandler), e.nats.Option())
	must(t, err)
	e.bus = conn
	t.Cleanup(func() { must(t, conn.Close()) })
	r, err := replica.Open(filepath.Join(dir, "state.db"), log)
	must(t, err)
	l, err := ledger.Open(filepath.Join(dir, "ledger.db"), ledger.Options{Keep: 100 * time.Hour, Quota: e.quota, Log: log, Now: e.clock})
	must(t, err)
	var followers sync.WaitGroup
	followers.Go(func() { _ = r.Follow(ctx, conn.StateLog()) })
	followers.Go(func() { _ = l.Follow(ctx, conn) })
	t.Cleanup(func() {
		cancel()
		followers.Wait()
		must(t, r.Close())
		must(t, l.Close())
	})
	store := storage.NewStore(conn.StateLog(), r, e.clock)
	must(t, store.CatchUp(ctx))
	must(t, l.AwaitReceipts(ctx)) // a ledger that is behind refuses no trigger
	v, err := vault.Open(ctx, store)
	must(t, err)
	return api.Deps{
		Deps:     rest.Deps{Store: store, Requests: conn, LastUsed: rest.NewLastUsed(store, log), Audit: conn, Log: log},
		Feedback: conn, Pricer: signals.NewPricer(64), Vault: v, Triggers: l.Log(conn), Ledger: l, Tasks: e.tasks,
		Destinations: publicOnly, Tester: tester{}, Email: true, Relay: briefRelay{conn}, Sources: checker{}, Estimates: api.NewEstimates(0, nil), Breakers: &events.Breakers{}, OperatorKey: operatorKey,
	}
}

// another returns the public address of another process on the same log of record.
func (e *env) another(o rest.Options) (url string) {
	return e.serve(publicAPI(e.process(slog.New(slog.DiscardHandler)), o)).URL
}

// listening is a server of a test.
type listening struct {
	URL   string
	close func()
}

// Close waits until all responses are written and logged.
func (l *listening) Close() { l.close() }

// serve serves the partners' operations as the process does.
func (e *env) serve(h http.Handler) *listening {
	return listen(e.t, bare(h))
}

func bare(h http.Handler) *http.Server {
	return newHTTPServer(h, &http.Server{})
}

// listen serves on loopback until the test ends.
func listen(t *testing.T, s *http.Server) *listening {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	must(t, err)
	served := make(chan error, 1)
	go func() { served <- s.Serve(rest.Listen(l, nil, nil, slog.New(slog.DiscardHandler))) }()
	stop := sync.OnceFunc(func() {
		if err := s.Shutdown(context.Background()); err != nil {
			t.Errorf("stop: %v", err)
		}
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("serve: %v", err)
		}
	})
	t.Cleanup(stop)
	return &listening{"http://" + l.Addr().String(), stop}
}

func (e *env) clock() time.Time {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.now
}

// pass advances the clock.
func (e *env) pass(d time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.now = e.now.Add(d)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// answer is the response to a request.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// object returns the response's JSON object.
func (a answer) object(t *testing.T) map[string]any {
	t.Helper()
	var o map[string]any
	if err := json.Unmarshal(a.body, &o); err != nil {
		t.Fatalf("the response is not a JSON object: %v\n%s", err, a.body)
	}
	return o
}

func (a answer) code(t *testing.T) string {
	t.Helper()
	code, _ := a.object(t)["error_code"].(string)
	return code
}

// fields returns the names of the wrong fields.
func (a answer) fields(t *testing.T) []string {
	t.Helper()
	if a.status == http.StatusOK {
		return nil
	}
	var o struct {
		Fields []storage.FieldError `json:"field_errors"`
	}
	must(t, json.Unmarshal(a.body, &o))
	names := []string{}
	for _, f := range o.Fields {
		names = append(names, f.Field)
	}
	return names
}

// request is a request that the test builds.
type request struct {
	url, method, body string
	header            http.Header
}

func (e *env) send(r request) answer {
	e.t.Helper()
	if r.method == "" {
		r.method = http.MethodPost
	}
	req, err := http.NewRequestWithContext(e.t.Context(), r.method, r.url, strings.NewReader(r.body))
	must(e.t, err)
	for name, values := range r.header {
		req.Header[http.CanonicalHeaderKey(name)] = values
	}
	if r.body != "" && req.Header.Get("Content-Type") == "" {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	must(e.t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	must(e.t, err)
	a := answer{res.StatusCode, res.Header, body}
	e.conforms(r, a)
	return a
}

// ask sends a partner's request.
func (e *env) ask(key, path, body string) answer {
	e.t.Helper()
	return e.send(request{url: e.public.URL + path, body: body, header: http.Header{rest.KeyHeader: {key}}})
}

// operate sends the operator's request.
func (e *env) operate(path, body string) answer {
	e.t.Helper()
	return e.send(request{url: e.admin.URL + path, body: body, header: http.Header{rest.KeyHeader: {operatorKey}}})
}

// operateFor sends a partner's operation with the operator's key.
func (e *env) operateFor(org, path, body string) answer {
	e.t.Helper()
	return e.send(request{url: e.admin.URL + path, body: body, header: http.Header{rest.KeyHeader: {operatorKey}, rest.OrganizationHeader: {org}}})
}

// load imports lines, all of which must be valid.
func (e *env) load(lines ...string) {
	e.t.Helper()
	a := e.importLines(strings.Join(lines, "\n"))
	if a.status != http.StatusOK || a.object(e.t)["failed"].(float64) != 0 {
		e.t.Fatalf("import: %d %s", a.status, a.body)
	}
}

func (e *env) importLines(ndjson string) answer {
	e.t.Helper()
	return e.send(request{url: e.admin.URL + "/v1/admin/import", body: ndjson, header: http.Header{
		rest.KeyHeader: {operatorKey}, "Content-Type": {"application/x-ndjson"},
	}})
}

// importMeter imports a Green Button file by an operation's path.
func (e *env) importMeter(org, path, file string, more http.Header) answer {
	e.t.Helper()
	header := http.Header{rest.KeyHeader: {operatorKey}, rest.OrganizationHeader: {org}, "Content-Type": {"application/xml"}}
	maps.Copy(header, more)
	return e.send(request{url: e.admin.URL + path, body: file, header: header})
}

// key creates an API key of an organization, by default with all scopes.
func (e *env) key(org string, scopes ...storage.Scope) string {
	e.t.Helper()
	in := map[string]any{"organizationId": org}
	if len(scopes) > 0 {
		in["scopes"] = scopes
	}
	body, err := json.Marshal(in)
	must(e.t, err)
	a := e.operate("/v1/admin/keys/create", string(body))
	if a.status != http.StatusOK {
		e.t.Fatalf("create a key: %d %s", a.status, a.body)
	}
	return a.object(e.t)["key"].(string)
}

// twoTenants creates two organizations with a home each. Acme's home has a real tariff.
func (e *env) twoTenants() (acme, bolt string) {
	e.t.Helper()
	e.load(
		`{"resource":"organization","id":"acme","name":"Acme"}`,
		`{"resource":"organization","id":"bolt","name":"Bolt"}`,
		`{"resource":"ratePlan","id":"plan1","tariff":`+compact(e.t, catalog.Plans()[0].URDB)+`}`,
		`{"resource":"home","organizationId":"acme","id":"home1","ratePlanId":"plan1","timezone":"America/Los_Angeles"}`,
		`{"resource":"home","organizationId":"bolt","id":"home2","timezone":"America/Chicago"}`,
	)
	return e.key("acme"), e.key("bolt")
}

func compact(t *testing.T, text []byte) string {
	t.Helper()
	var b bytes.Buffer
	must(t, json.Compact(&b, text))
	return b.String()
}

// expect checks the status and the error code.
func (a answer) expect(t *testing.T, status int, code string) answer {
	t.Helper()
	got := ""
	if a.status != http.StatusOK {
		got = a.code(t)
	}
	if a.status != status || got != code {
		t.Fatalf("response %d %s, want %d %s\n%s", a.status, got, status, code, a.body)
	}
	return a
}

// ok checks that the response is 200 and returns its object.
func (a answer) ok(t *testing.T) map[string]any {
	t.Helper()
	return a.expect(t, http.StatusOK, "").object(t)
}

// syncBuffer is a buffer that a logger and a test share.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}
