package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	natsjs "github.com/nats-io/nats.go/jetstream"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/storage"
)

// repeat sends a request with an idempotency key.
func (e *env) repeat(server, key, path, body string, idempotency ...string) answer {
	e.t.Helper()
	r := request{url: server + path, body: body, header: http.Header{rest.IdempotencyHeader: idempotency}}
	if key != "" {
		r.header[rest.KeyHeader] = []string{key}
	}
	return e.send(r)
}

const feedbackPath = "/v1/feedback"

// The repeat of a request gets the first response, even if the home is deleted meanwhile.
func TestIdempotency_SolarOfDeletedHome(t *testing.T) {
	e := newEnv(t, rest.Options{})
	acme, _ := e.twoTenants()
	ask := func() answer {
		return e.repeat(e.public.URL, acme, "/v1/homes/solar/create", `{"homeId":"home1","solarSystemSizeKw":5}`, "order-1")
	}
	first := ask().expect(t, 200, "")
	must(t, e.store.Delete(t.Context(), storage.KindHome.Ref("acme", "home1")))
	if again := ask().expect(t, 200, ""); string(again.body) != string(first.body) {
		t.Errorf("first %s, second %s", first.body, again.body)
	}
}

// The repeat of a request gets the first response, even if a new request would be refused now.
// TestTriggerQuota repeats a trigger.
func TestIdempotency_RepeatThatIsRefusedNow(t *testing.T) {
	e := newEnv(t, rest.Options{})
	acme, _ := e.twoTenants()
	e.store.SetLimit(storage.Limit{Kind: storage.KindSchedule, Max: 1, Setting: "max-schedules"})
	e.store.SetLimit(storage.Limit{Kind: storage.KindWebhookEndpoint, Max: 2, Setting: "max-endpoints"})
	e.load(`{"resource":"home","organizationId":"acme","id":"sf","zipcode":"94103"}`)
	endpoint := e.newEndpoint(acme)
	for _, c := range []struct {
		path, body string
		change     func()
		refused    int
	}{
		{"/v1/webhook/schedules/create", `{"everyMinutes":60}`, func() {}, 409},
		{"/v1/webhook/endpoints/create", `{"url":"https://acme.example/hooks"}`, func() {}, 409},
		{endpointsPath + endpoint + "/replay", `{"since":"2026-07-01T00:00:00Z"}`, func() { e.ask(acme, endpointsPath+endpoint+"/delete", "").ok(t) }, 404},
		{
			"/v1/homes/solar/create", `{"homeId":"sf","solarSystemSizeKw":5,"exportValues":"PG&E NBT24"}`,
			func() { e.operate("/v1/admin/homes/sf/update", `{"organizationId":"acme","zipcode":"60614"}`).ok(t) }, 200,
		},
	} {
		ask := func(once string) answer { return e.repeat(e.public.URL, acme, c.path, c.body, once) }
		first := ask("first").expect(t, 200, "")
		c.change()
		if again := ask("first").expect(t, 200, ""); string(again.body) != string(first.body) {
			t.Errorf("%s: first %s, second %s", c.path, first.body, again.body)
		}
		if got := ask("other"); got.status != c.refused {
			t.Errorf("%s with another key: %d %s, want %d", c.path, got.status, got.body, c.refused)
		}
	}
}

