package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

const (
	channelsPath = "/v1/channels/"
	hush         = "https://hooks.chat.example/services/T0/hush-hush?sig=hush-hush" // the base64 of a sealed address has no "-"
)

// TestChannel_SealedAddress stores a URL with a secret. No response and no stored record
// contains the secret, and the masked form keeps the stored URL.
func TestChannel_SealedAddress(t *testing.T) {
	e := newEnv(t, rest.Options{})
	key, _ := e.twoTenants()
	made := e.ask(key, channelsPath+"create", `{"kind":"SLACK","address":"`+hush+`"}`).ok(t)
	id, shown := made["id"].(string), made["address"].(string)
	if shown != "https://hooks.chat.example/********" || made["enabled"] != true {
		t.Errorf("the channel is shown as %v", made)
	}
	stored := func() storage.Channel {
		r, err := e.bus.StateLog().Read(t.Context(), storage.KindChannel.Ref("acme", id))
		if err != nil || strings.Contains(string(r.Value), "hush-hush") {
			t.Errorf("the stored record is %s, %v", r.Value, err)
		}
		c, err := storage.Decode[storage.Channel](r)
		must(t, err)
		return c
	}
	before := stored()
	body := `{"address":"` + shown + `","description":"night shift"}`
	if got := e.ask(key, channelsPath+id+"/update", body).ok(t); got["address"] != shown || got["description"] != "night shift" {
		t.Errorf("the changed channel is %v", got)
	}
	if after := stored(); after.SealedAddress != before.SealedAddress {
		t.Error("the masked address replaced the stored address")
	}
	for _, path := range []string{id + "/get", "list", id + "/test"} {
		if a := e.ask(key, channelsPath+path, ""); a.status != http.StatusOK || strings.Contains(string(a.body), "hush-hush") {
			t.Errorf("%s gets %d %s", path, a.status, a.body)
		}
	}
	other := e.ask(key, channelsPath+id+"/update", `{"address":"https://other.example/********"}`)
	other.expect(t, http.StatusBadRequest, rest.CodeValidationFailed)
}

// TestChannel_Addresses checks the address by the channel's kind and the operator's policy
// on destinations.
func TestChannel_Addresses(t *testing.T) {
	e := newEnv(t, rest.Options{})
	key, _ := e.twoTenants()
	for body, want := range map[string]int{
		`{"kind":"EMAIL","address":"ops@acme.example"}`:                        200,
		`{"kind":"EMAIL","address":"Ops <ops@acme.example>"}`:                  400,
		`{"kind":"EMAIL","address":"ops@acme.example\r\nBcc: x@acme.example"}`: 400,
		`{"kind":"EMAIL","address":"https://acme.example/"}`:                   400,
		`{"kind":"SLACK","address":"ops@acme.example"}`:                        400,
		`{"kind":"TEAMS","address":"https://acme.example/flow?sig=x"}`:         200,
		`{"kind":"TEAMS","address":"https://localhost/flow"}`:                  400,
		`{"kind":"ALERTMANAGER","address":"https://user:pass@acme.example/"}`:  400,
		`{"kind":"PAGER","address":"https://acme.example/"}`:                   400,
		`{"kind":"SLACK","address":"https://acme.example/","events":["any"]}`:  400,
		`{"kind":"SLACK"}`: 400,
	} {
		a := e.ask(key, channelsPath+"create", body)
		if a.status != want {
			t.Errorf("%s gets %d %s, want %d", body, a.status, a.body, want)
		}
		if strings.Contains(string(a.body), `"url"`) {
			t.Errorf("the response to %s names a field that channels do not have: %s", body, a.body)
		}
	}
}

