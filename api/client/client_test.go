package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// request is a request as a server received it.
type request struct {
	Path, Body string
	Header     http.Header
}

// serve gives the same response to every request, and records the last request.
func serve(t *testing.T, status int, answer string) (*client.Client, *request) {
	t.Helper()
	var got request
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.Method != http.MethodPost {
			t.Errorf("%s %s: %v", r.Method, r.URL, err)
		}
		got = request{r.URL.EscapedPath(), string(body), r.Header}
		w.Header().Set("X-Request-Id", "req_1")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer) // the client must not send it
	}))
	t.Cleanup(server.Close)
	return &client.Client{BaseURL: server.URL + "/", Key: "ghk_1", HTTP: server.Client()}, &got
}

func TestOperations(t *testing.T) {
	start := storage.Time{Time: time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)}
	no := false
	tests := []struct {
		name       string
		call       func(context.Context, *client.Client) error
		path, body string
	}{
		{"create organization", func(ctx context.Context, c *client.Client) error {
			_, err := c.CreateOrganization(ctx, client.NewOrganization{ID: "acme", Name: "Acme"})
			return err
		}, "/v1/admin/organizations/create", `{"id":"acme","name":"Acme"}`},
		{"list organizations", func(ctx context.Context, c *client.Client) error {
			_, _, err := c.Organizations(ctx, client.Page{Limit: 5, After: "a"})
			return err
		}, "/v1/admin/organizations/list", `{"limit":5,"after":"a"}`},
		{"get organization", func(ctx context.Context, c *client.Client) error {
			_, err := c.GetOrganization(ctx, "a/b")
			return err
		}, "/v1/admin/organizations/a%2Fb/get", `{}`},
		{"create key", func(ctx context.Context, c *client.Client) error {
			_, err := c.CreateKey(ctx, client.NewKey{OrganizationID: "acme", Scopes: []storage.Scope{"read"}, ExpiresAt: &start})
			return err
		}, "/v1/admin/keys/create", `{"organizationId":"acme","scopes":["read"],"expiresAt":"2026-07-01T00:00:00.000Z"}`},
		{"list keys", func(ctx context.Context, c *client.Client) error {
			_, _, err := c.Keys(ctx, "acme", client.Page{})
			return err
		}, "/v1/admin/keys/list", `{"organizationId":"acme"}`},
		{"revoke key", func(ctx context.Context, c *client.Client) error {
			_, err := c.RevokeKey(ctx, "key_1")
			return err
		}, "/v1/admin/keys/key_1/revoke", `{}`},
		{"rotate key", func(ctx context.Context, c *client.Client) error {
			none := 0
			_, err := c.RotateKey(ctx, "key_1", client.Rotation{OverlapSeconds: &none})
			return err
		}, "/v1/admin/keys/key_1/rotate", `{"overlapSeconds":0}`},
		{"create home", func(ctx context.Context, c *client.Client) error {
			_, err := c.CreateHome(ctx, client.NewHome{OrganizationID: "acme", ID: "h", RatePlanID: "p"})
			return err
		}, "/v1/admin/homes/create", `{"organizationId":"acme","id":"h","ratePlanId":"p"}`},
		{"list homes", func(ctx context.Context, c *client.Client) error {
			_, _, err := c.Homes(ctx, "acme", client.Page{Limit: 1})
			return err
		}, "/v1/admin/homes/list", `{"organizationId":"acme","limit":1}`},
		{"get home", func(ctx context.Context, c *client.Client) error {
			_, err := c.GetHome(ctx, "acme", "h")
			return err
		}, "/v1/admin/homes/h/get", `{"organizationId":"acme"}`},
		{"update home", func(ctx context.Context, c *client.Client) error {
			_, err := c.UpdateHome(ctx, "h", client.NewHome{OrganizationID: "acme", RatePlanID: "p"})
			return err
		}, "/v1/admin/homes/h/update", `{"organizationId":"acme","ratePlanId":"p"}`},
		{"delete home", func(ctx context.Context, c *client.Client) error {
			return c.DeleteHome(ctx, "acme", "h")
		}, "/v1/admin/homes/h/delete", `{"organizationId":"acme"}`},
		{"import plan", func(ctx context.Context, c *client.Client) error {
			_, err := c.ImportPlan(ctx, client.NewPlan{ID: "p", Tariff: json.RawMessage(`{"items":[]}`)})
			return err
		}, "/v1/admin/plans/import", `{"id":"p","tariff":{"items":[]}}`},
		{"list plans", func(ctx context.Context, c *client.Client) error {
			_, _, err := c.Plans(ctx, "", client.Page{})
			return err
		}, "/v1/admin/plans/list", `{}`},
		{"get plan", func(ctx context.Context, c *client.Client) error {
			_, err := c.GetPlan(ctx, "acme", "p")
			return err
		}, "/v1/admin/plans/p/get", `{"organizationId":"acme"}`},
		{"delete plan", func(ctx context.Context, c *client.Client) error {
			return c.DeletePlan(ctx, "", "p")
		}, "/v1/admin/plans/p/delete", `{}`},
		{"import", func(ctx context.Context, c *client.Client) error {
			_, err := c.Import(ctx, strings.NewReader("{}\n{}\n"))
			return err
		}, "/v1/admin/import", "{}\n{}\n"},
		{"import Green Button", func(ctx context.Context, c *client.Client) error {
			_, err := c.ImportGreenButton(ctx, "h", strings.NewReader("<feed/>"))
			return err
		}, "/v1/admin/homes/h/import_green_button", "<feed/>"},
		{"trigger", func(ctx context.Context, c *client.Client) error {
			_, err := c.Trigger(ctx, client.TriggerRequest{StartTime: &start, EndTime: &start})
			return err
		}, "/v1/webhook/price_signal/trigger", `{"startTime":"2026-07-01T00:00:00.000Z","endTime":"2026-07-01T00:00:00.000Z"}`},
		{"trigger with the defaults", func(ctx context.Context, c *client.Client) error {
			_, err := c.Trigger(ctx, client.TriggerRequest{})
			return err
		}, "/v1/webhook/price_signal/trigger", `{}`},
		{"get trigger", func(ctx context.Context, c *client.Client) error {
			_, err := c.GetTrigger(ctx, "trg_1")
			return err
		}, "/v1/webhook/price_signal/trigger/trg_1/get", `{}`},
		{"list triggers", func(ctx context.Context, c *client.Client) error {
			_, err := c.Triggers(ctx, 3)
			return err
		}, "/v1/webhook/price_signal/trigger/list", `{"limit":3}`},
		{"list deliveries", func(ctx context.Context, c *client.Client) error {
			_, _, err := c.Deliveries(ctx, client.DeliveriesRequest{TriggerID: "trg_1", Outcome: events.OutcomeFailed, Limit: 2})
			return err
		}, "/v1/webhook/deliveries/list", `{"triggerId":"trg_1","outcome":"FAILED","limit":2}`},
		{"price signal", func(ctx context.Context, c *client.Client) error {
			_, err := c.PriceSignal(ctx, "h", client.Window{StartTime: &start, EndTime: &start})
			return err
		}, "/v1/homes/h/price_signal", `{"startTime":"2026-07-01T00:00:00.000Z","endTime":"2026-07-01T00:00:00.000Z"}`},
		{"create endpoint", func(ctx context.Context, c *client.Client) error {
			url := "https://example.com"
			_, err := c.CreateEndpoint(ctx, client.NewEndpoint{EndpointFields: client.EndpointFields{URL: &url}})
			return err
		}, "/v1/webhook/endpoints/create", `{"url":"https://example.com"}`},
		{"list endpoints", func(ctx context.Context, c *client.Client) error {
			_, _, err := c.Endpoints(ctx, client.Page{})
			return err
		}, "/v1/webhook/endpoints/list", `{}`},
		{"get endpoint", func(ctx context.Context, c *client.Client) error {
			_, err := c.GetEndpoint(ctx, "ep_1")
			return err
		}, "/v1/webhook/endpoints/ep_1/get", `{}`},
		{"update endpoint", func(ctx context.Context, c *client.Client) error {
			_, err := c.UpdateEndpoint(ctx, "ep_1", client.EndpointFields{Enabled: &no, EventTypes: &[]string{}})
			return err
		}, "/v1/webhook/endpoints/ep_1/update", `{"eventTypes":[],"enabled":false}`},
		{"delete endpoint", func(ctx context.Context, c *client.Client) error {
			return c.DeleteEndpoint(ctx, "ep_1")
		}, "/v1/webhook/endpoints/ep_1/delete", `{}`},
		{"rotate secret", func(ctx context.Context, c *client.Client) error {
			_, err := c.RotateSecret(ctx, "ep_1")
			return err
		}, "/v1/webhook/endpoints/ep_1/rotate_secret", `{}`},
		{"test endpoint", func(ctx context.Context, c *client.Client) error {
			_, err := c.TestEndpoint(ctx, "ep_1")
			return err
		}, "/v1/webhook/endpoints/ep_1/test", `{}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c, got := serve(t, http.StatusOK, `{}`)
			if err := test.call(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			if got.Path != test.path || got.Body != test.body {
				t.Errorf("sent %s\n%s\nwant %s\n%s", got.Path, got.Body, test.path, test.body)
			}
		})
	}
}

func TestHeaders(t *testing.T) {
	c, got := serve(t, http.StatusOK, `{}`)
	if _, err := c.Trigger(t.Context(), client.TriggerRequest{}); err != nil {
		t.Fatal(err)
	}
	if len(got.Header.Values("x-gridhook-organization"))+len(got.Header.Values("Idempotency-Key")) > 0 {
		t.Errorf("unexpected headers: %v", got.Header)
	}
	if _, err := c.For("acme").Trigger(t.Context(), client.TriggerRequest{IdempotencyKey: "once"}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"x-ws-api-key": "ghk_1", "x-gridhook-organization": "acme", "Idempotency-Key": "once", "Content-Type": "application/json",
	} {
		if v := got.Header.Values(name); len(v) != 1 || v[0] != want {
			t.Errorf("%s is %q, want %q", name, v, want)
		}
	}
	if c.Organization != "" {
		t.Error("For changed the client that it was called on")
	}
	if _, err := c.Import(t.Context(), strings.NewReader("{}")); err != nil {
		t.Fatal(err)
	}
	if got := got.Header.Get("Content-Type"); got != "application/x-ndjson" {
		t.Errorf("an import was sent as %s", got)
	}
}

func TestErrors(t *testing.T) {
	tests := []struct {
		name   string
		status int
		answer string
		want   client.Error
		says   string
	}{
		{"fields", 400, `{"request_id":"req_9","error_code":"VALIDATION_FAILED","message":"Request validation failed.",
			"recovery_action":"Correct.","field_errors":[{"field":"url","message":"is required"},{"field":"mode","message":"is odd"}]}`,
			client.Error{Status: 400, RequestID: "req_9", Code: "VALIDATION_FAILED", Message: "Request validation failed.", RecoveryAction: "Correct."},
			"url: is required; mode: is odd"},
		{"again later", 503, `{"request_id":"req_9","error_code":"UNAVAILABLE","message":"Not now.","retry_after_seconds":5}`,
			client.Error{Status: 503, RequestID: "req_9", Code: "UNAVAILABLE", Message: "Not now.", RetryAfterSeconds: 5}, "Not now."},
		{"something else answers", 502, `<html>`, client.Error{Status: 502, RequestID: "req_1"}, "responded 502 Bad Gateway, but not like a Gridhook server."},
		{"JSON of something else", 404, `{"error":"x"}`, client.Error{Status: 404, RequestID: "req_1"}, "responded 404 Not Found, but not like a Gridhook server."},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c, _ := serve(t, test.status, test.answer)
			_, err := c.GetTrigger(t.Context(), "trg_1")
			var got *client.Error
			if !errors.As(err, &got) {
				t.Fatalf("the error is %v, not a *client.Error", err)
			}
			if !strings.HasSuffix(err.Error(), test.says) {
				t.Errorf("the error says %q, want %q", err, test.says)
			}
			if test.want.Message == "" { // it names the server's address
				test.want.Message = got.Message
			}
			got.FieldErrors = nil
			if fmt.Sprint(*got) != fmt.Sprint(test.want) {
				t.Errorf("got %+v, want %+v", *got, test.want)
			}
		})
	}
}

// The key must not reach the address of a redirect.
func TestClient_Redirects(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("%s %s with the key %q", r.Method, r.URL, r.Header.Get("x-ws-api-key"))
	}))
	t.Cleanup(other.Close)
	server := httptest.NewServer(http.RedirectHandler(other.URL+"/moved", http.StatusTemporaryRedirect))
	t.Cleanup(server.Close)
	c := &client.Client{BaseURL: server.URL, Key: "ghk_1"}
	_, called := c.GetTrigger(t.Context(), "trg_1")
	_, streamed := c.Backup(t.Context(), []string{"age1x"})
	for _, err := range []error{called, streamed} {
		var refused *client.Error
		if !errors.As(err, &refused) || refused.Status != http.StatusTemporaryRedirect || !strings.Contains(err.Error(), `redirects to "`+other.URL+`/moved"`) {
			t.Errorf("the error is %v", err)
		}
	}
}

func TestClient_InvalidResponses(t *testing.T) {
	for name, answer := range map[string]string{"no JSON": "{", "too large": strings.Repeat(" ", 33<<20)} {
		t.Run(name, func(t *testing.T) {
			c, _ := serve(t, http.StatusOK, answer)
			_, err := c.GetTrigger(t.Context(), "trg_1")
			var refused *client.Error
			if err == nil || errors.As(err, &refused) {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

func TestAll_Pages(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // an empty body fails below
		switch string(body) {
		case `{"limit":1000}`:
			_, _ = io.WriteString(w, `{"data":[{"id":"a"},{"id":"b"}],"next":"b"}`)
		case `{"limit":1000,"after":"b"}`:
			_, _ = io.WriteString(w, `{"data":[{"id":"c"}],"next":null}`)
		default:
			t.Errorf("requested %s", body)
		}
	}))
	defer server.Close()
	c := client.Client{BaseURL: server.URL}
	all, err := client.All(t.Context(), c.Organizations)
	if err != nil || len(all) != 3 || all[0].ID != "a" || all[2].ID != "c" {
		t.Errorf("got %v, %v", all, err)
	}
}

func TestAll_Empty(t *testing.T) {
	c, _ := serve(t, http.StatusOK, `{"data":[],"next":null}`)
	all, err := client.All(t.Context(), c.Organizations)
	if text, _ := json.Marshal(all); err != nil || string(text) != "[]" {
		t.Errorf("got %s, %v", text, err)
	}
}

// A backup is read as a stream. A backup that the server cuts off is an error.
func TestBackup(t *testing.T) {
	c, got := serve(t, http.StatusOK, "a file")
	b, err := c.Backup(t.Context(), []string{"age1x"})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if text, err := io.ReadAll(b); err != nil || string(text) != "a file" || got.Path != "/backup" || got.Body != `{"recipients":["age1x"]}` || got.Header.Get("x-ws-api-key") != "ghk_1" {
		t.Errorf("%q %v of %+v", text, err, got)
	}
	c, _ = serve(t, http.StatusConflict, `{"error_code":"CONFLICT","message":"A backup is being made already."}`)
	var refused *client.Error
	if _, err := c.Backup(t.Context(), []string{"age1x"}); !errors.As(err, &refused) || refused.Code != client.CodeConflict || refused.Status != http.StatusConflict {
		t.Errorf("the refused backup says %v", err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, strings.Repeat("x", 1<<16))
		panic(http.ErrAbortHandler)
	}))
	t.Cleanup(server.Close)
	broken, err := (&client.Client{BaseURL: server.URL}).Backup(t.Context(), []string{"age1x"})
	if err != nil {
		t.Fatal(err)
	}
	defer broken.Close()
	if _, err := io.ReadAll(broken); err == nil {
		t.Error("half a backup was accepted")
	}
}

// TestClient_NoBaseURL checks that the error of a missing or incomplete address names it.
func TestClient_NoBaseURL(t *testing.T) {
	for _, base := range []string{"", "127.0.0.1:8080", "localhost:8080", "gridhook.example.com"} {
		_, err := (&client.Client{BaseURL: base}).GetEndpoint(t.Context(), "ep_1")
		if want := fmt.Sprintf("BaseURL must be a URL such as https://gridhook.example.com, not %q", base); err == nil || err.Error() != want {
			t.Errorf("%q: %v", base, err)
		}
	}
}
