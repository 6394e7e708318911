package api_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/storage"
)

// clientCertificate returns a certificate that expires at a time, and its key, in PEM.
func clientCertificate(t *testing.T, until time.Time) (certificate, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: until.Add(-time.Hour), NotAfter: until}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	must(t, err)
	raw, err := x509.MarshalPKCS8PrivateKey(private)
	must(t, err)
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw}))
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	must(t, err)
	return string(text)
}

// stored returns acme's endpoint as it is stored.
func (e *env) stored(id string) storage.WebhookEndpoint {
	e.t.Helper()
	ep, err := storage.Get[storage.WebhookEndpoint](e.store, storage.KindWebhookEndpoint.Ref("acme", id))
	must(e.t, err)
	return ep
}

// Credentials are sealed in the store and never shown. An update without them keeps them,
// unless they would go to another host.
func TestEndpointAuth_Lifecycle(t *testing.T) {
	e := newEnv(t, rest.Options{})
	key, _ := e.twoTenants()
	made := e.ask(key, endpointsPath+"create", `{"url":"https://acme.example/hooks","authentication":{"type":"bearer","token":"opaque-token"}}`)
	id := made.ok(t)["id"].(string)
	update := func(body string) answer { return e.ask(key, endpointsPath+id+"/update", body) }
	secret := func() string {
		t.Helper()
		a := e.stored(id).Authentication
		if a == nil {
			return ""
		}
		if strings.Contains(jsonOf(t, a), "opaque") {
			t.Errorf("it is stored as %s", jsonOf(t, a))
		}
		text, err := e.vault.Open("acme", id, a.Sealed)
		must(t, err)
		return text
	}
	tokenURL := func() string {
		opened := e.stored(id)
		must(t, e.vault.OpenEndpoint(&opened))
		if opened.Authentication == nil {
			return ""
		}
		return opened.Authentication.TokenURL
	}
	for i, step := range []struct{ body, secret, wrong string }{
		{body: `{}`, secret: "opaque-token"},
		{body: `{"description":"new"}`, secret: "opaque-token"},
		{body: `{"authentication":{"type":"bearer","token":"********"}}`, secret: "opaque-token"},
		{body: `{"authentication":{"type":"bearer"}}`, secret: "opaque-token"},
		{body: `{"url":"https://acme.example/other"}`, secret: "opaque-token"},
		{body: `{"url":"https://evil.example/hooks"}`, secret: "opaque-token", wrong: "authentication.token"},
		{body: `{"url":"https://acme.example:8443/hooks"}`, secret: "opaque-token", wrong: "authentication.token"},
		{body: `{"url":"https://moved.example/hooks","authentication":{"type":"bearer","token":"opaque-2"}}`, secret: "opaque-2"},
		{body: `{"authentication":{"type":"oauth2","tokenUrl":"https://auth.example/token","clientId":"us"}}`, secret: "opaque-2", wrong: "authentication.clientSecret"},
		{body: `{"authentication":{"type":"oauth2","tokenUrl":"https://auth.example/token","clientId":"us","clientSecret":"opaque-3"}}`, secret: "opaque-3"},
		{body: `{"authentication":{"type":"oauth2","tokenUrl":"https://auth.example/token","clientId":"us","scopes":["a"],"audience":"b"}}`, secret: "opaque-3"},
		{body: `{"authentication":{"type":"oauth2","tokenUrl":"https://auth.example/token?k=opaque-q","clientId":"us","clientSecret":"opaque-3"}}`, secret: "opaque-3"},
		{body: `{"description":"newer"}`, secret: "opaque-3"},
		{body: `{"authentication":{"type":"oauth2","tokenUrl":"https://evil.example/token?********","clientId":"us","clientSecret":"opaque-3"}}`, secret: "opaque-3", wrong: "authentication.tokenUrl"},
		{body: `{"authentication":{"type":"oauth2","tokenUrl":"https://auth.example/token?********","clientId":"us"}}`, secret: "opaque-3"},
		{body: `{"authentication":{"type":"oauth2","tokenUrl":"https://evil.example/token","clientId":"us"}}`, secret: "opaque-3", wrong: "authentication.clientSecret"},
		{body: `{"url":"https://evil.example/hooks"}`, secret: "opaque-3", wrong: "authentication.clientSecret"},
		{body: `{"headers":{"authorization":"Basic x"}}`, secret: "opaque-3", wrong: "headers.authorization"},
		{body: `{"authentication":null,"headers":{"authorization":"Basic x"}}`},
		{body: `{"authentication":{"type":"bearer"}}`, wrong: "authentication.token"},
	} {
		a := update(step.body)
		if step.wrong == "" {
			a.ok(t)
		} else if got := a.fields(t); !slices.Contains(got, step.wrong) {
			t.Errorf("step %d: wrong fields %v, want %s: %s", i, got, step.wrong, a.body)
		}
		if got := tokenURL(); strings.Contains(step.body, "token?********") && got != "https://auth.example/token?k=opaque-q" {
			t.Errorf("step %d: the token URL opens as %s", i, got)
		}
		if got := secret(); got != step.secret {
			t.Errorf("step %d: the secret is %q, want %q", i, got, step.secret)
		}
		for _, shown := range []answer{a, e.ask(key, endpointsPath+id+"/get", ""), e.ask(key, endpointsPath+"list", "")} {
			if bytes.Contains(shown.body, []byte("opaque")) || bytes.Contains(shown.body, []byte("ealed")) {
				t.Errorf("step %d: it shows %s", i, shown.body)
			}
		}
	}
}

