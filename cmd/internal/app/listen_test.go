package app_test

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/cmd/internal/app"
)

func start(t *testing.T) *app.App { return startWith(t, func(*app.Options) {}) }

// startWith starts everything in one process, with the test's options. The test runs
// beside others.
func startWith(t *testing.T, change func(*app.Options)) *app.App {
	t.Helper()
	t.Parallel()
	o := app.Local(t.TempDir(), slog.New(slog.DiscardHandler))
	change(&o)
	a, err := app.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Stop(); err != nil {
			t.Error(err)
		}
	})
	return a
}

// TestAdmin_PathsUnchanged checks that a path is not cleaned. A redirect to a cleaned
// path would turn a POST into a GET.
func TestAdmin_PathsUnchanged(t *testing.T) {
	a := start(t)
	awaitReady(t, a)
	for _, r := range []struct {
		method, path string
		status       int
		has          string
	}{
		{"GET", "/livez", 200, "alive"},
		{"GET", "/readyz", 200, "ready"},
		{"HEAD", "/readyz", 200, ""},
		{"GET", "/metrics", 200, "gridhook_http_requests_total"},
		{"GET", "/openapi.json", 200, "/v1/admin/organizations/list"},
		{"POST", "/metrics", 404, client.CodeNotFound},
		{"POST", "//v1/admin/organizations/list", 404, client.CodeNotFound},
		{"POST", "/v1//admin/organizations/list", 404, client.CodeNotFound},
		{"POST", "/v1/./admin/organizations/list", 404, client.CodeNotFound},
		{"POST", "/v1/admin/organizations/list/", 404, client.CodeNotFound},
		{"POST", "/v1/homes/../admin/organizations/list", 404, client.CodeNotFound},
		{"GET", "//metrics", 404, client.CodeNotFound},
		{"GET", "/%6detrics", 404, client.CodeNotFound},
		{"POST", "/v1/admin/organizations/%2e%2e/get", 400, client.CodeValidationFailed},
	} {
		status, body := ask(t, a, r.method, r.path)
		if status != r.status || !strings.Contains(body, r.has) {
			t.Errorf("%s %s: %d %.200s, want %d with %q", r.method, r.path, status, body, r.status, r.has)
		}
	}
}

// awaitReady waits until a process is ready. One whose first inspection of NATS took too
// long becomes ready with the next.
func awaitReady(t *testing.T, a *app.App) {
	t.Helper()
	for late := time.Now().Add(2 * time.Minute); ; <-time.After(50 * time.Millisecond) {
		status, body := ask(t, a, "GET", "/readyz")
		if status == http.StatusOK {
			return
		}
		if time.Now().After(late) {
			t.Fatalf("timeout: %s", body)
		}
	}
}

// ask sends a path unchanged. The client of net/http would clean it.
func ask(t *testing.T, a *app.App, method, path string) (status int, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, a.AdminURL(), nil)
	if err != nil {
		t.Fatal(err)
	}
	request.URL.Opaque = path
	request.Header.Set("x-ws-api-key", a.OperatorKeyText())
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}
	response, err := (&http.Transport{DialContext: dial, DisableKeepAlives: true}).RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

// TestEligibility_CatalogUtilities checks a zipcode of Commonwealth Edison, whose
// rates come with the product.
func TestEligibility_CatalogUtilities(t *testing.T) {
	a := start(t)
	operator := &client.Client{BaseURL: a.AdminURL(), Key: a.OperatorKeyText()}
	if _, err := operator.CreateOrganization(t.Context(), client.NewOrganization{ID: "acme", Name: "Acme"}); err != nil {
		t.Fatal(err)
	}
	got, err := operator.For("acme").CheckEligibility(t.Context(), "94107")
	if err != nil || !got.TariffData || !got.Supported {
		t.Errorf("94107: %+v %v", got, err)
	}
}

// TestProfiles_OnlyIfEnabled checks that profiles are served only if enabled, and
// never on the public address.
func TestProfiles_OnlyIfEnabled(t *testing.T) {
	without := start(t)
	if status, _ := ask(t, without, "GET", "/debug/pprof/heap"); status != 404 {
		t.Errorf("disabled profiles: status %d", status)
	}
	o := app.Local(t.TempDir(), slog.New(slog.DiscardHandler))
	o.Profiles = true
	with, err := app.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := with.Stop(); err != nil {
			t.Error(err)
		}
	}()
	for path, has := range map[string]string{"/debug/pprof/": "goroutine", "/debug/pprof/goroutine?debug=1": "goroutine profile"} {
		if status, body := ask(t, with, "GET", path); status != 200 || !strings.Contains(body, has) {
			t.Errorf("%s: status %d %.100s", path, status, body)
		}
	}
	response, err := http.Get(with.URL() + "/debug/pprof/heap")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != 404 {
		t.Errorf("profiles on the public address: status %d", response.StatusCode)
	}
}

// A process whose queue has no consumer takes no work, so it is not ready.
func TestReadyz_DamagedQueue(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	at(t, data, func(a *app.App) { awaitReady(t, a) })
	positions, err := filepath.Glob(filepath.Join(data, "nats", "jetstream", "*", "streams", "GRIDHOOK_TRIGGERS", "obs", "starters"))
	if err != nil || len(positions) != 1 {
		t.Fatal(positions, err)
	}
	if err := os.WriteFile(filepath.Join(positions[0], "o.dat"), make([]byte, 19), 0o600); err != nil {
		t.Fatal(err)
	}
	at(t, data, func(a *app.App) {
		for late := time.Now().Add(2 * time.Minute); ; <-time.After(50 * time.Millisecond) {
			status, body := ask(t, a, "GET", "/readyz")
			if status == http.StatusServiceUnavailable && strings.Contains(body, "NATS has not set up a queue") {
				return
			}
			if time.Now().After(late) {
				t.Fatalf("timeout: %d %s", status, body)
			}
		}
	})
}
