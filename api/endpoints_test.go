package api_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/storage"
)

const endpointsPath = "/v1/webhook/endpoints/"

// TestEndpoints_VerifyURL sends the challenge to a new URL only, and stores nothing without
// its echo.
func TestEndpoints_VerifyURL(t *testing.T) {
	e := newEnv(t, rest.Options{})
	key, _ := e.twoTenants()
	refused := e.ask(key, endpointsPath+"create", `{"url":"https://acme.example/mute","verifyUrl":true}`)
	if refused.status != 400 || !strings.Contains(string(refused.body), "did not echo") {
		t.Errorf("a URL without echo gets %d %s", refused.status, refused.body)
	}
	if list := e.ask(key, endpointsPath+"list", "{}"); strings.Contains(string(list.body), "/mute") {
		t.Errorf("the refused endpoint is stored: %s", list.body)
	}
	id := e.ask(key, endpointsPath+"create", `{"url":"https://acme.example/hooks","verifyUrl":true}`).ok(t)["id"].(string)
	for body, status := range map[string]int{
		`{"description":"same URL"}`:               200,
		`{"url":"https://acme.example/mute"}`:      400,
		`{"url":"relay:listen"}`:                   400,
		`{"url":"https://acme.example/elsewhere"}`: 200,
	} {
		if a := e.ask(key, endpointsPath+id+"/update", body); a.status != status {
			t.Errorf("%s gets %d %s, want %d", body, a.status, a.body, status)
		}
	}
	unverified := e.ask(key, endpointsPath+"create", `{"url":"https://acme.example/mute"}`).ok(t)["id"].(string)
	if a := e.ask(key, endpointsPath+unverified+"/update", `{"verifyUrl":true}`); a.status != 400 {
		t.Errorf("verification of an unchanged URL gets %d %s", a.status, a.body)
	}
}

func TestEndpoints_Lifecycle(t *testing.T) {
	e := newEnv(t, rest.Options{})
	key, _ := e.twoTenants()
	made := e.ask(key, endpointsPath+"create", `{"url":"https://acme.example/hooks","eventTypes":["price_signal.updated"],"headers":{"X-Site":"1"}}`).ok(t)
	id := made["id"].(string)
	if !strings.HasPrefix(id, "ep_") || made["timeoutSeconds"] != 10.0 || made["enabled"] != true || made["deliveryMode"] != "always" {
		t.Errorf("made %v", made)
	}
	wanted := map[string]any{"initialSeconds": 5.0, "multiplier": 2.0, "maxSeconds": 900.0, "giveUpSeconds": 86400.0, "disableAfterSeconds": 432000.0}
	if !reflect.DeepEqual(made["retryPolicy"], wanted) {
		t.Errorf("the default policy is %v, want %v", made["retryPolicy"], wanted)
	}
	if secret := made["secret"].(string); len(bytesOf(t, secret)) < 24 {
		t.Errorf("the secret is %q", secret)
	}
	e.pass(time.Minute)
	changed := e.ask(key, endpointsPath+id+"/update", `{"description":"new","retryPolicy":{"initialSeconds":7}}`).ok(t)
	if changed["description"] != "new" || changed["url"] != "https://acme.example/hooks" || changed["headers"].(map[string]any)["X-Site"] != "********" {
		t.Errorf("changed to %v", changed)
	}
	if policy := changed["retryPolicy"].(map[string]any); policy["initialSeconds"] != 7.0 || policy["maxSeconds"] != 900.0 {
		t.Errorf("the policy is %v", policy)
	}
	if changed["createdAt"] != made["createdAt"] || changed["updatedAt"] == made["updatedAt"] {
		t.Errorf("times: %v", changed)
	}
	for _, operation := range []string{id + "/get", "list", id + "/update"} {
		body := ""
		if strings.HasSuffix(operation, "update") {
			body = "{}"
		}
		if a := e.ask(key, endpointsPath+operation, body); strings.Contains(string(a.body), `"secret"`) || strings.Contains(string(a.body), "sealed") || !strings.Contains(string(a.body), id) {
			t.Errorf("%s responds %s", operation, a.body)
		}
	}
	if d := e.ask(key, endpointsPath+id+"/test", "").ok(t); d["outcome"] != "DELIVERED" || d["endpointId"] != id {
		t.Errorf("tested: %v", d)
	}
	if d := e.ask(key, endpointsPath+id+"/delete", "").ok(t); d["deleted"] != true || d["id"] != id {
		t.Errorf("deleted: %v", d)
	}
	for _, operation := range []string{"get", "update", "delete", "rotate_secret", "test"} {
		e.ask(key, endpointsPath+id+"/"+operation, "{}").expect(t, 404, rest.CodeNotFound)
	}
}

