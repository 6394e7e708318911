package api_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/storage"
)

func TestOrganizations(t *testing.T) {
	e := newEnv(t, rest.Options{})
	made := e.operate("/v1/admin/organizations/create", `{"id":"acme","name":"Acme","childOrganizationIds":["sub"]}`).ok(t)
	if made["id"] != "acme" || made["createdAt"] != "2026-07-01T12:07:30.000Z" {
		t.Errorf("made %v", made)
	}
	e.operate("/v1/admin/organizations/create", `{"id":"acme","name":"Another"}`).expect(t, 409, rest.CodeConflict)
	if id := e.operate("/v1/admin/organizations/create", `{"name":"Nameless"}`).ok(t)["id"].(string); !strings.HasPrefix(id, "org_") {
		t.Errorf("an identifier is %q", id)
	}
	if got := e.operate("/v1/admin/organizations/acme/get", "").ok(t); got["name"] != "Acme" {
		t.Errorf("got %v", got)
	}
	e.operate("/v1/admin/organizations/none/get", "").expect(t, 404, rest.CodeNotFound)
	if list := e.operate("/v1/admin/organizations/list", "").ok(t)["data"].([]any); len(list) != 2 {
		t.Errorf("listed %v", list)
	}
	for body, want := range map[string][]string{
		`{}`:                      {"name"},
		`{"id":"_","name":""}`:    {"id", "name"},
		`{"id":"a.b","name":"A"}`: {"id"},
		`{"id":null,"name":"A"}`:  {"id"},
		`{"name":"A","extra":{}}`: {"extra"},
		`{"id":"x","name":["A"]}`: {"name"},
		`{"id":"x","name":"` + strings.Repeat("a", 256) + `"}`:              {"name"},
		`{"id":"x","name":"A","childOrganizationIds":["x","*"],"Name":"A"}`: {"Name", "childOrganizationIds[0]", "childOrganizationIds[1]"},
	} {
		got := e.operate("/v1/admin/organizations/create", body).expect(t, 400, rest.CodeValidationFailed).fields(t)
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%s: fields %v, want %v", body, got, want)
		}
	}
}

func TestOrganizations_Update(t *testing.T) {
	e := newEnv(t, rest.Options{})
	e.twoTenants()
	update := func(org, body string) answer { return e.operate("/v1/admin/organizations/"+org+"/update", body) }
	if got := update("acme", `{"name":"Acme Power","childOrganizationIds":["bolt"]}`).ok(t); got["name"] != "Acme Power" || fmt.Sprint(got["childOrganizationIds"]) != "[bolt]" {
		t.Errorf("updated to %v", got)
	}
	if got := update("acme", `{}`).ok(t); got["name"] != "Acme Power" || fmt.Sprint(got["childOrganizationIds"]) != "[bolt]" {
		t.Errorf("an empty update changes it to %v", got)
	}
	update("none", `{"name":"None"}`).expect(t, 404, rest.CodeNotFound)
	for body, want := range map[string][]string{`{"name":""}`: {"name"}, `{"name":null}`: {"name"}, `{"childOrganizationIds":["acme"]}`: {"childOrganizationIds[0]"}, `{"id":"x"}`: {"id"}} {
		if got := update("acme", body).expect(t, 400, rest.CodeValidationFailed).fields(t); !slices.Equal(got, want) {
			t.Errorf("%s: fields %v, want %v", body, got, want)
		}
	}
}

// The keys of a suspended organization are refused, and so is a channel partner that acts
// for it. An import does not resume it. After the resumption all is as before.
func TestOrganizations_Suspend(t *testing.T) {
	e := newEnv(t, rest.Options{})
	acme, bolt := e.twoTenants()
	suspend := func(org, value string) {
		e.operate("/v1/admin/organizations/"+org+"/update", `{"suspended":`+value+`}`).ok(t)
	}
	forAcme := func() answer {
		return e.send(request{url: e.public.URL + signalPath, header: http.Header{rest.KeyHeader: {bolt}, rest.OrganizationHeader: {"acme"}}})
	}
	e.operate("/v1/admin/organizations/bolt/update", `{"childOrganizationIds":["acme"]}`).ok(t)
	e.ask(acme, signalPath, "").ok(t)
	forAcme().ok(t)
	suspend("acme", "true")
	e.ask(acme, signalPath, "").expect(t, 403, rest.CodeForbidden)
	e.ask(acme+"x", signalPath, "").expect(t, 401, rest.CodeInvalidAPIKey)
	forAcme().expect(t, 403, rest.CodeForbidden)
	e.ask(bolt, endpointsPath+"list", "").ok(t)
	e.load(`{"resource":"organization","id":"acme","name":"Acme"}`)
	e.ask(acme, signalPath, "").expect(t, 403, rest.CodeForbidden)
	if got := e.operate("/v1/admin/organizations/acme/get", "").ok(t); got["suspended"] != true {
		t.Errorf("it is %v", got)
	}
	suspend("acme", "false")
	e.ask(acme, signalPath, "").ok(t)
	forAcme().ok(t)
}