func TestEndpointAuth_Invalid(t *testing.T) {
	e := newEnv(t, rest.Options{})
	key, _ := e.twoTenants()
	certificate, private := clientCertificate(t, e.clock().Add(time.Hour))
	ended, endedKey := clientCertificate(t, e.clock().Add(-time.Hour))
	cert := func(certificate, key string) string {
		return `"clientCertificate":` + jsonOf(t, map[string]string{"certificate": certificate, "privateKey": key})
	}
	for body, want := range map[string][]string{
		`"authentication":{}`:                                                            {"authentication.token", "authentication.type"},
		`"authentication":{"type":"basic","token":"x"}`:                                  {"authentication.type"},
		`"authentication":{"type":"bearer","token":"********"}`:                          {"authentication.token"},
		`"authentication":{"type":"bearer","token":"two words"}`:                         {"authentication.token"},
		`"authentication":{"type":"bearer","token":"x\r\nX-Evil: 1"}`:                    {"authentication.token"},
		`"authentication":{"type":"bearer","token":"x","clientId":"y"}`:                  {"authentication.clientId"},
		`"authentication":{"type":"oauth2"}`:                                             {"authentication.clientId", "authentication.clientSecret", "authentication.tokenUrl"},
		oauth2("https://localhost/token"):                                                {"authentication.tokenUrl"},
		`"authentication":{"type":"bearer","token":"x"},"headers":{"AUTHORIZATION":"y"}`: {"headers.AUTHORIZATION"},
		cert("x", private):             {"clientCertificate.certificate"},
		cert(certificate, ""):          {"clientCertificate.privateKey"},
		cert(certificate, "x"):         {"clientCertificate.privateKey"},
		cert(certificate, endedKey):    {"clientCertificate.privateKey"},
		cert(ended, endedKey):          {"clientCertificate.certificate"},
		cert(certificate+"x", private): {"clientCertificate.certificate"},
	} {
		got := e.ask(key, endpointsPath+"create", `{"url":"https://acme.example/",`+body+`}`).fields(t)
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%.100s: wrong fields %v, want %v", body, got, want)
		}
	}
}

func oauth2(tokenURL string) string {
	return `"authentication":{"type":"oauth2","clientId":"us","clientSecret":"x","tokenUrl":"` + tokenURL + `"}`
}