func bytesOf(t *testing.T, secret string) []byte {
	t.Helper()
	text, ok := strings.CutPrefix(secret, "whsec_")
	raw, err := base64.StdEncoding.DecodeString(text)
	if !ok || err != nil {
		t.Fatalf("%q is not a signing secret", secret)
	}
	return raw
}

// secrets returns the secrets that sign a delivery of acme's endpoint now, newest first.
func (e *env) secrets(id string) []string {
	e.t.Helper()
	ep, err := storage.Get[storage.WebhookEndpoint](e.store, storage.KindWebhookEndpoint.Ref("acme", id))
	must(e.t, err)
	list := []string{}
	for _, s := range ep.Secrets {
		if s.ExpiresAt.IsZero() || e.clock().Before(s.ExpiresAt.Time) {
			secret, err := e.vault.Open("acme", id, s.Sealed)
			must(e.t, err)
			list = append(list, secret)
		}
	}
	return list
}

func TestEndpoints_SecretRotation(t *testing.T) {
	e := newEnv(t, rest.Options{})
	key, _ := e.twoTenants()
	own := "whsec_" + base64.StdEncoding.EncodeToString([]byte("0123456789abcdef01234567"))
	made := e.ask(key, endpointsPath+"create", `{"url":"https://acme.example/","secret":"`+own+`"}`).ok(t)
	id := made["id"].(string)
	if made["secret"] != own || !slices.Equal(e.secrets(id), []string{own}) {
		t.Fatalf("made %v, stored %v", made, e.secrets(id))
	}
	second := e.ask(key, endpointsPath+id+"/rotate_secret", "").ok(t)["secret"].(string)
	if got := e.secrets(id); !slices.Equal(got, []string{second, own}) {
		t.Errorf("after a rotation: %v", got)
	}
	e.pass(24*time.Hour - time.Second)
	if got := e.secrets(id); len(got) != 2 {
		t.Errorf("just before the overlap's end: %v", got)
	}
	e.pass(time.Second)
	if got := e.secrets(id); !slices.Equal(got, []string{second}) {
		t.Errorf("after the overlap: %v", got)
	}
	for range 3 { // a client repeats a request without a response
		e.ask(key, endpointsPath+id+"/rotate_secret", `{"secret":"`+own+`"}`).ok(t)
	}
	if got := e.secrets(id); !slices.Equal(got, []string{own, second}) {
		t.Errorf("after a repeated rotation: %v", got)
	}
	for range 10 {
		e.ask(key, endpointsPath+id+"/rotate_secret", "{}").ok(t)
	}
	if n := len(e.secrets(id)); n > 4 {
		t.Errorf("%d secrets sign deliveries", n)
	}
}

// An endpoint can be signed for with a key pair, whose private half is never shown. It
// can change between the two signature types.
func TestEndpoints_PublicKeys(t *testing.T) {
	e := newEnv(t, rest.Options{})
	key, _ := e.twoTenants()
	made := e.ask(key, endpointsPath+"create", `{"url":"https://acme.example/","signature":"ed25519"}`).ok(t)
	id, public := made["id"].(string), made["publicKey"].(string)
	raw, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(public, "whpk_"))
	must(t, err)
	if made["secret"] != "" || !strings.HasPrefix(public, "whpk_") || len(raw) != ed25519.PublicKeySize {
		t.Fatalf("made %v", made)
	}
	private, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(e.secrets(id)[0], "whsk_"))
	must(t, err)
	if !bytes.Equal(ed25519.PrivateKey(private).Public().(ed25519.PublicKey), raw) {
		t.Error("the public key does not belong to the stored private key")
	}
	again := e.ask(key, endpointsPath+id+"/rotate_secret", "{}").ok(t)
	if again["publicKey"] == public || again["secret"] != "" {
		t.Errorf("rotated to %v, want another key pair", again)
	}
	hmac := e.ask(key, endpointsPath+id+"/rotate_secret", `{"signature":"hmac"}`).ok(t)
	if hmac["publicKey"] != "" || !strings.HasPrefix(hmac["secret"].(string), "whsec_") || len(e.secrets(id)) != 3 {
		t.Errorf("rotated to %v, want a secret, and the key pairs beside it", hmac)
	}
	own := "whsec_" + base64.StdEncoding.EncodeToString(make([]byte, 32))
	for body, field := range map[string]string{`{"signature":"rsa"}`: "signature", `{"signature":"ed25519","secret":"` + own + `"}`: "secret"} {
		if got := e.ask(key, endpointsPath+id+"/rotate_secret", body).fields(t); !slices.Equal(got, []string{field}) {
			t.Errorf("%s: fields %v", body, got)
		}
	}
}