func TestKeys(t *testing.T) {
	e := newEnv(t, rest.Options{})
	e.twoTenants()
	made := e.operate("/v1/admin/keys/create", `{"organizationId":"acme","scopes":["read","read"],"description":"for reading"}`).ok(t)
	id, key := made["keyId"].(string), made["key"].(string)
	if !strings.HasPrefix(key, "ghk_"+id+"_") || fmt.Sprint(made["scopes"]) != "[read]" || made["expiresAt"] != nil || made["revokedAt"] != nil {
		t.Errorf("made %v", made)
	}
	list := e.operate("/v1/admin/keys/list", `{"organizationId":"acme"}`)
	if page := list.ok(t)["data"].([]any); len(page) != 2 {
		t.Errorf("listed %v", page)
	}
	if strings.Contains(string(list.body), "ecretHash") || strings.Contains(string(list.body), `"key"`) {
		t.Errorf("the list shows %s", list.body)
	}
	for body, want := range map[string][]string{
		`{}`:                                    {"organizationId"},
		`{"organizationId":"nobody"}`:           {"organizationId"},
		`{"organizationId":"acme","scopes":[]}`: {"scopes"},
		`{"organizationId":"acme","scopes":["admin"]}`:                               {"scopes[0]"},
		`{"organizationId":"acme","expiresAt":"2026-07-01T12:07:30Z"}`:               {"expiresAt"},
		`{"organizationId":"acme","expiresAt":"soon"}`:                               {"expiresAt"},
		`{"organizationId":"acme","description":"` + strings.Repeat("a", 256) + `"}`: {"description"},
	} {
		got := e.operate("/v1/admin/keys/create", body).expect(t, 400, rest.CodeValidationFailed).fields(t)
		if !slices.Equal(got, want) {
			t.Errorf("%s: fields %v, want %v", body, got, want)
		}
	}
	for _, operation := range []string{"revoke", "rotate"} {
		e.operate("/v1/admin/keys/none/"+operation, "").expect(t, 404, rest.CodeNotFound)
	}
}

func TestKeys_Rotation(t *testing.T) {
	e := newEnv(t, rest.Options{})
	old, _ := e.twoTenants()
	id, _, _ := storage.SplitKey(storage.KeyPrefix, old)
	works := func(key string) bool {
		return e.ask(key, endpointsPath+"list", "").status == http.StatusOK
	}
	e.pass(time.Second)
	made := e.operate("/v1/admin/keys/"+id+"/rotate", `{"overlapSeconds":60}`).ok(t)
	young := made["key"].(string)
	if made["organizationId"] != "acme" || made["keyId"] == id || !works(old) || !works(young) {
		t.Fatalf("made %v; the old one works: %v, the new one: %v", made, works(old), works(young))
	}
	e.pass(time.Minute)
	if works(old) || !works(young) {
		t.Errorf("after the overlap the old one works: %v, the new one: %v", works(old), works(young))
	}
	e.operate("/v1/admin/keys/"+id+"/rotate", "").expect(t, 409, rest.CodeConflict)
	for _, expires := range []string{"", `,"expiresAt":"2027-01-01T00:00:00.000Z"`} {
		made := e.operate("/v1/admin/keys/create", `{"organizationId":"acme"`+expires+`}`).ok(t)
		for range 3 {
			again := e.operate("/v1/admin/keys/"+made["keyId"].(string)+"/rotate", `{"overlapSeconds":60}`).ok(t)
			if again["expiresAt"] != made["expiresAt"] {
				t.Errorf("a rotation of a rotated key expires at %v, want %v as the first key", again["expiresAt"], made["expiresAt"])
			}
		}
	}
	for body, ok := range map[string]bool{`{"overlapSeconds":0}`: true, `{"overlapSeconds":-1}`: false, `{"overlapSeconds":2592001}`: false, `{"overlapSeconds":1.5}`: false} {
		fresh, _, _ := storage.SplitKey(storage.KeyPrefix, e.key("acme"))
		if a := e.operate("/v1/admin/keys/"+fresh+"/rotate", body); (a.status == http.StatusOK) != ok {
			t.Errorf("%s: %d %s", body, a.status, a.body)
		}
	}
}

