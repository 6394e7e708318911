package doctor

import (
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gofrs/flock"

	"github.com/gridhook/gridhook/config"
)

func TestProcess_Ready(t *testing.T) {
	status, dead, counted := http.StatusOK, 0, true
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/readyz":
			w.WriteHeader(status)
			_, _ = w.Write([]byte(`{"status":"not ready","reason":"the store is full"}`))
		case "/metrics":
			if counted {
				_, _ = fmt.Fprintf(w, "# HELP gridhook_dead_letters x\ngridhook_dead_letters %d\n", dead)
			}
		default:
			t.Errorf("unexpected request of %s", r.URL)
		}
	}))
	defer s.Close()
	r := examine(t, config.Serve, nil, "--admin", s.Listener.Addr().(*net.TCPAddr).String())
	r.want(t, "process", OK, "is ready")
	r.want(t, "dead letters", OK, "none")
	dead = 3
	r = examine(t, config.Serve, nil, "--admin", s.Listener.Addr().String())
	r.want(t, "dead letters", Warning, "3 messages could not be processed")
	dead = 1
	r = examine(t, config.Serve, nil, "--admin", s.Listener.Addr().String())
	r.want(t, "dead letters", Warning, "1 message could not be processed")
	counted = false
	r = examine(t, config.Serve, nil, "--admin", s.Listener.Addr().String())
	r.want(t, "dead letters", Unknown, "does not report them -> check /metrics")
	status = http.StatusServiceUnavailable
	r = examine(t, config.Serve, nil, "--admin", s.Listener.Addr().String())
	r.want(t, "process", Problem, "the store is full")
}

// TestProcess_Unknown checks that only a refused connection means that no process
// runs. An unexpected response is reported as unknown.
func TestProcess_Unknown(t *testing.T) {
	ready := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"status":"ready"}`)) })
	plain, secure, foreign := httptest.NewServer(ready), httptest.NewTLSServer(ready), httptest.NewServer(http.NotFoundHandler())
	json := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"health":"ready"}`)) }))
	defer json.Close()
	defer plain.Close()
	defer foreign.Close()
	defer secure.Close()
	certificate := func(der []byte) string {
		path := filepath.Join(t.TempDir(), "cert.pem")
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	own, other := certificate(secure.Certificate().Raw), certificate([]byte("another"))
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	go func() {
		for conn, err := silent.Accept(); err == nil; conn, err = silent.Accept() {
			_ = conn.Close()
		}
	}()
	on := func(address net.Addr, certificate string) *config.Config {
		c := &config.Config{Admin: address.String()}
		if certificate != "" {
			c.AdminTLS = config.KeyPair{Certificate: certificate, Key: certificate}
		}
		return c
	}
	anywhere := &config.Config{Admin: ":" + portOf(t, plain.Listener.Addr())}
	for _, test := range []struct {
		config *config.Config
		want   Status
		says   string
	}{
		{&config.Config{Admin: "127.0.0.1:1"}, OK, "not running"},
		{&config.Config{Admin: ":1"}, OK, "not running"},
		{on(plain.Listener.Addr(), ""), OK, "is ready"},
		{anywhere, OK, "is ready"},
		{on(secure.Listener.Addr(), own), OK, "is ready"},
		{on(secure.Listener.Addr(), other), Unknown, "its certificate differs from the certificate in " + other},
		{on(plain.Listener.Addr(), own), Unknown, "query of the process on"},
		{on(foreign.Listener.Addr(), ""), Problem, "is not Gridhook"},
		{on(json.Listener.Addr(), ""), Problem, "is not Gridhook"},
		{on(silent.Addr(), ""), Unknown, "query of the process on"},
		{on(silent.Addr(), written(t, filepath.Join(t.TempDir(), "empty.pem"), nil)), Unknown, "empty.pem has no certificate"},
		{on(silent.Addr(), filepath.Join(t.TempDir(), "none")), Unknown, "no such file"},
	} {
		var r Report
		r.running(t.Context(), test.config)
		r.want(t, "process", test.want, test.says)
	}
}

// TestProcess_Addresses checks that an address of another program is a problem only if the
// process does not run.
func TestProcess_Addresses(t *testing.T) {
	held, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	running := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"status":"ready"}`)) }))
	defer running.Close()
	taken, stopped := held.Addr().String(), "127.0.0.1:1"
	for _, test := range []struct {
		config config.Config
		says   string
	}{
		{config.Config{Role: config.Serve, Admin: stopped, HTTP: taken}, "address " + taken + " is in use: stop the other process, or set another address"},
		{config.Config{Role: config.Serve, Admin: stopped, HTTP: "127.0.0.1:0", MQTT: taken}, "address " + taken + " is in use"},
		{config.Config{Role: config.Worker, Admin: stopped, HTTP: taken}, ""},
		{config.Config{Role: config.API, Admin: stopped, HTTP: "127.0.0.1:0", MQTT: taken}, ""},
		{config.Config{Role: config.Serve, Admin: stopped, HTTP: "127.0.0.1:0"}, ""},
		{config.Config{Role: config.API, Admin: running.Listener.Addr().String(), HTTP: taken}, ""},
	} {
		var r Report
		r.running(t.Context(), &test.config)
		if got := r.of("addresses"); test.says == "" && got != "" || !strings.Contains(got, test.says) {
			t.Errorf("%+v: %q, want %q", test.config, got, test.says)
		}
	}
}

func portOf(t *testing.T, address net.Addr) string {
	t.Helper()
	_, port, err := net.SplitHostPort(address.String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// TestProcess_DataFolder checks that the doctor finds a data folder that another process
// holds, and a process that holds another one.
func TestProcess_DataFolder(t *testing.T) {
	held, free := t.TempDir(), t.TempDir()
	lock := flock.New(filepath.Join(held, "lock"))
	if ok, err := lock.TryLock(); err != nil || !ok {
		t.Fatal(ok, err)
	}
	defer func() { _ = lock.Unlock() }()
	if err := os.WriteFile(filepath.Join(held, "lock"), []byte("4711\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	running := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"status":"ready"}`)) }))
	defer running.Close()
	const none = "127.0.0.1:1"
	for _, test := range []struct {
		admin, data, says string
	}{
		{none, held, held + " is in use by another gridhook (process 4711)"},
		{none, free, ""},
		{running.Listener.Addr().String(), held, ""},
		{running.Listener.Addr().String(), free, "does not use " + free},
	} {
		var r Report
		r.running(t.Context(), &config.Config{Role: config.Worker, Admin: test.admin, Data: test.data})
		if got := r.of("data folder"); test.says == "" && got != "" || !strings.Contains(got, test.says) {
			t.Errorf("a process on %s, the folder %s: %q, want %q", test.admin, test.data, got, test.says)
		}
	}
}
