package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gridhook/gridhook/config"
)

// fake is a server with a list of responses for each path.
type fake struct {
	*httptest.Server
	t *testing.T

	mu       sync.Mutex
	answers  map[string][]answer
	requests []request
}

type answer struct {
	status int
	body   string
}

// request is a request as the server received it.
type request struct{ path, org, key, body string }

func newFake(t *testing.T) *fake {
	f := &fake{t: t, answers: map[string][]answer{"/v1/admin/organizations/acme/get": {ok(`{"id":"acme"}`)}}}
	f.Server = httptest.NewServer(f)
	t.Cleanup(f.Close)
	return f
}

// on sets the responses of a path. The last one is repeated.
func (f *fake) on(path string, answers ...answer) {
	f.answers[path] = answers
}

func ok(body string) answer { return answer{http.StatusOK, body} }

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		f.t.Errorf("read %s: %v", r.URL, err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.requests = append(f.requests, request{r.URL.Path, r.Header.Get("x-gridhook-organization"), r.Header.Get("x-ws-api-key"), string(body)})
	answers := f.answers[r.URL.Path]
	if len(answers) == 0 {
		f.t.Errorf("unexpected request %s", r.URL.Path)
		w.WriteHeader(http.StatusNotFound)
		return
	}
	if len(answers) > 1 {
		f.answers[r.URL.Path] = answers[1:]
	}
	w.WriteHeader(answers[0].status)
	_, _ = io.WriteString(w, answers[0].body) // the command must not send it
}

// last returns the newest request.
func (f *fake) last() request { return f.newest("") }

// newest returns the newest request of a path, or of all paths.
func (f *fake) newest(path string) request {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range slices.Backward(f.requests) {
		if path == "" || r.path == path {
			return r
		}
	}
	f.t.Fatalf("no request was sent to %q", path)
	return request{}
}

// result is the result of a command line.
type result struct {
	code     int
	out, err string
}

const testKey = "gho_0123456789abcdef"

// run runs a command line against a server, with no other environment variables.
func run(t *testing.T, f *fake, stdin string, args []string, environ ...string) result {
	t.Helper()
	return runWith(t, f, stdin, args, func(*globals) {}, environ...)
}

// runWith runs a command line after a change of its globals.
func runWith(t *testing.T, f *fake, stdin string, args []string, change func(*globals), environ ...string) result {
	t.Helper()
	var out, errs bytes.Buffer
	g := &globals{
		in: strings.NewReader(stdin), out: &out, err: &errs, pollEvery: time.Microsecond, progressEvery: time.Hour,
		environ: append(slices.Clone(environ), "GRIDHOOK_OPERATOR_KEY="+testKey, contextsEnv+"="+filepath.Join(t.TempDir(), "contexts.yaml")),
		version: version{Version: "v1.2.3", Go: "go1.26", Platform: "linux/amd64"},
		run: func(context.Context, config.Config, string, io.Writer) error {
			t.Error("a server was started")
			return nil
		},
	}
	if f != nil {
		g.environ = append(g.environ, "GRIDHOOK_ADMIN_URL="+f.URL)
	}
	change(g)
	code := g.execute(t.Context(), args)
	return result{code, out.String(), errs.String()}
}

// sameJSON compares two texts as JSON.
func sameJSON(t *testing.T, got, want string) bool {
	t.Helper()
	var a, b any
	if err := json.Unmarshal([]byte(got), &a); err != nil {
		t.Errorf("%q is not JSON: %v", got, err)
	}
	if err := json.Unmarshal([]byte(want), &b); err != nil {
		t.Fatalf("%q is not JSON: %v", want, err)
	}
	x, _ := json.Marshal(a) // it was valid JSON before
	y, _ := json.Marshal(b)
	return bytes.Equal(x, y)
}
