package app_test

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/cmd/internal/app"
	"github.com/gridhook/gridhook/storage"
)

// TestMetrics_StaleOrganizations checks that an organization without a current signal
// counts, and no longer once it is suspended.
func TestMetrics_StaleOrganizations(t *testing.T) {
	a := startWith(t, func(o *app.Options) { o.AllowPrivate = true })
	operator := &client.Client{BaseURL: a.AdminURL(), Key: a.OperatorKeyText()}
	imported, err := operator.Import(t.Context(), strings.NewReader(`{"resource":"organization","id":"acme","name":"Acme"}
{"resource":"webhookEndpoint","organizationId":"acme","id":"ep","url":"http://127.0.0.1:9"}
{"resource":"organization","id":"current","name":"Current"}
{"resource":"webhookEndpoint","organizationId":"current","id":"ep_current","url":"http://127.0.0.1:9"}`))
	if err != nil || imported.Failed > 0 {
		t.Fatalf("%+v %v", imported, err)
	}
	now := time.Now().UTC()
	start, end := storage.Time{Time: now.Add(-48 * time.Hour)}, storage.Time{Time: now.Add(-24 * time.Hour)}
	past := client.TriggerRequest{StartTime: &start, EndTime: &end}
	for _, trigger := range []struct {
		org     string
		request client.TriggerRequest
	}{{"current", client.TriggerRequest{}}, {"current", past}, {"acme", past}} {
		if _, err := operator.For(trigger.org).Trigger(t.Context(), trigger.request); err != nil {
			t.Fatal(err)
		}
	}
	stale := func(count string) bool {
		if err := a.CountStale(); err != nil {
			t.Fatal(err)
		}
		return shows(t, a, "gridhook_organizations_stale "+count)
	}
	for late := time.Now().Add(2 * time.Minute); !stale("1"); <-time.After(50 * time.Millisecond) { // the ledger follows
		if time.Now().After(late) {
			t.Fatal("timeout: the organization does not count")
		}
	}
	suspended := true
	if _, err := operator.UpdateOrganization(t.Context(), "acme", client.OrganizationFields{Suspended: &suspended}); err != nil {
		t.Fatal(err)
	}
	if !stale("0") {
		t.Error("a suspended organization counts")
	}
}

// shows reports whether a scrape has a line.
func shows(t *testing.T, a *app.App, line string) bool {
	t.Helper()
	_, body := ask(t, a, "GET", "/metrics")
	return strings.Contains(body, "\n"+line+"\n")
}

// TestMetrics_ScrapeDecodesNoRecord checks that a scrape decodes no record of an
// organization or endpoint: records that do not decode make no scrape incomplete. They do
// not stop the count of stale organizations either.
func TestMetrics_ScrapeDecodesNoRecord(t *testing.T) {
	log := &logged{want: "metrics incomplete", seen: make(chan struct{})}
	a := startWith(t, func(o *app.Options) { o.Log = slog.New(slog.NewTextHandler(log, nil)) })
	last, err := a.StateLog().AppendBatch(t.Context(), []storage.Write{
		{Ref: storage.OrganizationRef("acme"), At: time.Now(), Value: []byte(`{"id": 7}`)},
		{Ref: storage.KindWebhookEndpoint.Ref("acme", "ep"), At: time.Now(), Value: []byte(`{"id": 7}`)},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.AwaitState(t.Context(), last); err != nil {
		t.Fatal(err)
	}
	if err := a.CountStale(); err != nil {
		t.Errorf("the count of stale organizations: %v", err)
	}
	if !shows(t, a, "gridhook_organizations_stale 0") {
		t.Error("the count decoded a record")
	}
	select {
	case <-log.seen:
		t.Error("a scrape decoded a record: its metrics are incomplete")
	default:
	}
}
