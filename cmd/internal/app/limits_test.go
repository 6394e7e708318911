package app_test

import (
	"strings"
	"testing"

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
