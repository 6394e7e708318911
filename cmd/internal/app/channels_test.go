package app_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/cmd/internal/app"
	"github.com/gridhook/gridhook/cmd/internal/sandbox"
	"github.com/gridhook/gridhook/config"
	"github.com/gridhook/gridhook/dispatcher/channel/smtptest"
)

// freeAddress returns an address of the loopback on which nothing listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// TestChannels_Restart disables the only endpoint of an organization while the SMTP server
// is down, and restarts Gridhook. The email arrives once the SMTP server is up.
func TestChannels_Restart(t *testing.T) {
	t.Parallel()
	smtp, data := freeAddress(t), t.TempDir()
	run := func(do func(a *app.App)) {
		t.Helper()
		o := serving(data)
		o.AllowPrivate = true
		o.SMTP = config.SMTP{URL: config.SMTPURL{URL: &url.URL{Scheme: "smtp", Host: smtp, RawQuery: "tls=none"}}, From: "gridhook@operator.example"}
		a, err := app.Start(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		do(a)
		if err := a.Stop(); err != nil {
			t.Error(err)
		}
	}
	gone := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGone) }))
	defer gone.Close()
	run(func(a *app.App) {
		operator := &client.Client{BaseURL: a.AdminURL(), Key: a.OperatorKeyText()}
		imported, err := operator.Import(t.Context(), strings.NewReader(strings.Join([]string{
			`{"resource":"organization","id":"acme","name":"Acme"}`,
			`{"resource":"ratePlan","id":"plan","tariff":{"energyratestructure":[[{"rate":0.1}]]}}`,
			`{"resource":"webhookEndpoint","organizationId":"acme","id":"only","url":"` + gone.URL + `"}`,
			`{"resource":"home","organizationId":"acme","id":"home","ratePlanId":"plan","zipcode":"60614"}`,
		}, "\n")))
		if err != nil || imported.Failed > 0 {
			t.Fatalf("%+v %v", imported, err)
		}
		acme := operator.For("acme")
		_, err = client.Call[map[string]any](t.Context(), acme, "/v1/channels/create", map[string]any{"kind": "EMAIL", "address": "ops@acme.example", "events": []string{"endpoint.disabled"}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := acme.Trigger(t.Context(), client.TriggerRequest{}); err != nil {
			t.Fatal(err)
		}
		const failed = `gridhook_channel_attempts_total{outcome="RETRYING"} `
		err = sandbox.Poll(t.Context(), 20*time.Millisecond, func() (bool, error) {
			_, text := send(t, "GET", a.AdminURL()+"/metrics", "", "")
			return strings.Contains(text, failed) && !strings.Contains(text, failed+"0\n"), nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
	box := smtptest.Listen(t, smtp, smtptest.NoTLS)
	run(func(*app.App) {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		select {
		case <-box.Arrived():
		case <-ctx.Done():
			t.Error("the email did not arrive")
		}
	})
	got := box.Emails()
	if len(got) != 1 || got[0].To != "ops@acme.example" || !strings.Contains(got[0].Text, "Endpoint only of acme is disabled") {
		t.Errorf("the mailbox has %+v", got)
	}
}
