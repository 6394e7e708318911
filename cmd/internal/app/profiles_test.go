package app_test

import (
	"encoding/json"
	"io"
	"net/http"
	"testing"

	"github.com/gridhook/gridhook/api"
	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/cmd/internal/app"
)

// TestProfiles_Access checks that profiles require the operator's key like operations
// do, even on loopback: behind a proxy every client is on loopback.
func TestProfiles_Access(t *testing.T) {
	a := startWith(t, func(o *app.Options) { o.Profiles = true })
	right := a.OperatorKeyText()
	for _, page := range []struct{ method, path string }{
		{http.MethodGet, "/debug/pprof/heap?debug=1"}, {http.MethodPost, api.BackupPath},
	} {
		for _, test := range []struct {
			keys   []string
			status int
			code   string
		}{
			{nil, 401, rest.CodeMissingAPIKey},
			{[]string{""}, 401, rest.CodeMissingAPIKey},
			{[]string{"gho_wrong"}, 401, rest.CodeInvalidAPIKey},
			{[]string{right + "x"}, 401, rest.CodeInvalidAPIKey},
			{[]string{right, "gho_wrong"}, 401, rest.CodeInvalidAPIKey},
			{[]string{right, right}, 401, rest.CodeInvalidAPIKey},
			{[]string{right}, map[string]int{http.MethodGet: 200, http.MethodPost: 400}[page.method], ""},
		} {
			request, err := http.NewRequestWithContext(t.Context(), page.method, a.AdminURL()+page.path, nil)
			if err != nil {
				t.Fatal(err)
			}
			request.Header["X-Ws-Api-Key"] = test.keys
			request.Header.Set("X-Request-Id", "mine")
			status, body := roundTrip(t, request)
			var problem struct {
				Code      string `json:"error_code"`
				RequestID string `json:"request_id"`
				Recovery  string `json:"recovery_action"`
			}
			if test.code != "" {
				if err := json.Unmarshal(body, &problem); err != nil || problem.Code != test.code || problem.RequestID != "mine" || problem.Recovery == "" {
					t.Errorf("%s with %q: %s", page.path, test.keys, body)
				}
			}
			if status != test.status {
				t.Errorf("%s with %q: %d %.200s, want %d", page.path, test.keys, status, body, test.status)
			}
		}
	}
}

func roundTrip(t *testing.T, request *http.Request) (status int, body []byte) {
	t.Helper()
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if body, err = io.ReadAll(response.Body); err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, body
}
