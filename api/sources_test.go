package api_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

const (
	sourcesPath = "/v1/admin/sources/"
	csvSource   = `{"adapter":"csv","url":"https://prices.example/np15.csv","parameters":{"node":"NP15"}`
)

// TestSources_Lifecycle creates, changes, pauses, resumes and deletes a source. Each
// change puts a run that is due now.
func TestSources_Lifecycle(t *testing.T) {
	e := newEnv(t, rest.Options{})
	made := e.operate(sourcesPath+"create", csvSource+`,"id":"np15"}`).ok(t)
	if made["id"] != "np15" || made["everySeconds"] != 3600.0 || made["timezone"] != "UTC" || made["enabled"] != true || made["organizationId"] != nil ||
		made["nextRunAt"] != "2026-07-01T12:07:30.000Z" || made["lastRunAt"] != nil || made["late"] != false {
		t.Errorf("made %v", made)
	}
	put := e.tasks.put()
	if len(put) != 1 || put[0].Kind != events.TaskSource || put[0].ID != "np15" || put[0].OrganizationID != storage.Shared || !put[0].DueAt.Equal(start) {
		t.Errorf("the tasks are %+v", put)
	}
	e.operate(sourcesPath+"create", csvSource+`,"id":"np15"}`).expect(t, http.StatusConflict, rest.CodeConflict)
	e.pass(time.Minute)
	changed := e.operate(sourcesPath+"np15/update", `{"everySeconds":900,"parameters":{"node":"SP15","market":"REAL_TIME"}}`).ok(t)
	if parameters := changed["parameters"].(map[string]any); changed["everySeconds"] != 900.0 || len(parameters) != 2 || parameters["node"] != "SP15" || changed["url"] != made["url"] {
		t.Errorf("changed %v", changed)
	}
	if next := e.tasks.put(); len(next) != 1 || next[0].Revision <= put[0].Revision || !next[0].DueAt.Equal(start.Add(time.Minute)) {
		t.Errorf("the tasks are %+v", next)
	}
	if paused := e.operate(sourcesPath+"np15/update", `{"enabled":false}`).ok(t); paused["nextRunAt"] != nil || len(e.tasks.put()) != 0 {
		t.Errorf("paused %v", paused)
	}
	e.operate(sourcesPath+"np15/run", "").expect(t, http.StatusConflict, rest.CodeConflict)
	e.operate(sourcesPath+"np15/update", `{"enabled":true}`).ok(t)
	e.operate(sourcesPath+"np15/run", "").ok(t)
	if put := e.tasks.put(); len(put) != 2 {
		t.Errorf("the tasks are %+v", put)
	}
	if checked := e.operate(sourcesPath+"np15/check", "").ok(t); checked["outcome"] != "STORED" || len(e.tasks.put()) != 0 {
		t.Errorf("checked %v", checked)
	}
	e.operate(sourcesPath+"np15/delete", "").ok(t)
	for _, operation := range []string{"get", "run", "check", "delete"} {
		e.operate(sourcesPath+"np15/"+operation, "").expect(t, http.StatusNotFound, rest.CodeNotFound)
	}
}

// TestSources_Owner keeps the sources of an organization apart from the shared sources.
func TestSources_Owner(t *testing.T) {
	e := newEnv(t, rest.Options{})
	acme, _ := e.twoTenants()
	e.operate(sourcesPath+"create", csvSource+`,"id":"shared"}`).ok(t)
	e.operate(sourcesPath+"create", csvSource+`,"id":"own","organizationId":"acme"}`).ok(t)
	ids := func(body string) (list []string) {
		for _, item := range e.operate(sourcesPath+"list", body).ok(t)["data"].([]any) {
			list = append(list, item.(map[string]any)["id"].(string))
		}
		return list
	}
	if shared, own := ids(`{}`), ids(`{"organizationId":"acme"}`); strings.Join(shared, ",") != "shared" || strings.Join(own, ",") != "own" || ids(`{"organizationId":"bolt"}`) != nil {
		t.Errorf("shared %v, acme's %v", shared, own)
	}
	e.operate(sourcesPath+"own/get", "").expect(t, http.StatusNotFound, rest.CodeNotFound)
	if got := e.operate(sourcesPath+"own/get", `{"organizationId":"acme"}`).ok(t); got["organizationId"] != "acme" {
		t.Errorf("got %v", got)
	}
	e.operate(sourcesPath+"create", csvSource+`,"organizationId":"none"}`).expect(t, http.StatusBadRequest, rest.CodeValidationFailed)
	if a := e.ask(acme, sourcesPath+"list", ""); a.status != http.StatusNotFound {
		t.Errorf("a partner's key gets %d", a.status)
	}
}

