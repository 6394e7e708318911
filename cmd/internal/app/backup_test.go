package app_test

import (
	"io"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/gridhook/gridhook/api"
	"github.com/gridhook/gridhook/cmd/internal/app"
	"github.com/gridhook/gridhook/config"
	"github.com/gridhook/gridhook/events/backup"
)

// TestBackup_Access checks that only the operator gets a backup, and only in a form
// that the client can read.
func TestBackup_Access(t *testing.T) {
	a := startWith(t, func(o *app.Options) { o.TrustedProxies = config.Prefixes{netip.MustParsePrefix("127.0.0.0/8")} })
	_, public, err := backup.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	good := `{"recipients":["` + public + `"]}`
	for _, test := range []struct {
		method, key, body string
		status            int
	}{
		{http.MethodPost, a.OperatorKeyText(), good, http.StatusOK},
		{http.MethodPost, "", good, http.StatusUnauthorized},
		{http.MethodPost, "gho_wrong", good, http.StatusUnauthorized},
		{http.MethodPost, a.OperatorKeyText(), `{"recipients":[]}`, http.StatusBadRequest},
		{http.MethodPost, a.OperatorKeyText(), `{"recipients":["me"]}`, http.StatusBadRequest},
		{http.MethodPost, a.OperatorKeyText(), `{"recipient":"me"}`, http.StatusBadRequest},
		{http.MethodPost, a.OperatorKeyText(), ``, http.StatusBadRequest},
		{http.MethodGet, a.OperatorKeyText(), ``, http.StatusNotFound},
	} {
		status, body := send(t, test.method, a.AdminURL()+api.BackupPath, test.key, test.body)
		if status != test.status || status != http.StatusOK && !strings.Contains(body, `"error_code"`) {
			t.Errorf("%s with %q and %s: %d %s", test.method, test.key, test.body, status, body)
		}
	}
	if status, _ := send(t, http.MethodPost, a.URL()+api.BackupPath, a.OperatorKeyText(), good); status != http.StatusNotFound {
		t.Errorf("the public listener responds %d", status)
	}
	if status, entries := send(t, http.MethodPost, a.AdminURL()+"/v1/admin/audit/list", a.OperatorKeyText(), ""); strings.Count(entries, `"operation":"backup"`) != 1 ||
		!strings.Contains(entries, `"keyId":"operator"`) {
		t.Errorf("the audit log after one backup: %d %s", status, entries)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, a.AdminURL()+api.BackupPath, strings.NewReader(good))
	if err != nil {
		t.Fatal(err)
	}
	request.Header = http.Header{"X-Ws-Api-Key": {a.OperatorKeyText()}, "X-Request-Id": {"mine"}, "X-Forwarded-For": {"192.0.2.9"}}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, response.Body) // the backup is complete then
	_ = response.Body.Close()
	if got := response.Header.Get("X-Request-Id"); got != "mine" {
		t.Errorf("the identifier of the request is %q in the response", got)
	}
	if _, entries := send(t, http.MethodPost, a.AdminURL()+"/v1/admin/audit/list", a.OperatorKeyText(), ""); !strings.Contains(entries, `"requestId":"mine","client":"192.0.2.9"`) {
		t.Errorf("the audit log lacks the identifier of the request or the client behind the proxy: %s", entries)
	}
	defer a.HoldBackups()()
	if status, _ := send(t, http.MethodPost, a.AdminURL()+api.BackupPath, a.OperatorKeyText(), good); status != http.StatusConflict {
		t.Errorf("a second backup at the same time: status %d", status)
	}
}

func send(t *testing.T, method, url, key, body string) (status int, text string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("x-ws-api-key", key)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	b, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(b)
}
