package api_test

import (
	"bytes"
	"maps"
	"slices"
	"testing"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/storage"
)

// Header values and the URL's query are sealed in the store and masked in every response.
// A mask keeps the stored value, unless the value would go to another host.
func TestEndpointMasks_Lifecycle(t *testing.T) {
	e := newEnv(t, rest.Options{})
	key, _ := e.twoTenants()
	id := e.ask(key, endpointsPath+"create", `{"url":"https://acme.example/hooks?sig=opaque-q","headers":{"X-Token":"opaque-h"}}`).ok(t)["id"].(string)
	const query = "https://acme.example/hooks?sig=opaque-q"
	token := map[string]string{"X-Token": "opaque-h"}
	for i, step := range []struct {
		body, wrong, url string
		headers          map[string]string
	}{
		{body: `{}`, url: query, headers: token},
		{body: `{"description":"new"}`, url: query, headers: token},
		{body: `{"url":"https://acme.example/hooks?********","headers":{"X-Token":"********"}}`, url: query, headers: token},
		{body: `{"url":"https://acme.example/other?********"}`, wrong: "url", url: query, headers: token},
		{body: `{"headers":{"X-Other":"********"}}`, wrong: "headers.X-Other", url: query, headers: token},
		{body: `{"url":"https://evil.example/hooks"}`, wrong: "headers.X-Token", url: query, headers: token},
		{body: `{"url":"http://acme.example/hooks?********"}`, wrong: "url", url: query, headers: token},
		{body: `{"headers":{"X-Token":"opaque-h","X-Site":"opaque-s"}}`, url: query, headers: map[string]string{"X-Token": "opaque-h", "X-Site": "opaque-s"}},
		{body: `{"headers":{"X-Token":"a\r\nb"}}`, wrong: "headers.X-Token", url: query, headers: map[string]string{"X-Token": "opaque-h", "X-Site": "opaque-s"}},
		{body: `{"url":"https://acme.example/other","headers":{"X-Site":"********"}}`, url: "https://acme.example/other", headers: map[string]string{"X-Site": "opaque-s"}},
		{body: `{"url":"https://moved.example/?sig=opaque-2","headers":{"X-Site":"opaque-t"}}`, url: "https://moved.example/?sig=opaque-2", headers: map[string]string{"X-Site": "opaque-t"}},
		{body: `{"headers":{}}`, url: "https://moved.example/?sig=opaque-2"},
	} {
		a := e.ask(key, endpointsPath+id+"/update", step.body)
		if step.wrong == "" {
			a.ok(t)
		} else if got := a.fields(t); !slices.Contains(got, step.wrong) {
			t.Errorf("step %d: wrong fields %v, want %s: %s", i, got, step.wrong, a.body)
		}
		stored := e.stored(id)
		if text := jsonOf(t, stored); bytes.Contains([]byte(text), []byte("opaque")) {
			t.Errorf("step %d: it is stored as %s", i, text)
		}
		must(t, e.vault.OpenEndpoint(&stored))
		if stored.URL != step.url || !maps.Equal(stored.Headers, step.headers) {
			t.Errorf("step %d: it opens as %s %v", i, stored.URL, stored.Headers)
		}
		for _, shown := range []answer{a, e.ask(key, endpointsPath+id+"/get", ""), e.ask(key, endpointsPath+"list", "")} {
			if bytes.Contains(shown.body, []byte("opaque")) || bytes.Contains(shown.body, []byte("ealed")) {
				t.Errorf("step %d: it shows %s", i, shown.body)
			}
		}
	}
}

// A second import of the same line changes nothing, although values are sealed with
// random nonces.
func TestEndpointMasks_ImportIsIdempotent(t *testing.T) {
	e := newEnv(t, rest.Options{})
	e.twoTenants()
	line := `{"resource":"webhookEndpoint","organizationId":"acme","id":"ep1","url":"https://acme.example/?sig=opaque","headers":{"X-Token":"opaque"}}`
	e.imported(line)
	before := e.store.Revision()
	e.imported(line)
	if after := e.store.Revision(); after != before {
		t.Errorf("the second import made %d writes", after-before)
	}
	if text := jsonOf(t, e.stored("ep1")); bytes.Contains([]byte(text), []byte("opaque")) {
		t.Errorf("it is stored as %s", text)
	}
}

// An unsealed record is masked in responses, and sealed when it is written.
func TestEndpointMasks_UnsealedRecords(t *testing.T) {
	e := newEnv(t, rest.Options{})
	key, _ := e.twoTenants()
	for _, id := range []string{"old1"} {
		old := storage.NewWebhookEndpoint("acme")
		old.ID, old.URL, old.Headers = id, "https://acme.example/?sig=opaque", map[string]string{"X-Token": "opaque"}
		old.Secrets = []storage.SealedSecret{{Sealed: e.vault.Seal("acme", id, "whsec_x"), CreatedAt: storage.Time{Time: e.clock()}}}
		must(t, e.store.Create(t.Context(), &old))
		if a := e.ask(key, endpointsPath+id+"/get", ""); bytes.Contains(a.body, []byte("opaque")) {
			t.Errorf("it shows %s", a.body)
		}
	}
	e.ask(key, endpointsPath+"old1/update", `{"description":"new"}`).ok(t)
	for _, id := range []string{"old1"} {
		stored := e.stored(id)
		if text := jsonOf(t, stored); bytes.Contains([]byte(text), []byte("opaque")) {
			t.Errorf("%s is stored as %s", id, text)
		}
		must(t, e.vault.OpenEndpoint(&stored))
		if stored.URL != "https://acme.example/?sig=opaque" || stored.Headers["X-Token"] != "opaque" {
			t.Errorf("%s opens as %s %v", id, stored.URL, stored.Headers)
		}
	}
}
