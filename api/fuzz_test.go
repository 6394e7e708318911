package api_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/api"
	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/events/ledger"
	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/signals"
	"github.com/gridhook/gridhook/storage/storagetest"
	"github.com/gridhook/gridhook/storage/vault"
)

// nothing accepts triggers and stores none.
type nothing struct{}

func (nothing) Admit(context.Context, events.Trigger) error            { return nil }
func (nothing) Accept(context.Context, events.Trigger) (uint64, error) { return 1, nil }
func (nothing) FirstRequest(context.Context, events.Trigger) (events.Trigger, error) {
	return events.Trigger{}, nil
}

func (nothing) Newest(context.Context, string) (events.Trigger, error) {
	return events.Trigger{}, nil
}

// unavailable is a relay without clients, and takes no tasks.
type unavailable struct{}

func (unavailable) ListenRelay(context.Context, string, string) (events.RelaySubscription, error) {
	return nil, storage.ErrUnavailable
}
func (unavailable) PutTask(context.Context, events.Task) error { return storage.ErrUnavailable }
func (unavailable) RespondRelay(string, string, events.RelayResponse) error {
	return storage.ErrUnavailable
}

// memory is a complete API in memory, for many requests per second.
type memory struct {
	public, admin http.Handler
	key           string
	log           *storagetest.Log
	replica       *storagetest.Replica
}

func newMemory(f testing.TB, change ...func(*api.Deps)) *memory {
	f.Helper()
	clock := func() time.Time { return start }
	store, log, replica := storagetest.NewStore(clock)
	v, err := vault.Open(f.Context(), store)
	if err != nil {
		f.Fatal(err)
	}
	key, text := storage.NewKey("acme", start)
	acme := &storage.Organization{ID: "acme", Name: "Acme", Base: storage.Base{OrganizationID: storage.Shared}}
	storagetest.Put(f, store, acme, &key, storagetest.RatePlan("acme", "plan", 0.25), storagetest.Home("acme", "home", "plan"))
	logs := &sideLogs{}
	empty, err := ledger.Open(filepath.Join(f.TempDir(), "ledger.db"), ledger.Options{Log: slog.New(slog.DiscardHandler), Now: clock})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = empty.Close() })
	deps := api.Deps{
		Deps:     rest.Deps{Store: store, Requests: logs, Audit: logs, Log: slog.New(slog.DiscardHandler)},
		Feedback: logs, Pricer: signals.NewPricer(16), Vault: v, Triggers: nothing{}, Ledger: empty,
		Destinations: publicOnly, Tester: tester{}, Email: true, Sources: checker{}, Relay: unavailable{}, Tasks: unavailable{}, Estimates: api.NewEstimates(0, nil), Breakers: &events.Breakers{}, OperatorKey: operatorKey,
	}
	for _, change := range change {
		change(&deps)
	}
	o := rest.Options{Rate: 1e12, Burst: 1 << 40, FeedbackRate: 1e12, FeedbackBurst: 1 << 40}
	return &memory{public: publicAPI(deps, o), admin: adminAPI(deps, o), key: text, log: log, replica: replica}
}

// ask sends a request and reads the response, which must be JSON and not a server error.
func (m *memory) ask(t *testing.T, h http.Handler, path, body string, header http.Header) (status int, answer map[string]any) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(body))
	r.URL = &url.URL{Path: path}
	if decoded, err := url.PathUnescape(path); err == nil {
		r.URL = &url.URL{Path: decoded, RawPath: path}
	}
	r.Header = header
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
		t.Fatalf("%s with %q: response %d %q: %v", path, body, w.Code, w.Body, err)
	}
	if w.Code >= http.StatusInternalServerError {
		t.Fatalf("%s with %q: response %d %s", path, body, w.Code, w.Body)
	}
	if w.Code == http.StatusOK {
		return w.Code, answer
	}
	if answer["error_code"] == "" || answer["request_id"] == "" || answer["message"] == "" {
		t.Fatalf("%s with %q: an error without a message: %s", path, body, w.Body)
	}
	if fields, _ := answer["field_errors"].([]any); w.Code == http.StatusBadRequest && len(fields) == 0 {
		t.Fatalf("%s with %q: a validation error without a field: %s", path, body, w.Body)
	}
	return w.Code, answer
}

