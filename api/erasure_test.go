package api_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/storage"
)

func TestOrganizations_Delete(t *testing.T) {
	e := newEnv(t, rest.Options{})
	acme, bolt := e.twoTenants()
	e.operate("/v1/admin/organizations/bolt/update", `{"childOrganizationIds":["acme"]}`).ok(t)
	e.ask(acme, endpointsPath+"create", `{"url":"https://example.com/hook"}`).ok(t)
	remove := func(org, body string) answer { return e.operate("/v1/admin/organizations/"+org+"/delete", body) }

	for _, body := range []string{`{}`, `{"confirm":"bolt"}`, `{"confirm":""}`} {
		if got := remove("acme", body).expect(t, 400, rest.CodeValidationFailed).fields(t); !slices.Contains(got, "confirm") {
			t.Errorf("%s: fields %v", body, got)
		}
	}
	remove("none", `{"confirm":"none"}`).expect(t, 404, rest.CodeNotFound)
	_, operate := e.operatorKey(storage.RoleOperate)
	e.operateBy(operate, "/v1/admin/organizations/acme/delete", `{"confirm":"acme"}`).expect(t, 403, rest.CodeForbidden)
	e.ask(acme, signalPath, "").ok(t)

	receipt := remove("acme", `{"confirm":"acme"}`).ok(t)
	records := receipt["records"].(map[string]any)
	if receipt["complete"] != true || receipt["deleted"] != true || records["organization"] != 1.0 || records["key"] != 1.0 || records["webhookEndpoint"] != 1.0 {
		t.Errorf("the receipt is %v", receipt)
	}
	if by, _ := receipt["erasedBy"].(string); !strings.HasPrefix(by, "2026-0") || by <= "2026-07-30" {
		t.Errorf("it is erased by %q", by)
	}
	e.ask(acme, signalPath, "").expect(t, 401, rest.CodeInvalidAPIKey)
	e.send(request{url: e.public.URL + signalPath, header: http.Header{rest.KeyHeader: {bolt}, rest.OrganizationHeader: {"acme"}}}).expect(t, 403, rest.CodeForbidden)
	for _, path := range []string{"get", "usage", "export", "update"} {
		e.operate("/v1/admin/organizations/acme/"+path, "{}").expect(t, 404, rest.CodeNotFound)
	}
	e.operate("/v1/admin/organizations/create", `{"id":"acme","name":"New"}`).expect(t, 409, rest.CodeConflict)
	if report := e.imported(`{"resource":"organization","id":"acme","name":"New"}` + "\n" + `{"resource":"organization","id":"zeta","name":"Zeta"}`); report.Created != 1 || report.Failed != 1 {
		t.Errorf("the import of the deleted and of another organization reports %+v", report)
	}
	must(t, e.deps.LastUsed.Flush(t.Context()))
	if again := remove("acme", `{"confirm":"acme"}`).ok(t); again["erasedBy"] != receipt["erasedBy"] || len(again["records"].(map[string]any)) != 0 {
		t.Errorf("the receipt of a repeat is %v", again)
	}
	if got := e.audited(`{"organizationId":"acme","operation":"deleteOrganization"}`); len(got) != 2 || got[0] != "deleteOrganization acme operator acme" {
		t.Errorf("the audit log has %q", got)
	}
	e.ask(bolt, endpointsPath+"list", "").ok(t)
}