func TestIdempotency_Repeats(t *testing.T) {
	e := newEnv(t, rest.Options{})
	acme, bolt := e.twoTenants()
	for _, c := range []struct {
		name, path, key, body, same, other string
	}{
		{"trigger", triggerPath, acme, `{}`, ` {"startTime":null} `, `{"startTime":"2026-07-01T12:00:00Z","endTime":"2026-07-01T13:00:00Z"}`},
		{"solar", "/v1/homes/solar/create", acme, `{"homeId":"home1","solarSystemSizeKw":5}`, `{"solarSystemSizeKw":5.0,"homeId":"home1","isNonNetMetered":false}`, `{"homeId":"home1","solarSystemSizeKw":6}`},
		{"endpoint", endpointsPath + "create", acme, `{"url":"https://acme.example/hooks/token-1"}`, `{"url":"https://acme.example/hooks/token-1","enabled":true}`, `{"url":"https://acme.example/hooks/token-2"}`},
		{"channel", "/v1/channels/create", acme, `{"kind":"SLACK","address":"https://slack.example/a"}`, `{"address":"https://slack.example/a","kind":"SLACK"}`, `{"kind":"SLACK","address":"https://slack.example/b"}`},
		{"feedback", feedbackPath, "", `{"feedback_type":"bug","summary":"s","message":"m"}`, `{"message":"m","summary":"s","feedback_type":"bug"}`, `{"feedback_type":"bug","summary":"s","message":"n"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			ask := func(body string) answer { return e.repeat(e.public.URL, c.key, c.path, body, "order-1") }
			first := ask(c.body).expect(t, 200, "")
			e.pass(time.Minute)
			for _, body := range []string{c.body, c.same} {
				if again := ask(body).expect(t, 200, ""); string(again.body) != string(first.body) {
					t.Errorf("first %s, second %s", first.body, again.body)
				}
			}
			ask(c.other).expect(t, 409, rest.CodeConflict)
			e.repeat(e.public.URL, c.key, c.path, c.other, "order-2").expect(t, 200, "")
			e.pass(24*time.Hour - time.Minute - time.Second)
			if again := ask(c.body).expect(t, 200, ""); string(again.body) != string(first.body) {
				t.Errorf("first %s, at the end of the day %s", first.body, again.body)
			}
			e.pass(time.Second)
			later := ask(c.other).expect(t, 200, "")
			if again := ask(c.other).expect(t, 200, ""); string(again.body) != string(later.body) {
				t.Errorf("a day later %s, then %s", later.body, again.body)
			}
			for _, bad := range [][]string{{""}, {"a b"}, {"a", "a"}, {strings.Repeat("a", 256)}, {"\u00e9"}} {
				got := e.repeat(e.public.URL, c.key, c.path, c.body, bad...).expect(t, 400, rest.CodeValidationFailed).fields(t)
				if !slices.Equal(got, []string{rest.IdempotencyHeader}) {
					t.Errorf("the key %q: fields %v", bad, got)
				}
			}
			e.repeat(e.public.URL, c.key, c.path, c.body, strings.Repeat("a", 255)).expect(t, 200, "")
		})
	}
	// An idempotency key belongs to the requests of one organization.
	e.repeat(e.public.URL, acme, triggerPath, `{}`, "mine").ok(t)
	if got := e.repeat(e.public.URL, bolt, triggerPath, `{}`, "mine").ok(t); got["organizationId"] != "bolt" {
		t.Errorf("bolt got %v", got)
	}
	// It belongs to one path, too.
	one, two := e.newEndpoint(acme), e.newEndpoint(acme)
	for _, endpoint := range []string{one, two} {
		path := endpointsPath + endpoint + "/replay"
		if got := e.repeat(e.public.URL, acme, path, `{"since":"2026-07-01T00:00:00Z"}`, "replay").ok(t); got["endpointId"] != endpoint {
			t.Errorf("the replay of %s is %v", endpoint, got)
		}
	}
}

// TestIdempotency_Concurrent sends one request many times at once, to the APIs of two
// processes whose replicas may lag.
func TestIdempotency_Concurrent(t *testing.T) {
	e := newEnv(t, rest.Options{FeedbackBurst: 1000})
	acme, _ := e.twoTenants()
	servers := []string{e.public.URL, e.another(rest.Options{FeedbackBurst: 1000})}
	for _, c := range []struct{ path, key, body string }{
		{triggerPath, acme, `{}`},
		{"/v1/homes/solar/create", acme, `{"homeId":"home1","solarSystemSizeKw":5}`},
		{feedbackPath, "", `{"feedback_type":"bug","summary":"s","message":"m"}`},
		{endpointsPath + "create", acme, `{"url":"https://acme.example/hooks"}`},
		{"/v1/channels/create", acme, `{"kind":"SLACK","address":"https://slack.example/a"}`},
		{"/v1/webhook/schedules/create", acme, `{"everyMinutes":60}`},
	} {
		const each = 8
		answers := make([]answer, each*len(servers))
		var asking sync.WaitGroup
		for i := range answers {
			asking.Go(func() {
				answers[i] = e.repeat(servers[i%len(servers)], c.key, c.path, c.body, "at-once")
			})
		}
		asking.Wait()
		for _, a := range answers {
			if a.expect(t, 200, ""); string(a.body) != string(answers[0].body) {
				t.Errorf("%s: one response was %s, another %s", c.path, answers[0].body, a.body)
			}
		}
	}
	if got := e.operate("/v1/admin/feedback/list", "").ok(t)["data"].([]any); len(got) != 1 {
		t.Errorf("%d submissions are stored", len(got))
	}
	if got := e.ask(acme, triggerPath+"/list", "").ok(t)["data"].([]any); len(got) != 1 {
		t.Errorf("%d triggers are stored", len(got))
	}
}

// TestIdempotency_AbortedRequest repeats a request whose key was stored before its
// change.
func TestIdempotency_AbortedRequest(t *testing.T) {
	e := newEnv(t, rest.Options{})
	e.twoTenants()
	body := `{"feedback_type":"bug","summary":"s","message":"m"}`
	first := e.repeat(e.public.URL, "", feedbackPath, body, "cut").ok(t)["feedback_id"].(string)
	request, revision := e.lastRequest()
	if request.Made != first || request.Answer == nil {
		t.Fatalf("stored is %+v", request)
	}
	e.pass(storage.IdempotencyRetention) // a day later, another request with the key
	request.Made, request.Answer = storage.NewID("fb_", e.clock()), nil
	request.CreatedAt = storage.Time{Time: e.clock()}
	_, err := e.bus.PutRequest(t.Context(), request, revision)
	must(t, err)
	if again := e.repeat(e.public.URL, "", feedbackPath, body, "cut").ok(t)["feedback_id"]; again != request.Made {
		t.Errorf("it became %v, was %v", again, request.Made)
	}
	if list := e.operate("/v1/admin/feedback/list", "").ok(t)["data"].([]any); len(list) != 2 {
		t.Errorf("the request was not repeated: %v", list)
	}
}

// The repeat of a new endpoint gets its first secret, which is not stored in the clear.
func TestIdempotency_EndpointSecret(t *testing.T) {
	e := newEnv(t, rest.Options{})
	acme, _ := e.twoTenants()
	ask := func() answer {
		return e.repeat(e.public.URL, acme, endpointsPath+"create", `{"url":"https://acme.example/hooks/token-1"}`, "once")
	}
	first := ask()
	made := first.ok(t)
	request, revision := e.lastRequest()
	if secret := made["secret"].(string); secret == "" || request.Answer == nil || strings.Contains(string(request.Answer), secret) {
		t.Errorf("the secret %q is stored as %s", secret, request.Answer)
	}
	e.ask(acme, endpointsPath+made["id"].(string)+"/rotate_secret", "").ok(t)
	if again := ask(); string(again.body) != string(first.body) {
		t.Errorf("first %s, second %s", first.body, again.body)
	}
	// The repeat of a request that was cut off before its change has the first identifier.
	request.Made, request.Answer = storage.NewID("ep_", e.clock()), nil
	_, err := e.bus.PutRequest(t.Context(), request, revision)
	must(t, err)
	if again := ask().ok(t); again["id"] != request.Made || again["secret"] == made["secret"] {
		t.Errorf("it became %v, want %s", again, request.Made)
	}
	// Its URL is sealed under that identifier. Otherwise an update could not open it.
	e.ask(acme, endpointsPath+request.Made+"/update", `{"description":"a"}`).ok(t)
}

// TestIdempotency_Shares uses up the new idempotency keys of an organization and of a
// client address. Other callers, earlier keys and requests without a key are unaffected.
func TestIdempotency_Shares(t *testing.T) {
	trusted := rest.Proxies{Trusted: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}
	e := newEnv(t, rest.Options{MaxIdempotencyKeys: 200, Burst: 1000, FeedbackBurst: 1000, Proxies: trusted})
	acme, bolt := e.twoTenants()
	e.load(`{"resource":"home","organizationId":"bolt","id":"home1","ratePlanId":"plan1","timezone":"America/Los_Angeles"}`)
	for _, c := range []struct {
		name, path, body, whose string
		share                   int
		greedy, other           http.Header
	}{
		{
			"organization", "/v1/homes/solar/create", `{"homeId":"home1","solarSystemSizeKw":5}`, "organization", 200,
			http.Header{rest.KeyHeader: {acme}}, http.Header{rest.KeyHeader: {bolt}},
		},
		{
			"client address", feedbackPath, `{"feedback_type":"bug","summary":"s","message":"m"}`, "client address", 2,
			http.Header{"X-Forwarded-For": {"198.51.100.1"}}, http.Header{"X-Forwarded-For": {"198.51.100.2"}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			ask := func(who http.Header, once ...string) answer {
				header := who.Clone()
				header[rest.IdempotencyHeader] = once
				return e.send(request{url: e.public.URL + c.path, body: c.body, header: header})
			}
			first := ask(c.greedy, "key-0").ok(t)
			for i := 1; i < c.share; i++ {
				ask(c.greedy, fmt.Sprintf("key-%d", i)).ok(t)
			}
			refused := ask(c.greedy, "one-more").expect(t, http.StatusTooManyRequests, rest.CodeRateLimited)
			if want := fmt.Sprintf("The %s has reached the limit max-idempotency-keys: %d", c.whose, c.share); !strings.Contains(string(refused.body), want) {
				t.Errorf("refused with %s, want %s", refused.body, want)
			}
			if again := ask(c.greedy, "key-0").ok(t); fmt.Sprint(again) != fmt.Sprint(first) {
				t.Errorf("the repeated request got %v, want %v", again, first)
			}
			ask(c.greedy).ok(t)
			ask(c.other, "key-0").ok(t)
			e.pass(24 * time.Hour / time.Duration(c.share))
			ask(c.greedy, "one-more").ok(t)
		})
	}
}

// All clients without an API key together have the share of one organization.
func TestIdempotency_AnonymousShare(t *testing.T) {
	trusted := rest.Proxies{Trusted: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}
	e := newEnv(t, rest.Options{MaxIdempotencyKeys: 3, FeedbackBurst: 1000, Proxies: trusted})
	acme, _ := e.twoTenants()
	ask := func(address string) answer {
		return e.send(request{
			url: e.public.URL + feedbackPath, body: `{"feedback_type":"bug","summary":"s","message":"m"}`,
			header: http.Header{"X-Forwarded-For": {address}, rest.IdempotencyHeader: {"key"}},
		})
	}
	for i := range 3 {
		ask(fmt.Sprintf("198.51.100.%d", i)).ok(t)
	}
	refused := ask("198.51.100.4").expect(t, http.StatusTooManyRequests, rest.CodeRateLimited)
	if !strings.Contains(string(refused.body), "group of clients without an API key has reached the limit max-idempotency-keys: 3") {
		t.Errorf("refused with %s", refused.body)
	}
	ask("198.51.100.1").ok(t) // a repeat
	e.send(request{
		url: e.public.URL + "/v1/homes/solar/create", body: `{"homeId":"home1","solarSystemSizeKw":5}`,
		header: http.Header{rest.KeyHeader: {acme}, rest.IdempotencyHeader: {"key"}},
	}).ok(t)
}

// A channel partner has one share for all the organizations that it acts for. An
// organization with a key of its own keeps its share.
func TestIdempotency_ShareOfChannelPartner(t *testing.T) {
	e := newEnv(t, rest.Options{MaxIdempotencyKeys: 2})
	acme, bolt := e.twoTenants()
	e.load(`{"resource":"organization","id":"acme","name":"Acme","childOrganizationIds":["bolt"]}`)
	ask := func(key, org, once string) answer {
		return e.send(request{
			url: e.public.URL + "/v1/webhook/schedules/create", body: `{"everyMinutes":60}`,
			header: http.Header{rest.KeyHeader: {key}, rest.OrganizationHeader: {org}, rest.IdempotencyHeader: {once}},
		})
	}
	first := ask(acme, "acme", "key-0").ok(t)
	ask(acme, "bolt", "key-1").ok(t)
	ask(acme, "bolt", "one-more").expect(t, http.StatusTooManyRequests, rest.CodeRateLimited)
	if again := ask(acme, "acme", "key-0").ok(t); again["id"] != first["id"] {
		t.Errorf("the repeated request got %v, want %v", again, first)
	}
	ask(bolt, "bolt", "key-0").ok(t)
}

// lastRequest returns the last request that was stored with a key.
func (e *env) lastRequest() (o storage.IdempotentRequest, revision uint64) {
	e.t.Helper()
	conn, err := nats.Connect("", e.nats.Option())
	must(e.t, err)
	defer conn.Close()
	js, err := natsjs.New(conn)
	must(e.t, err)
	s, err := js.Stream(e.t.Context(), "GRIDHOOK_REQUESTS")
	must(e.t, err)
	m, err := s.GetLastMsgForSubject(e.t.Context(), "gridhook.requests.>")
	must(e.t, err)
	must(e.t, json.Unmarshal(m.Data, &o))
	o.OrganizationID = strings.Split(m.Subject, ".")[2]
	return o, m.Sequence
}

func TestFeedback(t *testing.T) {
	e := newEnv(t, rest.Options{FeedbackBurst: 1000})
	form := `{"feedback_type":"question","summary":"How?","message":"Like so?","contact":{"email":"a@b.example","preferred_contact":"email","consent_to_contact":true},` +
		`"submitter":{"kind":"agent","agent":"x","client":"y"},"environment":"sandbox","related_urls":["https://a.example/x"],"page":"p","endpoint":"/v1/feedback"}`
	got := e.ask("", feedbackPath, form).ok(t)
	id := got["feedback_id"].(string)
	if !strings.HasPrefix(id, "fb_") || got["received"] != true || fmt.Sprint(got["follow_up"]) != "map[contact_method:email requested:true]" {
		t.Errorf("receipt %v", got)
	}
	if got := e.ask("", feedbackPath, `{"feedback_type":"bug","summary":"s","message":"m"}`).ok(t); fmt.Sprint(got["follow_up"]) != "map[contact_method:none requested:false]" {
		t.Errorf("receipt %v", got)
	}
	list := e.operate("/v1/admin/feedback/list", "").ok(t)["data"].([]any)
	if kept := list[0].(map[string]any); len(list) != 2 || kept["feedback_id"] != id || kept["message"] != "Like so?" || kept["createdAt"] == nil {
		t.Errorf("listed %v", list)
	}
	for _, contentType := range []string{"application/x-www-form-urlencoded", "text/plain", "multipart/form-data; boundary=a"} {
		e.send(request{url: e.public.URL + feedbackPath, body: `{"feedback_type":"bug","summary":"s","message":"m"}`, header: http.Header{"Content-Type": {contentType}}}).expect(t, 415, rest.CodeUnsupportedMediaType)
	}
}

func TestFeedback_Limits(t *testing.T) {
	e := newEnv(t, rest.Options{FeedbackBurst: 1000})
	with := func(field, value string) string {
		return `{"feedback_type":"bug","summary":"s","message":"m",` + fmt.Sprintf(field, value) + `}`
	}
	text := func(n int) string { return `"` + strings.Repeat("\u00e9", n) + `"` }
	lengths := map[string]int{
		"name": 255, "company": 255, "page": 2048, "endpoint": 500,
		"steps_to_reproduce": 4000, "expected_behavior": 4000, "actual_behavior": 4000, "source_of_truth": 4000, "suggested_change": 4000,
	}
	for field, most := range lengths {
		e.ask("", feedbackPath, with(`"`+field+`":%s`, text(most))).ok(t)
		if got := e.ask("", feedbackPath, with(`"`+field+`":%s`, text(most+1))).expect(t, 400, rest.CodeValidationFailed).fields(t); !slices.Equal(got, []string{field}) {
			t.Errorf("%s: fields %v", field, got)
		}
	}
	urls := func(n int) string {
		return `["` + strings.Join(slices.Repeat([]string{"https://a.example/"}, n), `","`) + `"]`
	}
	for body, want := range map[string][]string{
		`{}`: {"feedback_type", "message", "summary"},
		`{"feedback_type":"praise","summary":"","message":""}`:                                             {"feedback_type", "message", "summary"},
		`{"feedback_type":"bug","summary":` + text(256) + `,"message":` + text(4001) + `}`:                 {"message", "summary"},
		with(`"environment":%s`, `"moon"`):                                                                 {"environment"},
		with(`"submitter":%s`, `{"kind":"robot","agent":`+text(129)+`,"client":`+text(129)+`}`):            {"submitter.agent", "submitter.client", "submitter.kind"},
		with(`"contact":%s`, `{"email":"nobody","preferred_contact":"pigeon","consent_to_contact":"yes"}`): {"contact.consent_to_contact", "contact.email", "contact.preferred_contact"},
		with(`"contact":%s`, `{"preferred_contact":"email"}`):                                              {"contact.email"},
		with(`"contact":%s`, `{"email":"`+strings.Repeat("a", 250)+`@b.example"}`):                         {"contact.email"},
		with(`"related_urls":%s`, urls(11)):                                                                {"related_urls"},
		with(`"related_urls":%s`, `["/x",7]`):                                                              {"related_urls[0]", "related_urls[1]"},
		with(`"secret_field":%s`, `1`):                                                                     {"secret_field"},
	} {
		got := e.ask("", feedbackPath, body).expect(t, 400, rest.CodeValidationFailed).fields(t)
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%s: fields %v, want %v", body[:min(len(body), 100)], got, want)
		}
	}
	e.ask("", feedbackPath, with(`"related_urls":%s`, urls(10))).ok(t)
	e.ask("", feedbackPath, `{"feedback_type":"bug","summary":`+text(255)+`,"message":`+text(4000)+`}`).ok(t)
	e.ask("", feedbackPath, with(`"submitter":%s`, `{"kind":"human","agent":`+text(128)+`,"client":`+text(128)+`}`)).ok(t)
}

// Behind a trusted proxy clients share neither a limit nor idempotency keys, and the log
// names each. Headers of the client change nothing.
func TestFeedback_BehindProxy(t *testing.T) {
	proxies := rest.Proxies{Trusted: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}
	e := newEnv(t, rest.Options{FeedbackBurst: 2, FeedbackRate: 0.1, Proxies: proxies})
	from := func(hops, key string) answer {
		header := http.Header{"X-Forwarded-For": {hops}, "Content-Type": {"application/json"}, "Idempotency-Key": {key}}
		return e.send(request{url: e.public.URL + feedbackPath, body: `{"feedback_type":"bug","summary":"s","message":"m"}`, header: header})
	}
	mine := from("198.51.100.1", "same").ok(t)["feedback_id"]
	if theirs := from("198.51.100.2", "same").ok(t)["feedback_id"]; theirs == mine {
		t.Errorf("two clients share the idempotency key: %v", mine)
	}
	from("203.0.113.66, 198.51.100.1", "another").ok(t)
	from("203.0.113.67, 198.51.100.1", "third").expect(t, 429, rest.CodeRateLimited)
	from("198.51.100.2", "other").ok(t)
	e.public.Close() // waits until all is logged
	if log := e.log.String(); !strings.Contains(log, `"client":"198.51.100.2"`) || strings.Contains(log, "203.0.113.6") {
		t.Errorf("the log has other clients: %s", log)
	}
}

func TestFeedback_LimitPerAddress(t *testing.T) {
	e := newEnv(t, rest.Options{FeedbackBurst: 2, FeedbackRate: 0.1})
	acme, _ := e.twoTenants()
	body := `{"feedback_type":"bug","summary":"s","message":"m"}`
	e.ask("", feedbackPath, body).ok(t)
	e.ask("", feedbackPath, `{`).expect(t, 400, rest.CodeValidationFailed) // refused requests count too
	a := e.ask("", feedbackPath, body).expect(t, 429, rest.CodeRateLimited)
	if a.header.Get("Retry-After") != "10" {
		t.Errorf("Retry-After is %q", a.header.Get("Retry-After"))
	}
	e.ask(acme, signalPath, "").ok(t)
	e.pass(10 * time.Second)
	e.ask("", feedbackPath, body).ok(t)
}
