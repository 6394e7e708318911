package api_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gridhook/gridhook/api"
	"github.com/gridhook/gridhook/api/openadr"
	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// An organization's endpoints are limited, over all keys and operations.
func TestLimits_EndpointsPerOrganization(t *testing.T) {
	e := newEnv(t, rest.Options{})
	e.store.SetLimit(storage.Limit{Kind: storage.KindWebhookEndpoint, Max: 2, Setting: "max-endpoints"})
	key, _ := e.twoTenants()
	id := e.ask(key, endpointsPath+"create", `{"url":"https://acme.example/a","enabled":false}`).ok(t)["id"].(string)
	e.ask(key, endpointsPath+"create", `{"url":"https://acme.example/b"}`).ok(t)
	refused := e.ask(key, endpointsPath+"create", `{"url":"https://acme.example/c"}`)
	refused.expect(t, http.StatusConflict, rest.CodeConflict)
	if !strings.Contains(string(refused.body), "reached the limit max-endpoints: 2.") {
		t.Errorf("refused with %s, want the limit's name", refused.body)
	}
	e.ask(key, endpointsPath+id+"/update", `{"enabled":true}`).ok(t)
	lines := `{"resource":"webhookEndpoint","organizationId":"acme","id":"ep1","url":"https://acme.example/1"}` + "\n" +
		`{"resource":"webhookEndpoint","organizationId":"acme","id":"ep2","url":"https://acme.example/2"}`
	e.ask(key, endpointsPath+id+"/delete", "").ok(t)
	got := e.imported(lines)
	if got.Created != 1 || got.Failed != 1 || got.Errors[0].ID != "ep2" || !strings.Contains(got.Errors[0].Fields[0].Message, "max-endpoints") {
		t.Errorf("imported %+v, want one, and an error of the limit for the other", got)
	}
}

// TestTriggerQuota exceeds an organization's quota of waiting triggers. Another
// organization's triggers are accepted meanwhile, and a repeated request gets its first
// response.
func TestTriggerQuota(t *testing.T) {
	e := newEnv(t, rest.Options{})
	acme, bolt := e.twoTenants()
	e.quota = events.Quota{Waiting: 2}
	process := e.another(rest.Options{})
	ask := func(key string, once ...string) answer {
		return e.send(request{url: process + triggerPath, body: `{}`, header: http.Header{rest.KeyHeader: {key}, rest.IdempotencyHeader: once}})
	}
	ask(acme).ok(t)
	first := ask(acme, "one").ok(t)["triggerId"]
	if again := ask(acme, "one").ok(t)["triggerId"]; again != first {
		t.Errorf("the repeated request got %v, want %v", again, first)
	}
	ask(acme, "two").expect(t, http.StatusTooManyRequests, rest.CodeRateLimited)
	refused := ask(acme).expect(t, http.StatusTooManyRequests, rest.CodeRateLimited)
	if !strings.Contains(string(refused.body), "max-waiting: 2 of 2") || refused.header.Get("Retry-After") == "" {
		t.Errorf("refused with %s, want the limit's name", refused.body)
	}
	ask(bolt).ok(t)
}

// TestHistoryQuota_OpenADR fills an organization's history. A change of an OpenADR object is then
// refused, and a deletion is not.
func TestHistoryQuota_OpenADR(t *testing.T) {
	e := newEnv(t, rest.Options{})
	acme, _ := e.twoTenants()
	e.quota = events.Quota{Bytes: 1}
	key := e.key("acme", storage.ScopeBusiness) // before the other process, which begins with all records
	deps := e.process(slog.New(slog.DiscardHandler))
	deps.Registerer, deps.OpenADR = nil, true
	e.public = e.serve(publicAPI(deps, rest.Options{}))
	at, token := e.token(key)
	program := func(method, path string) answer {
		return e.send(request{method: method, url: at + path, header: http.Header{"Authorization": {"Bearer " + token}}, body: `{"programName":"` + path + `"}`})
	}
	id := program(http.MethodPost, "programs").expect(t, http.StatusCreated, "").object(t)["id"].(string)
	e.ask(acme, triggerPath, `{}`).ok(t)
	if _, err := deps.Ledger.Usage("acme"); err != nil { // waits for the trigger
		t.Fatal(err)
	}
	for method, path := range map[string]string{http.MethodPost: "programs", http.MethodPut: "programs/" + id} {
		if refused := program(method, path); refused.status != http.StatusTooManyRequests || !strings.Contains(string(refused.body), "max-history") {
			t.Errorf("%s ends with %d %s, want the limit's name", method, refused.status, refused.body)
		}
	}
	program(http.MethodDelete, "programs/"+id).ok(t)
}

// heldTester responds to no test webhook and to no challenge before released is closed.
type heldTester struct {
	tester
	began    chan struct{}
	released chan struct{}
}

