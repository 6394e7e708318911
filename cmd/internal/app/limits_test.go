package app_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/cmd/internal/app"
	"github.com/gridhook/gridhook/storage"
)

// TestLimits_Stored checks that max-state limits the records of an organization.
func TestLimits_Stored(t *testing.T) {
	a := startWith(t, func(o *app.Options) { o.Limits.MaxState = 400 })
	operator := &client.Client{BaseURL: a.AdminURL(), Key: a.OperatorKeyText()}
	imported, err := operator.Import(t.Context(), strings.NewReader(`{"resource":"organization","id":"acme","name":"Acme"}
{"resource":"home","organizationId":"acme","id":"h1"}
{"resource":"home","organizationId":"acme","id":"h2"}
{"resource":"home","organizationId":"acme","id":"h3"}`))
	if err != nil || imported.Failed == 0 || imported.Failed == 3 || !strings.Contains(imported.Errors[0].Fields[0].Message, "max-state") {
		t.Errorf("imported %+v, %v", imported, err)
	}
}

// TestLimits_Settings checks that the settings limit the homes and keys of an organization.
func TestLimits_Settings(t *testing.T) {
	a := startWith(t, func(o *app.Options) { o.Limits.MaxHomes, o.Limits.MaxKeys = 1, 1 })
	operator := &client.Client{BaseURL: a.AdminURL(), Key: a.OperatorKeyText()}
	imported, err := operator.Import(t.Context(), strings.NewReader(`{"resource":"organization","id":"acme","name":"Acme"}
{"resource":"home","organizationId":"acme","id":"h1"}
{"resource":"home","organizationId":"acme","id":"h2"}`))
	if err != nil || imported.Created != 2 || imported.Failed != 1 || !strings.Contains(imported.Errors[0].Fields[0].Message, "max-homes") {
		t.Errorf("imported %+v, %v", imported, err)
	}
	for i, want := range []string{"", "max-keys"} {
		_, err := operator.CreateKey(t.Context(), client.NewKey{OrganizationID: "acme", Scopes: []storage.Scope{storage.ScopeRead}})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("key %d: %v", i+1, err)
		}
	}
}

// TestLimits_HistoryLeavesRoom checks that the history of one organization cannot fill the
// store: the trigger of another organization is still accepted.
func TestLimits_HistoryLeavesRoom(t *testing.T) {
	a := startWith(t, func(o *app.Options) { o.MaxStore, o.Limits.MaxWaiting = 16<<20, 0 })
	operator := &client.Client{BaseURL: a.AdminURL(), Key: a.OperatorKeyText()}
	lines := `{"resource":"organization","id":"greedy","name":"Greedy"}
{"resource":"organization","id":"other","name":"Other"}
`
	for i := range 4000 {
		lines += fmt.Sprintf(`{"resource":"home","organizationId":"greedy","id":"home-%060d"}`+"\n", i)
	}
	if imported, err := operator.Import(t.Context(), strings.NewReader(lines)); err != nil || imported.Failed > 0 {
		t.Fatalf("%+v %v", imported, err)
	}
	var refused *client.Error
	for late := time.Now().Add(2 * time.Minute); refused == nil; <-time.After(10 * time.Millisecond) { // the ledger follows
		_, err := operator.For("greedy").Trigger(t.Context(), client.TriggerRequest{})
		if time.Now().After(late) || err != nil && !errors.As(err, &refused) {
			t.Fatalf("no limit is reached: %v", err)
		}
	}
	if !strings.Contains(refused.Error(), "max-history") {
		t.Errorf("the greedy organization is refused with %v", refused)
	}
	if _, err := operator.For("other").Trigger(t.Context(), client.TriggerRequest{}); err != nil {
		t.Errorf("the other organization's trigger: %v", err)
	}
}