func TestHomes(t *testing.T) {
	e := newEnv(t, rest.Options{})
	e.twoTenants()
	made := e.operate("/v1/admin/homes/create", `{"organizationId":"acme","name":"At the lake","timezone":"America/Chicago","zipcode":"60614"}`).ok(t)
	id := made["id"].(string)
	if !strings.HasPrefix(id, "home_") || made["country"] != "US" || made["enabled"] != true || made["carbonSignalIntensity"] != "LOW" || made["organizationId"] != "acme" {
		t.Errorf("made %v", made)
	}
	of := `{"organizationId":"acme"}`
	if got := e.operate("/v1/admin/homes/"+id+"/get", of).ok(t); got["name"] != "At the lake" {
		t.Errorf("got %v", got)
	}
	e.operate("/v1/admin/homes/"+id+"/get", `{"organizationId":"bolt"}`).expect(t, 404, rest.CodeNotFound)
	e.operate("/v1/admin/homes/create", `{"organizationId":"acme","id":"home1"}`).expect(t, 409, rest.CodeConflict)
	e.operate("/v1/admin/homes/create", `{"organizationId":"bolt","id":"home1"}`).ok(t)
	for more, want := range map[string]int{
		"": 2, `,"ratePlanId":"plan1"`: 1, `,"ratePlanId":"plan1","limit":1`: 1, `,"ratePlanId":"plan1","after":"home1"`: 0, `,"ratePlanId":"plan"`: 0,
	} {
		if list := e.operate("/v1/admin/homes/list", `{"organizationId":"acme"`+more+`}`).ok(t)["data"].([]any); len(list) != want {
			t.Errorf("with %s it listed %v", more, list)
		}
	}
	e.operate("/v1/admin/homes/list", `{"organizationId":"acme","ratePlanId":"a b"}`).expect(t, 400, rest.CodeValidationFailed)
	for body, want := range map[string][]string{
		`{"organizationId":"nobody","timezone":"Mars/Olympus","carbonSignalIntensity":"SOME","zipcode":"x"}`: {"carbonSignalIntensity", "organizationId", "timezone", "zipcode"},
		`{"organizationId":"acme","utilityId":"u"}`:                                                          {"utilityId"},
		`{"organizationId":"acme","enabled":"true"}`:                                                         {"enabled"},
	} {
		got := e.operate("/v1/admin/homes/create", body).expect(t, 400, rest.CodeValidationFailed).fields(t)
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%s: fields %v, want %v", body, got, want)
		}
	}
}

func TestHomes_Update(t *testing.T) {
	e := newEnv(t, rest.Options{})
	acme, _ := e.twoTenants()
	path := "/v1/admin/homes/home1/update"
	before := e.ask(acme, signalPath, "").ok(t)["metadata"].(map[string]any)["sequence"].(float64)
	was := e.operate("/v1/admin/homes/home1/get", `{"organizationId":"acme"}`).ok(t)
	changed := e.operate(path, `{"organizationId":"acme","id":"home1","name":"By the sea","meterId":"m1"}`).ok(t)
	if changed["name"] != "By the sea" || changed["meterId"] != "m1" || changed["ratePlanId"] != was["ratePlanId"] || changed["createdAt"] != was["createdAt"] {
		t.Errorf("changed %v to %v", was, changed)
	}
	if got := e.operate("/v1/admin/homes/home1/get", `{"organizationId":"acme"}`).ok(t); !maps.Equal(got, changed) {
		t.Errorf("stored %v, response %v", got, changed)
	}
	if after := e.ask(acme, signalPath, "").ok(t)["metadata"].(map[string]any)["sequence"].(float64); after <= before {
		t.Errorf("the sequence went from %v to %v", before, after)
	}
	if cleared := e.operate(path, `{"organizationId":"acme","meterId":null,"ratePlanId":""}`).ok(t); cleared["meterId"] != nil || cleared["ratePlanId"] != "" {
		t.Errorf("cleared %v", cleared)
	}
	e.operate(path, `{"organizationId":"bolt","name":"x"}`).expect(t, 404, rest.CodeNotFound)
	for body, want := range map[string][]string{
		`{}`:                                     {"organizationId"},
		`{"organizationId":"acme","id":"home2"}`: {"id"},
		`{"organizationId":"acme","timezone":"Mars/Olympus","zipcode":"x"}`:     {"timezone", "zipcode"},
		`{"organizationId":"acme","utilityId":"u","carbonSignalIntensity":"x"}`: {"carbonSignalIntensity", "utilityId"},
	} {
		got := e.operate(path, body).expect(t, 400, rest.CodeValidationFailed).fields(t)
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%s: fields %v, want %v", body, got, want)
		}
	}
}