// TestSources_Secret looks for the secret of a source in responses, in the audit log, in
// the export and in the log of record.
func TestSources_Secret(t *testing.T) {
	const hush = "hush-hush"
	e := newEnv(t, rest.Options{})
	e.twoTenants()
	made := e.operate(sourcesPath+"create", csvSource+`,"id":"own","organizationId":"acme","secret":"`+hush+`"}`).ok(t)
	stored := func() storage.Source {
		s, err := storage.Get[storage.Source](e.store, storage.KindSource.Ref("acme", "own"))
		must(t, err)
		return s
	}
	sealed := stored().SealedSecret
	if made["secret"] != storage.Masked || sealed == "" || stored().Secret != storage.Masked {
		t.Errorf("made %v, stored %+v", made, stored())
	}
	const own = `{"organizationId":"acme"}`
	for path, body := range map[string]string{
		sourcesPath + "own/get": own, sourcesPath + "list": own, "/v1/admin/audit/list": `{}`, "/v1/admin/organizations/acme/export": `{}`,
		sourcesPath + "own/update": `{"organizationId":"acme","secret":"********","everySeconds":600}`,
	} {
		if a := e.operate(path, body); a.status != http.StatusOK || strings.Contains(string(a.body), hush) {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
	}
	r, err := e.bus.StateLog().Read(t.Context(), storage.KindSource.Ref("acme", "own"))
	must(t, err)
	if strings.Contains(string(r.Value), hush) || strings.Contains(e.log.String(), hush) {
		t.Errorf("the secret is stored or logged: %s", r.Value)
	}
	if got := stored(); got.EverySeconds != 600 || got.SealedSecret != sealed {
		t.Errorf("the mask has changed the secret: %+v", got)
	}
	opened := stored()
	if must(t, e.vault.OpenSource(&opened)); opened.Secret != hush {
		t.Errorf("the secret opens as %q", opened.Secret)
	}
	for id, want := range map[string]float64{"own": 0, "copy": 1} { // a copy has no stored secret
		line := `{"resource":"source","organizationId":"acme","id":"` + id + `","adapter":"csv","url":"https://prices.example/","parameters":{"node":"N"},"secret":"********"}`
		if got := e.importLines(line).ok(t); got["failed"] != want {
			t.Errorf("the import of %s: %v", id, got)
		}
	}
	if got := e.operate(sourcesPath+"own/update", `{"organizationId":"acme","secret":""}`).ok(t); got["secret"] != "" || stored().SealedSecret != "" {
		t.Errorf("without a secret: %v", got)
	}
	e.operate(sourcesPath+"own/update", `{"organizationId":"acme","secret":"********"}`).expect(t, http.StatusBadRequest, rest.CodeValidationFailed)
}

// TestSources_Query seals the query of a source's address, masks it in responses, and keeps it
// with its mask.
func TestSources_Query(t *testing.T) {
	const address, shown = "https://prices.example/file.csv?sig=opaque-q", "https://prices.example/file.csv?********"
	e := newEnv(t, rest.Options{})
	e.twoTenants()
	e.operate(sourcesPath+"create", `{"id":"own","organizationId":"acme","adapter":"csv","url":"`+address+`","parameters":{"node":"N"}}`).ok(t)
	for _, body := range []string{`{"organizationId":"acme","everySeconds":600}`, `{"organizationId":"acme","url":"` + shown + `"}`} {
		if got := e.operate(sourcesPath+"own/update", body).ok(t); got["url"] != shown {
			t.Errorf("%s: the address is shown as %v", body, got["url"])
		}
		s, err := storage.Get[storage.Source](e.store, storage.KindSource.Ref("acme", "own"))
		must(t, err)
		if text := jsonOf(t, s); strings.Contains(text, "opaque") {
			t.Errorf("%s: it is stored as %s", body, text)
		}
		if must(t, e.vault.OpenSource(&s)); s.URL != address {
			t.Errorf("%s: the address opens as %s", body, s.URL)
		}
	}
	e.operate(sourcesPath+"own/update", `{"organizationId":"acme","url":"https://prices.example/other.csv?********"}`).expect(t, http.StatusBadRequest, rest.CodeValidationFailed)
	if a := e.operate("/v1/admin/organizations/acme/export", `{}`); strings.Contains(string(a.body), "opaque") || !strings.Contains(string(a.body), shown) {
		t.Errorf("the export is %s", a.body)
	}
}

// A record that was stored before queries were sealed does not show its query.
func TestSources_UnsealedRecord(t *testing.T) {
	e := newEnv(t, rest.Options{})
	e.twoTenants()
	old := storage.Source{ID: "own", Base: storage.Base{OrganizationID: "acme"}}
	old.Adapter, old.URL, old.EverySeconds, old.Timezone = "csv", "https://prices.example/file.csv?sig=opaque-q", 600, "UTC"
	old.Parameters = map[string]string{"node": "N"}
	must(t, e.store.Create(t.Context(), &old))
	for path, body := range map[string]string{
		sourcesPath + "own/get": `{"organizationId":"acme"}`, sourcesPath + "list": `{"organizationId":"acme"}`, "/v1/admin/organizations/acme/export": `{}`,
	} {
		if a := e.operate(path, body); a.status != http.StatusOK || strings.Contains(string(a.body), "opaque") || !strings.Contains(string(a.body), "file.csv?********") {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
	}
}

// TestSources_SecretStays requires the secret anew if another host would receive it, in an
// update and in an import.
func TestSources_SecretStays(t *testing.T) {
	e := newEnv(t, rest.Options{})
	e.operate(sourcesPath+"create", `{"id":"price","adapter":"ercot","url":"https://ercot.example/api","parameters":{"node":"N","tokenUrl":"https://token.example/"},"secret":"a:b:c"}`).ok(t)
	e.operate(sourcesPath+"create", `{"id":"default","adapter":"ercot","parameters":{"node":"N"},"secret":"a:b:c"}`).ok(t)
	for _, tt := range []struct{ id, change, wrong string }{
		{"price", `"url":"https://ercot.example/other"`, ""},
		{"price", `"parameters":{"node":"M","tokenUrl":"https://token.example/"}`, ""},
		{"price", `"url":"https://evil.example/api"`, "secret"},
		{"price", `"url":"https://evil.example/api","secret":"********"`, "secret"},
		{"price", `"url":"https://ercot.example:444/api"`, "secret"},
		{"price", `"url":""`, "secret"},
		{"price", `"parameters":{"node":"N","tokenUrl":"https://evil.example/"}`, "secret"},
		{"price", `"parameters":{"node":"N"}`, "secret"},
		{"price", `"adapter":"csv","parameters":{"node":"N"}`, "secret"},
		{"default", `"url":"https://evil.example/api"`, "secret"},
		{"default", `"parameters":{"node":"M"}`, ""},
		{"price", `"url":"https://new.example/api","secret":"d:e:f"`, ""},
	} {
		if a := e.operate(sourcesPath+tt.id+"/update", "{"+tt.change+"}"); tt.wrong == "" {
			a.ok(t)
		} else if a.status != http.StatusBadRequest || strings.Join(a.fields(t), " ") != tt.wrong {
			t.Errorf("%s of %s: %d %s", tt.change, tt.id, a.status, a.body)
		}
	}
	line := `{"resource":"source","id":"price","adapter":"ercot","url":"https://HOST/api","parameters":{"node":"N","tokenUrl":"https://token.example/"},"secret":"********"}`
	for host, failed := range map[string]int{"evil.example": 1, "new.example": 0} {
		if got := e.imported(strings.Replace(line, "HOST", host, 1)); got.Failed != failed || failed > 0 && got.Errors[0].Fields[0].Field != "secret" {
			t.Errorf("the import for %s: %+v", host, got)
		}
	}
}

// TestSources_ImportPaused imports a paused source. It stays paused unless the line resumes
// it.
func TestSources_ImportPaused(t *testing.T) {
	e := newEnv(t, rest.Options{})
	e.operate(sourcesPath+"create", csvSource+`,"id":"np15","enabled":false}`).ok(t)
	line := `{"resource":"source","id":"np15",` + csvSource[1:]
	for _, tt := range []struct {
		line string
		want bool
	}{{line + `}`, false}, {line + `,"enabled":true}`, true}, {line + `}`, true}, {line + `,"enabled":false}`, false}} {
		e.load(tt.line)
		if got := e.operate(sourcesPath+"np15/get", "").ok(t); got["enabled"] != tt.want {
			t.Errorf("after %s: enabled %v", tt.line, got["enabled"])
		}
	}
}

// TestSources_Invalid names every wrong field at once.
func TestSources_Invalid(t *testing.T) {
	e := newEnv(t, rest.Options{})
	for body, want := range map[string]string{
		`{"adapter":"none"}`: "adapter",
		`{"adapter":"csv","parameters":{"bogus":"1","market":"SPOT"},"everySeconds":60,"timezone":"Mars","planId":"a b"}`:                                           "parameters.bogus parameters.market parameters.node planId timezone url",
		`{"adapter":"csv","url":"ftp://x/","parameters":{"node":"N"}}`:                                                                                              "url",
		`{"adapter":"csv","url":"https://user:pw@x.example/","parameters":{"node":"N"}}`:                                                                            "url",
		`{"adapter":"csv","url":"https://localhost/","parameters":{"node":"N"}}`:                                                                                    "url",
		`{"adapter":"ercot","parameters":{"node":"N","tokenUrl":"https://localhost/"},"secret":"a:b:c"}`:                                                            "parameters.tokenUrl",
		`{"adapter":"ercot","parameters":{"node":"N","tokenUrl":"token"},"secret":"a:b:c"}`:                                                                         "parameters.tokenUrl",
		`{"adapter":"csv","url":"https://x.example/?********","parameters":{"node":"N"}}`:                                                                           "url",
		`{"adapter":"midas","secret":"t","parameters":{"rin":"USCA-SGIP-MOER-0001"},"planId":"p"}`:                                                                  "planId secret",
		`{"adapter":"csv","url":"https://x.example/","parameters":{"node":"CA","market":"EMISSIONS","priceField":"p","timeField":"t","unit":"g/kWh"},"planId":"p"}`: "planId",
		csvSource + `,"everySeconds":59}`:   "everySeconds",
		csvSource + `,"secret":"********"}`: "secret",
		`{"adapter":"csv","url":"https://x.example/","parameters":{"node":"N","priceField":"p"}}`: "parameters",
	} {
		a := e.operate(sourcesPath+"create", body)
		a.expect(t, http.StatusBadRequest, rest.CodeValidationFailed)
		fields := a.fields(t)
		slices.Sort(fields)
		if got := strings.Join(fields, " "); got != want {
			t.Errorf("%s: %s, want %s", body, got, want)
		}
	}
}

// TestSources_Limit refuses a source beyond the operator's limit.
func TestSources_Limit(t *testing.T) {
	e := newEnv(t, rest.Options{})
	e.store.SetLimit(storage.Limit{Kind: storage.KindSource, Max: 1, Setting: "max-sources"})
	e.operate(sourcesPath+"create", csvSource+`}`).ok(t)
	e.operate(sourcesPath+"create", csvSource+`}`).expect(t, http.StatusConflict, rest.CodeConflict)
}

// TestSources_Adapters lists the adapters with the fields that a source needs.
func TestSources_Adapters(t *testing.T) {
	e := newEnv(t, rest.Options{})
	found := false
	for _, item := range e.operate(sourcesPath+"adapters/list", "").ok(t)["data"].([]any) {
		a := item.(map[string]any)
		if len(a["parameters"].([]any)) == 0 && a["name"] == "csv" || a["everySeconds"].(float64) < 60 || a["timezone"] == "" || a["title"] == "" {
			t.Errorf("the adapter is %v", a)
		}
		found = found || a["name"] == "csv"
	}
	if !found {
		t.Error("the adapter csv is not listed")
	}
}