func TestEndpoints_Invalid(t *testing.T) {
	e := newEnv(t, rest.Options{})
	key, _ := e.twoTenants()
	id := e.ask(key, endpointsPath+"create", `{"url":"https://acme.example/"}`).ok(t)["id"].(string)
	short := "whsec_" + base64.StdEncoding.EncodeToString(make([]byte, 23))
	long := "whsec_" + base64.StdEncoding.EncodeToString(make([]byte, 65))
	for _, c := range []struct {
		body   string
		fields []string
	}{
		{`{"url":"nonsense"}`, []string{"url"}},
		{`{"url":"https://localhost/","description":7,"rateLimit":-1}`, []string{"description", "rateLimit", "url"}},
		{`{"url":"https://a.example/","eventTypes":["x",5,"webhook.test"]}`, []string{"eventTypes[0]", "eventTypes[1]"}},
		{`{"url":"https://a.example/","headers":{"Webhook-Id":"x"}}`, []string{"headers.Webhook-Id"}},
		{`{"url":"https://a.example/","headers":{"X-A":"a\r\nX-B: b"}}`, []string{"headers.X-A"}},
		{`{"url":"https://a.example/","headers":{"X A":"a"}}`, []string{"headers"}},
		{`{"url":"https://a.example/","timeoutSeconds":0.09}`, []string{"timeoutSeconds"}},
		{`{"url":"https://a.example/","timeoutSeconds":60.1}`, []string{"timeoutSeconds"}},
		{`{"url":"https://a.example/","deliveryMode":"sometimes"}`, []string{"deliveryMode"}},
		{`{"url":"https://a.example/","enabled":null}`, []string{"enabled"}},
		{`{"url":"https://a.example/","retryPolicy":{"initialSeconds":0,"multiplier":11}}`, []string{"retryPolicy.initialSeconds", "retryPolicy.multiplier"}},
		{`{"url":"https://a.example/","URL":"https://b.example/"}`, []string{"URL"}},
		{`{"url":"https://a.example/","url":"https://b.example/"}`, []string{"url"}},
	} {
		for _, operation := range []string{"create", id + "/update"} {
			got := e.ask(key, endpointsPath+operation, c.body).expect(t, 400, rest.CodeValidationFailed).fields(t)
			if slices.Sort(got); !slices.Equal(got, c.fields) {
				t.Errorf("%s with %s: fields %v, want %v", operation, c.body, got, c.fields)
			}
		}
	}
	for _, secret := range []string{"x", "whsec_", "whsec_!!!", short, long, "WHSEC_" + own32} {
		for operation, body := range map[string]string{"create": `{"url":"https://a.example/","secret":%q}`, id + "/rotate_secret": `{"secret":%q}`} {
			got := e.ask(key, endpointsPath+operation, fmt.Sprintf(body, secret)).expect(t, 400, rest.CodeValidationFailed).fields(t)
			if !slices.Equal(got, []string{"secret"}) && secret != "" {
				t.Errorf("%s with %s: fields %v", operation, secret, got)
			}
		}
	}
	e.ask(key, endpointsPath+"create", `{}`).expect(t, 400, rest.CodeValidationFailed)
	for _, body := range []string{`{"url":"https://a.example/","timeoutSeconds":0.1}`, `{"url":"https://a.example/","timeoutSeconds":60}`, `{"url":"https://a.example/","secret":"whsec_` + own32 + `"}`} {
		e.ask(key, endpointsPath+"create", body).ok(t)
	}
}

// own32 is a partner's own secret, without its prefix.
var own32 = base64.StdEncoding.EncodeToString([]byte("0123456789abcdef0123456789abcdef"))

func TestEndpoints_Pages(t *testing.T) {
	e := newEnv(t, rest.Options{})
	key, _ := e.twoTenants()
	made := []string{}
	for i := range 5 {
		e.pass(time.Second)
		made = append(made, e.ask(key, endpointsPath+"create", fmt.Sprintf(`{"url":"https://acme.example/%d"}`, i)).ok(t)["id"].(string))
	}
	listed, after := []string{}, ""
	for range 10 {
		page := e.ask(key, endpointsPath+"list", fmt.Sprintf(`{"limit":2,"after":%q}`, after)).ok(t)
		for _, v := range page["data"].([]any) {
			listed = append(listed, v.(map[string]any)["id"].(string))
		}
		next, ok := page["next"].(string)
		if !ok {
			break
		}
		after = next
	}
	if !slices.Equal(listed, made) {
		t.Errorf("listed %v, made %v", listed, made)
	}
	for body, ok := range map[string]bool{`{"limit":1}`: true, `{"limit":1000}`: true, `{"limit":0}`: false, `{"limit":1001}`: false, `{"limit":1.5}`: false, `{"after":"a.b"}`: false} {
		if a := e.ask(key, endpointsPath+"list", body); (a.status == http.StatusOK) != ok {
			t.Errorf("%s: %d %s", body, a.status, a.body)
		}
	}
}