func operator(contentType string) http.Header {
	h := http.Header{}
	h.Set(rest.KeyHeader, operatorKey)
	h.Set(rest.OrganizationHeader, "acme")
	h.Set("Content-Type", contentType)
	return h
}

// FuzzOperation calls any operation with any identifier and any body.
func FuzzOperation(f *testing.F) {
	routes, examples := api.Routes(), api.RequestExamples()
	for i, r := range routes {
		f.Add(uint8(i), "home", []byte(examples[r.Name]))
	}
	f.Add(uint8(0), "%2e%2e", []byte(`{"a":{"b":[null,1e999,"\ud800"]}}`))
	m := newMemory(f)
	f.Fuzz(func(t *testing.T, operation uint8, id string, body []byte) {
		r := routes[int(operation)%len(routes)]
		contentType, _ := bodyOf(r)
		m.ask(t, m.admin, path(r, url.PathEscape(id)), string(body), operator(contentType))
	})
}

// FuzzImport imports any lines: the report counts each once.
func FuzzImport(f *testing.F) {
	f.Add([]byte(api.RequestExamples()["import"]))
	f.Add([]byte("{\"resource\":\"home\"}\n\n[]\r\n{\"resource\":\"area\",\"area\":\"IL\",\"supported\":null}\n\xff"))
	m := newMemory(f)
	f.Fuzz(func(t *testing.T, lines []byte) {
		status, answer := m.ask(t, m.admin, "/v1/admin/import", string(lines), operator("application/x-ndjson"))
		if status != http.StatusOK {
			return
		}
		n := func(field string) int { return int(answer[field].(float64)) }
		if n("created")+n("updated")+n("unchanged")+n("failed") != n("lines") || len(answer["errors"].([]any)) != n("failed") {
			t.Errorf("%q is reported as %v", lines, answer)
		}
	})
}

// FuzzKeyHeader sends any key: only the right key is accepted.
func FuzzKeyHeader(f *testing.F) {
	for _, seed := range []string{"", "ghk_", "ghk_key_1_00", "ghk_a.b_00", "ghk__", operatorKey, "\x00", strings.Repeat("_", 300)} {
		f.Add(seed)
	}
	m := newMemory(f)
	f.Fuzz(func(t *testing.T, key string) {
		header := http.Header{}
		header.Set(rest.KeyHeader, key)
		status, answer := m.ask(t, m.public, "/v1/webhook/endpoints/list", "", header)
		if (status == http.StatusOK) != (key == m.key) {
			t.Errorf("%q: response %d %v", key, status, answer)
		}
	})
}

// FuzzWindow requests prices between any two times. The response covers them with whole
// quarter hours, or an error names them.
func FuzzWindow(f *testing.F) {
	for _, seed := range [][2]string{
		{"2026-07-01T12:00:00Z", "2026-07-02T12:00:00Z"}, {"2026-07-01T12:07:00+05:30", "2026-07-01T12:08:00.5+05:30"},
		{"2026-11-01T00:00:00-05:00", "2026-11-02T00:00:00-06:00"}, {"", "x"}, {"0000-01-01T00:00:00Z", "9999-12-31T23:59:59Z"},
	} {
		f.Add(seed[0], seed[1])
	}
	m := newMemory(f)
	f.Fuzz(func(t *testing.T, from, to string) {
		body, err := json.Marshal(map[string]string{"startTime": from, "endTime": to})
		must(t, err)
		status, answer := m.ask(t, m.admin, "/v1/homes/home/price_signal", string(body), operator("application/json"))
		if status != http.StatusOK {
			for _, wrong := range answer["field_errors"].([]any) {
				if field := wrong.(map[string]any)["field"]; field != "startTime" && field != "endTime" {
					t.Errorf("%s names %v", body, field)
				}
			}
			return
		}
		first, last := moment(t, answer["startTime"]), moment(t, answer["endTime"])
		asked, until := moment(t, from), moment(t, to)
		if first.After(asked) || last.Before(until) || asked.Sub(first) >= pricing.Interval || last.Sub(until) >= pricing.Interval {
			t.Errorf("%s: response from %s to %s", body, first, last)
		}
		if intervals := len(answer["data"].([]any)); first.Add(time.Duration(intervals)*pricing.Interval) != last {
			t.Errorf("%s has %d intervals from %s to %s", body, intervals, first, last)
		}
	})
}

func moment(t *testing.T, text any) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text.(string))
	must(t, err)
	return at
}