func (h heldTester) SendTest(ctx context.Context, e storage.WebhookEndpoint) (events.Delivery, error) {
	h.began <- struct{}{}
	<-h.released
	return h.tester.SendTest(ctx, e)
}

func (h heldTester) Verify(ctx context.Context, rawURL string) error {
	h.began <- struct{}{}
	<-h.released
	return h.tester.Verify(ctx, rawURL)
}

// An organization has at most 8 tests of slow endpoints and verifications of slow URLs at once,
// together with the child organizations that its keys act for. Another organization can test
// meanwhile.
func TestEndpoint_TestsAtOnce(t *testing.T) {
	e := newEnv(t, rest.Options{})
	acme, bolt := e.twoTenants()
	held := heldTester{began: make(chan struct{}), released: make(chan struct{})}
	e.deps.Tester, e.deps.Registerer, e.deps.OpenADR, e.deps.VerifyCallbacks = held, nil, true, true
	e.public = e.serve(publicAPI(e.deps, rest.Options{}))
	endpoint := endpointsPath + e.newEndpoint(acme)
	path, other := endpoint+"/test", endpointsPath+e.newEndpoint(bolt)+"/test"
	verified := `{"url":"https://acme.example/slow","verifyUrl":true}`
	subscribe := e.subscriber(e.key("acme", storage.ScopeBusiness))
	var tests sync.WaitGroup
	for range 5 {
		tests.Go(func() { e.ask(acme, path, "").ok(t) })
		<-held.began
	}
	tests.Go(func() { e.ask(acme, endpointsPath+"create", verified).ok(t) })
	<-held.began
	tests.Go(func() { e.ask(acme, endpoint+"/update", verified).ok(t) })
	<-held.began
	tests.Go(func() { subscribe().expect(t, http.StatusCreated, "") })
	<-held.began
	e.ask(acme, path, "").expect(t, http.StatusTooManyRequests, rest.CodeRateLimited)
	e.ask(acme, endpointsPath+"create", verified).expect(t, http.StatusTooManyRequests, rest.CodeRateLimited)
	if refused := subscribe(); refused.status != http.StatusTooManyRequests || refused.header.Get("Retry-After") == "" {
		t.Errorf("a subscription gets %d %s", refused.status, refused.body)
	}
	tests.Go(func() { e.ask(bolt, other, "").ok(t) })
	<-held.began
	close(held.released)
	tests.Wait()
	tests.Go(func() { e.ask(acme, path, "").ok(t) })
	<-held.began
	tests.Wait()
}

// subscriber returns a function that creates an OpenADR subscription with a callback.
func (e *env) subscriber(key string) func() answer {
	e.t.Helper()
	at, token := e.token(key)
	return func() answer {
		return e.send(request{
			url: at + "subscriptions", header: http.Header{"Authorization": {"Bearer " + token}},
			body: `{"clientName":"c","objectOperations":[{"objects":["EVENT"],"operations":["CREATE"],"callbackUrl":"https://acme.example/slow"}]}`,
		})
	}
}

// token returns the URL of the OpenADR interface and an access token of a key.
func (e *env) token(key string) (at, token string) {
	e.t.Helper()
	id, _, _ := storage.SplitKey(storage.KeyPrefix, key)
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {id}, "client_secret": {key}}
	at = e.public.URL + openadr.Prefix + "3.1.1/"
	return at, e.send(request{url: at + "auth/token", body: form.Encode(), header: http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}}).ok(e.t)["access_token"].(string)
}

// TestLimits_LiveKeys checks that revoked and expired keys do not count, and that a key can
// be rotated at the limit.
func TestLimits_LiveKeys(t *testing.T) {
	e := newEnv(t, rest.Options{})
	e.store.SetLimit(storage.Limit{Kind: storage.KindKey, Max: 2, Setting: "max-keys", Counts: storage.CountLive(e.clock)})
	e.load(`{"resource":"organization","id":"acme","name":"A"}`)
	create := func(more string) answer {
		return e.operate("/v1/admin/keys/create", `{"organizationId":"acme"`+more+`}`)
	}
	id := create("").ok(t)["keyId"].(string)
	create(`,"expiresAt":"2026-07-01T13:00:00.000Z"`).ok(t)
	create("").expect(t, http.StatusConflict, rest.CodeConflict)
	e.operate("/v1/admin/keys/"+id+"/rotate", `{"overlapSeconds":0}`).ok(t)
	create("").expect(t, http.StatusConflict, rest.CodeConflict)
	e.pass(time.Hour)
	create("").ok(t)
	create("").expect(t, http.StatusConflict, rest.CodeConflict)
}