func TestHomes_DeleteRemovesRecords(t *testing.T) {
	e := newEnv(t, rest.Options{})
	e.twoTenants()
	e.load(
		`{"resource":"solar","organizationId":"acme","homeId":"home1","solarSystemSizeKw":5}`,
		`{"resource":"onboarding","organizationId":"acme","homeId":"home1"}`,
	)
	of := `{"organizationId":"acme"}`
	if got := e.operate("/v1/admin/homes/home1/delete", of).ok(t); got["deleted"] != true {
		t.Errorf("response %v", got)
	}
	e.operate("/v1/admin/homes/home1/delete", of).expect(t, 404, rest.CodeNotFound)
	for _, ref := range []storage.Ref{storage.KindHome.Ref("acme", "home1"), storage.KindSolar.Ref("acme", "home1"), storage.KindOnboarding.Ref("acme", "home1")} {
		err := e.store.View(func(v storage.View) error {
			if r, err := v.Get(ref); err != nil || !r.Deleted {
				t.Errorf("%s still exists: %v", ref, err)
			}
			return nil
		})
		must(t, err)
	}
}

func TestPlans(t *testing.T) {
	e := newEnv(t, rest.Options{})
	key, _ := e.twoTenants()
	const tariff = `{"name":"Flat","utility":"Acme Electric","energyratestructure":[[{"rate":0.1}]]}`
	for name, body := range map[string]string{"bare": tariff, "items": `{"items":[` + tariff + `]}`} {
		got := e.operate("/v1/admin/plans/import", `{"id":"`+name+`","tariff":`+body+`}`).ok(t)
		if got["name"] != "Flat" || got["utility"] != "Acme Electric" || got["organizationId"] != nil {
			t.Errorf("%s: %v", name, got)
		}
	}
	e.operate("/v1/admin/plans/import", `{"id":"own","organizationId":"acme","name":"Mine","tariff":`+tariff+`}`).ok(t)
	if list := e.operate("/v1/admin/plans/list", "").ok(t)["data"].([]any); len(list) != 3 {
		t.Errorf("shared: %v", list)
	}
	list := e.operate("/v1/admin/plans/list", `{"organizationId":"acme"}`)
	if data := list.ok(t)["data"].([]any); len(data) != 1 || data[0].(map[string]any)["name"] != "Mine" || strings.Contains(string(list.body), "tariff") {
		t.Errorf("acme's: %s", list.body)
	}
	got := e.operate("/v1/admin/plans/bare/get", "").ok(t)
	if got["tariff"].(map[string]any)["energyratestructure"] == nil {
		t.Errorf("got %v", got)
	}
	e.operate("/v1/admin/plans/own/get", "").expect(t, 404, rest.CodeNotFound)
	e.ask(key, signalPath, "").ok(t)
	e.operate("/v1/admin/plans/plan1/delete", "{}").ok(t)
	if fields := e.ask(key, signalPath, "").expect(t, 400, rest.CodeValidationFailed).fields(t); !slices.Equal(fields, []string{"ratePlanId"}) {
		t.Errorf("without its plan: fields %v", fields)
	}
	e.operate("/v1/admin/plans/plan1/delete", "").expect(t, 404, rest.CodeNotFound)
}

func TestPlans_Invalid(t *testing.T) {
	e := newEnv(t, rest.Options{})
	for body, want := range map[string][]string{
		`{}`:                     {"id", "tariff"},
		`{"id":"p","tariff":7}`:  {"tariff"},
		`{"id":"p","tariff":{}}`: {"tariff.energyratestructure"},
		`{"id":"p","tariff":{"energyratestructure":[[{"rate":"x"}]],"energyweekdayschedule":7}}`: {"tariff.energyratestructure[0][0].rate", "tariff.energyweekdayschedule"},
		`{"id":"p","tariff":{"a":1,"a":2,"energyratestructure":[[{"rate":1}]]}}`:                 {"tariff.a"},
		`{"id":"p","organizationId":"nobody","tariff":{"energyratestructure":[[{"rate":1}]]}}`:   {"organizationId"},
	} {
		got := e.operate("/v1/admin/plans/import", body).expect(t, 400, rest.CodeValidationFailed).fields(t)
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%s: fields %v, want %v", body, got, want)
		}
	}
}