// TestChannel_OfOperator creates a channel of the operator. No organization sees it, and
// the operator sees an organization's channels only in its name.
func TestChannel_OfOperator(t *testing.T) {
	e := newEnv(t, rest.Options{})
	acme, bolt := e.twoTenants()
	const body = `{"kind":"EMAIL","address":"ops@operator.example"}`
	operators := e.operate(channelsPath+"create", body).ok(t)["id"].(string)
	acmes := e.ask(acme, channelsPath+"create", body).ok(t)["id"].(string)
	ids := func(a answer) string {
		text := ""
		for _, c := range a.ok(t)["data"].([]any) {
			text += c.(map[string]any)["id"].(string)
		}
		return text
	}
	for who, got := range map[string][2]string{
		"the operator": {ids(e.operate(channelsPath+"list", "")), operators},
		"acme":         {ids(e.ask(acme, channelsPath+"list", "")), acmes},
		"bolt":         {ids(e.ask(bolt, channelsPath+"list", "")), ""},
	} {
		if got[0] != got[1] {
			t.Errorf("%s sees %q, want %q", who, got[0], got[1])
		}
	}
	e.ask(acme, channelsPath+operators+"/get", "").expect(t, http.StatusNotFound, rest.CodeNotFound)
	e.ask(acme, channelsPath+operators+"/delete", "").expect(t, http.StatusNotFound, rest.CodeNotFound)
	e.operate(channelsPath+acmes+"/get", "").expect(t, http.StatusNotFound, rest.CodeNotFound)
	shared := e.send(request{url: e.public.URL + channelsPath + "list", header: http.Header{rest.KeyHeader: {acme}, rest.OrganizationHeader: {storage.Shared}}})
	if shared.status == http.StatusOK {
		t.Errorf("a partner who names the operator's owner gets %d %s", shared.status, shared.body)
	}
	// Other operations of partners still need an organization.
	e.operate("/v1/webhook/endpoints/list", "").expect(t, http.StatusBadRequest, rest.CodeValidationFailed)
}

// TestChannel_EmailWithoutServer refuses a channel that becomes one of the kind EMAIL if the
// operator has no SMTP server. Channels of other kinds and stored channels do not need it.
func TestChannel_EmailWithoutServer(t *testing.T) {
	e := newEnv(t, rest.Options{})
	key, _ := e.twoTenants()
	stored := e.ask(key, channelsPath+"create", `{"kind":"EMAIL","address":"ops@acme.example"}`).ok(t)["id"].(string)
	d := e.deps
	d.Registerer, d.Email = nil, false
	e.public = e.serve(publicAPI(d, rest.Options{}))
	refused := e.ask(key, channelsPath+"create", `{"kind":"EMAIL","address":"ops@acme.example"}`).expect(t, http.StatusBadRequest, rest.CodeValidationFailed)
	if !strings.Contains(string(refused.body), "smtp-url") {
		t.Errorf("the refusal does not name the setting: %s", refused.body)
	}
	teams := e.ask(key, channelsPath+"create", `{"kind":"TEAMS","address":"https://acme.example/flow"}`).ok(t)["id"].(string)
	e.ask(key, channelsPath+teams+"/update", `{"kind":"EMAIL","address":"ops@acme.example"}`).expect(t, http.StatusBadRequest, rest.CodeValidationFailed)
	e.ask(key, channelsPath+stored+"/update", `{"enabled":false}`).ok(t)
}

// TestChannel_Limit refuses a channel beyond the operator's limit.
func TestChannel_Limit(t *testing.T) {
	e := newEnv(t, rest.Options{})
	key, _ := e.twoTenants()
	e.store.SetLimit(storage.Limit{Kind: storage.KindChannel, Max: 1, Setting: "max-channels"})
	const body = `{"kind":"EMAIL","address":"ops@acme.example"}`
	e.ask(key, channelsPath+"create", body).ok(t)
	e.ask(key, channelsPath+"create", body).expect(t, http.StatusConflict, rest.CodeConflict)
}

// A channel shows the health of its messages.
func TestChannel_Health(t *testing.T) {
	e := newEnv(t, rest.Options{})
	key, _ := e.twoTenants()
	made := e.ask(key, channelsPath+"create", `{"kind":"SLACK","address":"`+hush+`"}`).ok(t)
	if got := made["health"].(map[string]any)["state"]; got != "UNKNOWN" {
		t.Errorf("the health of a new channel is %v", got)
	}
	id := made["id"].(string)
	e.record(events.Receipt{
		TriggerID: "evt_1", OrganizationID: "acme", Key: "n1." + id, EventType: storage.EventQuotaNear,
		Deliveries: []events.Delivery{{EndpointID: id, Outcome: events.OutcomeFailed, Attempt: 1, At: storage.Time{Time: e.clock().UTC()}, Milliseconds: 2, Reason: "status 404"}},
	}, func() bool {
		h, err := e.deps.Ledger.Health("acme", id)
		return err == nil && h.State == events.HealthFailing
	})
	for name, shown := range map[string]map[string]any{
		"get":    e.ask(key, channelsPath+id+"/get", "").ok(t),
		"update": e.ask(key, channelsPath+id+"/update", `{"description":"night"}`).ok(t),
		"list":   e.ask(key, channelsPath+"list", "").ok(t)["data"].([]any)[0].(map[string]any),
	} {
		if h := shown["health"].(map[string]any); h["state"] != "FAILING" || h["lastFailure"] != "status 404" {
			t.Errorf("%s shows the health %v", name, h)
		}
	}
}