// TestLimits_MaxState checks the response at the limit of an organization's stored bytes to
// a creation and to an update that grows, and that the use of a key is still recorded.
func TestLimits_MaxState(t *testing.T) {
	e := newEnv(t, rest.Options{})
	key, _ := e.twoTenants()
	id := e.ask(key, endpointsPath+"create", `{"url":"https://acme.example/a"}`).ok(t)["id"].(string)
	e.store.SetMaxState(1)
	for path, body := range map[string]string{"create": `{"url":"https://acme.example/b"}`, id + "/update": `{"description":"a longer description"}`} {
		refused := e.ask(key, endpointsPath+path, body)
		refused.expect(t, http.StatusConflict, rest.CodeConflict)
		if !strings.Contains(string(refused.body), "max-state: 1 bytes of stored records") {
			t.Errorf("%s is refused with %s", path, refused.body)
		}
	}
	use := &storage.KeyUse{KeyID: "key_1", LastUsedAt: storage.Time{Time: start}, Base: storage.Base{OrganizationID: "acme"}}
	if r := e.store.Upsert(t.Context(), []storage.Entity{use}); r[0].Err != nil {
		t.Errorf("the use of a key: %v", r[0].Err)
	}
}

// TestLimits_Fixed checks the response at a limit that no setting raises.
func TestLimits_Fixed(t *testing.T) {
	e := newEnv(t, rest.Options{})
	e.store.SetLimit(storage.Limit{Kind: storage.KindHome, Max: 2})
	e.twoTenants()
	e.operate("/v1/admin/homes/create", `{"organizationId":"acme","timezone":"America/Chicago"}`).ok(t)
	refused := e.operate("/v1/admin/homes/create", `{"organizationId":"acme","timezone":"America/Chicago"}`)
	refused.expect(t, http.StatusConflict, rest.CodeConflict)
	if !strings.Contains(string(refused.body), "2 of kind home, which is the limit") {
		t.Errorf("refused with %s", refused.body)
	}
}

// TestReads_InTurn checks which operations wait until earlier long reads of the organization
// have ended. The price signal of a day does not.
func TestReads_InTurn(t *testing.T) {
	e := newEnv(t, rest.Options{})
	key, _ := e.twoTenants()
	endpoint := e.newEndpoint(key)
	ctx, end := context.WithCancel(t.Context())
	t.Cleanup(end)
	d := e.deps
	d.Registerer = nil
	busy := e.serve(api.WhileReading(ctx, d, usual(rest.Options{Timeout: time.Millisecond}), "acme"))
	ask := func(path, body string) answer {
		return e.send(request{url: busy.URL + path, body: body, header: http.Header{rest.KeyHeader: {key}}})
	}
	for _, waits := range []struct{ path, body string }{
		{"/v1/homes/list", ""},
		{"/v1/webhook/endpoints/list", ""},
		{"/v1/webhook/endpoints/" + endpoint + "/replay", `{"since":"2026-07-01T00:00:00Z"}`},
		{"/v1/webhook/replays/list", ""},
		{"/v1/webhook/schedules/list", ""},
		{"/v1/channels/list", ""},
		{"/v1/devices/hvac/list", ""},
		{"/v1/webhook/price_signal/trigger/list", ""},
		{"/v1/webhook/deliveries/list", ""},
		{"/v1/webhook/deliveries/history", ""},
		{"/v1/webhook/deliveries/msg_1/get", ""},
		{"/v1/webhook/deliveries/msg_1/request", ""},
		{signalPath, `{"explain":true}`},
		{signalPath, padded(rest.LargeBody + 1)},
		{signalPath, `{"startTime":"2026-07-01T00:00:00Z","endTime":"2026-07-03T00:00:00Z"}`},
	} {
		ask(waits.path, waits.body).expect(t, http.StatusServiceUnavailable, rest.CodeUnavailable)
	}
	ask(signalPath, "").ok(t)
}

// TestBodies_LargeWrong checks that only the schema of a large body with wrong fields is
// checked. The further checks of 50,000 headers took a quarter of a second.
func TestBodies_LargeWrong(t *testing.T) {
	e := newEnv(t, rest.Options{})
	key, _ := e.twoTenants()
	ask := func(padding int) []string {
		body := `{"url":"ftp://acme.example/","timeoutSeconds":"soon"` + strings.Repeat(" ", padding) + `}`
		return e.ask(key, "/v1/webhook/endpoints/create", body).expect(t, http.StatusBadRequest, rest.CodeValidationFailed).fields(t)
	}
	if got := ask(0); len(got) != 2 {
		t.Errorf("of a small body the fields %v are wrong, want two", got)
	}
	if got := ask(rest.LargeBody); len(got) != 1 || got[0] != "timeoutSeconds" {
		t.Errorf("of a large body the fields %v are wrong", got)
	}
}
