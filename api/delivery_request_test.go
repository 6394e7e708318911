package api_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/storage"
)

// received records a delivery, with the inputs of its body unless runs is empty.
func (e *env) received(key, endpoint string, runs ...pricing.Run) string {
	e.t.Helper()
	e.pass(time.Minute)
	trigger := e.ask(key, triggerPath, "{}").ok(e.t)["triggerId"].(string)
	id := events.MessageID(trigger, "home1", endpoint)
	r := events.Receipt{
		TriggerID: trigger, OrganizationID: "acme", Key: "s0", Slice: &events.SliceBounds{Through: "home1", Homes: 1, Last: true},
		Deliveries: []events.Delivery{{MessageID: id, HomeID: "home1", EndpointID: endpoint, Outcome: events.OutcomeFailed, Attempt: 1}},
	}
	if len(runs) > 0 {
		r.RetryInputs = []events.RetryInputs{{
			EndpointID: endpoint, Format: storage.FormatThin, Homes: []events.RetryHome{{HomeID: "home1", Revision: 7}},
			Curves: []events.RetryCurve{{Runs: runs, ExportCompensation: pricing.ExportCompensation{Type: pricing.NetMetering}, ImportSource: "a tariff"}},
		}}
	}
	e.record(r, func() bool { _, err := e.deps.Ledger.Delivery("acme", id); return err == nil })
	return id
}

// TestDeliveryRequest_Sources makes bodies of stored and of today's inputs. Secrets are
// masked, and only a key or an operator that may trigger gets a signature.
func TestDeliveryRequest_Sources(t *testing.T) {
	e := newEnv(t, rest.Options{})
	acme, bolt := e.twoTenants()
	endpoint := e.ask(acme, endpointsPath+"create", `{"url":"https://acme.example/hooks?code=hidden","headers":{"X-Key":"hidden"}}`).ok(t)["id"].(string)
	e.pass(time.Minute)
	requestOf := func(key, id string) map[string]any {
		t.Helper()
		return e.ask(key, deliveriesPath+id+"/request", "").ok(t)
	}
	stored := e.received(acme, endpoint, pricing.Run{N: 96, Price: 0.2, Import: 0.2, Export: 0.1, Confidence: 1})
	rebuilt := e.received(acme, endpoint)

	got := requestOf(acme, stored)
	if got["bodySource"] != "STORED" || got["body"] != `{"home":"home1","format":"thin","revision":7}` || got["id"] != stored {
		t.Errorf("of stored inputs: %v", got)
	}
	headers := got["headers"].(map[string]any)
	if headers["Webhook-Signature"] != "v1,signed" || headers["X-Key"] != storage.Masked || strings.Contains(got["url"].(string), "hidden") {
		t.Errorf("%v to %v", headers, got["url"])
	}
	if got = requestOf(acme, rebuilt); got["bodySource"] != "REBUILT" {
		t.Errorf("of unchanged inputs: %v", got["bodySource"])
	}
	headers = requestOf(e.key("acme", storage.ScopeRead), rebuilt)["headers"].(map[string]any)
	if headers["Webhook-Signature"] != nil || headers["Webhook-Id"] != rebuilt {
		t.Errorf("a reader gets %v", headers)
	}
	for _, role := range storage.Roles() {
		_, operator := e.operatorKey(role)
		a := e.send(request{url: e.admin.URL + deliveriesPath + rebuilt + "/request", header: http.Header{rest.KeyHeader: {operator}, rest.OrganizationHeader: {"acme"}}})
		headers = a.ok(t)["headers"].(map[string]any)
		if signed := headers["Webhook-Signature"] != nil; signed == (role == storage.RoleRead) {
			t.Errorf("an operator with the role %s gets %v", role, headers)
		}
	}
	e.operate("/v1/admin/homes/home1/update", `{"organizationId":"acme","carbonSignalIntensity":"HIGH"}`).ok(t)
	if got = requestOf(acme, rebuilt); got["bodySource"] != "CHANGED" {
		t.Errorf("of changed inputs: %v", got["bodySource"])
	}
	e.ask(bolt, deliveriesPath+rebuilt+"/request", "").expect(t, 404, rest.CodeNotFound)
	e.operate("/v1/admin/homes/home1/delete", `{"organizationId":"acme"}`).ok(t)
	e.ask(acme, deliveriesPath+rebuilt+"/request", "").expect(t, 409, rest.CodeConflict)
	requestOf(acme, stored)
	e.ask(acme, endpointsPath+endpoint+"/delete", "").ok(t)
	e.ask(acme, deliveriesPath+stored+"/request", "").expect(t, 409, rest.CodeConflict)
}
