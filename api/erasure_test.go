package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

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
	by, err := time.Parse(time.RFC3339, receipt["erasedBy"].(string))
	if days := time.Until(by).Hours() / 24; err != nil || days < 29 || days > 60 { // by the clock of NATS, which removes it
		t.Errorf("it is erased by %v, %v", by, err)
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

// inerasable is a log in streams of an earlier version.
type inerasable struct{ storage.Log }

func (inerasable) Erase(context.Context, string) (map[storage.Kind]int, error) {
	return nil, storage.ErrNotErasable
}

// A deletion that streams of an earlier version refuse to complete hides the organization, so
// the audit log has it.
func TestOrganizations_DeleteInerasable(t *testing.T) {
	e := newEnv(t, rest.Options{})
	acme, _ := e.twoTenants()
	deps := e.deps
	deps.Registerer, deps.Store = nil, storage.NewStore(inerasable{e.bus.StateLog()}, e.store.Replica, e.clock)
	admin := e.serve(adminAPI(deps, rest.Options{}))
	e.send(request{
		url: admin.URL + "/v1/admin/organizations/acme/delete", body: `{"confirm":"acme"}`, header: http.Header{rest.KeyHeader: {operatorKey}},
	}).expect(t, 409, rest.CodeConflict)
	e.ask(acme, signalPath, "").expect(t, 401, rest.CodeInvalidAPIKey)
	if got := e.audited(`{"operation":"deleteOrganization"}`); len(got) != 1 || got[0] != "deleteOrganization acme operator acme" {
		t.Errorf("the audit log has %q", got)
	}
}

// The first receipt names the feedback that may be about the organization. The operator
// erases it by identifier.
func TestOrganizations_DeleteFeedback(t *testing.T) {
	e := newEnv(t, rest.Options{FeedbackBurst: 1000})
	acme, _ := e.twoTenants()
	e.operate("/v1/admin/organizations/acme/update", `{"name":"R&D \"Power\""}`).ok(t)
	e.ask(acme, endpointsPath+"create", `{"url":"https://hooks.example.com/x"}`).ok(t)
	submit := func(message string) any {
		text, err := json.Marshal(message)
		must(t, err)
		return e.ask("", feedbackPath, `{"feedback_type":"bug","summary":"s","message":`+string(text)+`}`).ok(t)["feedback_id"]
	}
	submit("Nothing.")
	want := []any{submit("We are ACME."), submit(`Here is r&d "power".`), submit("See HOOKS.example.com.")}
	for range 120 {
		submit("More than a page.")
	}
	want = append(want, submit("acme, on a later page"))
	receipt := e.operate("/v1/admin/organizations/acme/delete", `{"confirm":"acme"}`).ok(t)
	if got := fmt.Sprint(receipt["feedback"]); got != fmt.Sprint(want) {
		t.Errorf("the receipt names %s, want %s", got, want)
	}
	if again := e.operate("/v1/admin/organizations/acme/delete", `{"confirm":"acme"}`).ok(t); again["feedback"] != nil {
		t.Errorf("the receipt of a repeat names %v", again["feedback"])
	}

	path := fmt.Sprintf("/v1/admin/feedback/%s/delete", want[0])
	_, read := e.operatorKey(storage.RoleRead)
	e.operateBy(read, path, "").expect(t, 403, rest.CodeForbidden)
	if got := e.operate(path, "").ok(t); got["id"] != want[0] || got["deleted"] != true {
		t.Errorf("the response is %v", got)
	}
	e.operate(path, "").expect(t, 404, rest.CodeNotFound)
	must(t, e.deps.LastUsed.Flush(t.Context()))
	if got := e.audited(`{"operation":"deleteFeedback"}`); len(got) == 0 || !strings.HasSuffix(got[0], fmt.Sprint(want[0])) {
		t.Errorf("the audit log has %q", got)
	}
}