func TestClientCertificate_Lifecycle(t *testing.T) {
	e := newEnv(t, rest.Options{})
	key, _ := e.twoTenants()
	certificate, private := clientCertificate(t, e.clock().Add(24*time.Hour))
	made := e.ask(key, endpointsPath+"create", `{"url":"https://acme.example/","clientCertificate":`+jsonOf(t, map[string]string{"certificate": certificate, "privateKey": private})+`}`).ok(t)
	id, shown := made["id"].(string), made["clientCertificate"].(map[string]any)
	if shown["certificate"] != certificate || shown["privateKey"] != "********" || !strings.HasPrefix(shown["expiresAt"].(string), e.clock().Add(24*time.Hour).UTC().Format("2006-01-02T15")) {
		t.Errorf("it is shown as %v", shown)
	}
	opened := func() string {
		c := e.stored(id).ClientCertificate
		text, err := e.vault.Open("acme", id, c.SealedKey)
		must(t, err)
		if strings.Contains(c.SealedKey, "PRIVATE") {
			t.Error("the key is not sealed")
		}
		return text
	}
	// An update with the masked values of a response changes nothing.
	before := e.stored(id).ClientCertificate.SealedKey
	e.ask(key, endpointsPath+id+"/update", `{"clientCertificate":`+jsonOf(t, shown)+`}`).ok(t)
	if opened() != private || e.stored(id).ClientCertificate.SealedKey != before {
		t.Error("the key changed")
	}
	other, otherKey := clientCertificate(t, e.clock().Add(24*time.Hour))
	if got := e.ask(key, endpointsPath+id+"/update", `{"clientCertificate":`+jsonOf(t, map[string]string{"certificate": other})+`}`).fields(t); !slices.Equal(got, []string{"clientCertificate.privateKey"}) {
		t.Errorf("with another's key: wrong fields %v", got)
	}
	e.ask(key, endpointsPath+id+"/update", `{"clientCertificate":`+jsonOf(t, map[string]string{"certificate": other, "privateKey": otherKey})+`}`).ok(t)
	if opened() != otherKey {
		t.Error("the key did not change")
	}
	e.pass(25 * time.Hour) // the certificate expires
	if got := e.ask(key, endpointsPath+id+"/update", `{"enabled":false}`).ok(t); got["enabled"] != false || opened() != otherKey {
		t.Errorf("with an expired certificate it is changed to %v", got)
	}
	if got := e.ask(key, endpointsPath+id+"/update", `{"clientCertificate":null}`).ok(t); got["clientCertificate"] != nil || e.stored(id).ClientCertificate != nil {
		t.Errorf("it is still there: %v", got)
	}
}

// A second import of the same line changes nothing, although each seal differs.
func TestEndpointAuth_Import(t *testing.T) {
	e := newEnv(t, rest.Options{})
	key, _ := e.twoTenants()
	line := `{"resource":"webhookEndpoint","organizationId":"acme","id":"imported","url":"https://acme.example/","authentication":{"type":"bearer","token":"TOKEN"}}`
	for i, step := range []struct{ token, change, holds string }{
		{"opaque", "created", "opaque"}, {"opaque", "unchanged", "opaque"}, {"********", "unchanged", "opaque"}, {"other", "updated", "other"},
	} {
		var got wire.Imported
		must(t, json.Unmarshal(e.importLines(strings.Replace(line, "TOKEN", step.token, 1)).body, &got))
		if n := map[string]int{"created": got.Created, "unchanged": got.Unchanged, "updated": got.Updated}[step.change]; n != 1 {
			t.Errorf("step %d: %+v, want %s", i, got, step.change)
		}
		if text, err := e.vault.Open("acme", "imported", e.stored("imported").Authentication.Sealed); err != nil || text != step.holds {
			t.Errorf("step %d: the record holds %q, %v", i, text, err)
		}
	}
	if a := e.ask(key, endpointsPath+"imported/get", ""); bytes.Contains(a.body, []byte("other")) {
		t.Errorf("it is shown as %s", a.body)
	}
}
