package api_test

import (
	"bytes"
	"net/http"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/gridhook/gridhook/api"
	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/events"
)

// ID stands for an identifier in the bodies below.
const idHere = "ID"

// tenancyBodies are valid bodies of the operations that need one, by name. In an invalid
// body the identifier would not be what is refused.
var tenancyBodies = map[string]string{
	"createEndpoint":             `{"url":"https://bolt.example/hooks"}`,
	"updateEndpoint":             `{"description":"mine now","enabled":false}`,
	"replayEndpoint":             `{"since":"2026-07-01T00:00:00Z"}`,
	"updateSchedule":             `{"enabled":false}`,
	"createChannel":              `{"kind":"EMAIL","address":"bolt@bolt.example"}`,
	"updateChannel":              `{"address":"bolt@bolt.example"}`,
	"getHVACEstimatedSavings":    `{"type":"monthly"}`,
	"updateHVACLinkedFlag":       `{"linked":false}`,
	"listenEndpoint":             `{"seconds":1}`,
	"respondEndpoint":            `{"id":"x","status":200}`,
	"checkEligibilityForZipcode": `{"zipcode":"94110"}`,
	"triggerPriceSignalWebhooks": `{"organizationId":"ID"}`,
	"createSolar":                `{"homeId":"ID","solarSystemSizeKw":5}`,
	"getOnboardingStatus":        `{"homeId":"ID"}`,
	"startOnboarding":            `{"homeId":"ID"}`,
	"completeOnboardingStep":     `{"homeId":"ID","step":2}`,
	"failOnboarding":             `{"homeId":"ID"}`,
}

// victims are an organization's objects of every kind.
func (e *env) victims(key string) map[string]string {
	t := e.t
	t.Helper()
	e.load(
		`{"resource":"solar","organizationId":"acme","homeId":"home1","solarSystemSizeKw":7}`,
		`{"resource":"hvacDevice","organizationId":"acme","deviceId":"dev1","homeId":"home1","coolingRate":6,"heatingRate":6,"heatTransferCoefficient":0.05}`,
		`{"resource":"userPreferences","organizationId":"acme","deviceId":"dev1","name":"mine","tempUnits":"F","defaultMode":"HEAT","defaultMaxTemp":80,"defaultMinTemp":60,"defaultCoolSetpoint":76,"defaultHeatSetpoint":68}`,
		`{"resource":"ratePlan","organizationId":"acme","id":"own","tariff":{"energyratestructure":[[{"rate":0.1}]]}}`,
		`{"resource":"onboarding","organizationId":"acme","homeId":"home1","id":"onb1","status":"IN_PROGRESS","step":1}`,
	)
	endpoint := e.newEndpoint(key)
	trigger := e.ask(key, triggerPath, "{}").ok(t)["triggerId"].(string)
	return map[string]string{
		"organization": "acme", "home": "home1", "device": "dev1", "onboarding": "onb1", "endpoint": endpoint, "trigger": trigger,
		"delivery": e.deliver("acme", trigger, endpoint, "home1", events.OutcomeFailed),
		"schedule": e.ask(key, "/v1/webhook/schedules/create", "{}").ok(t)["id"].(string),
		"replay":   e.ask(key, endpointsPath+endpoint+"/replay", `{"since":"2026-07-01T00:00:00Z"}`).ok(t)["id"].(string),
		"link":     e.ask(key, "/v1/console/links/create", "").ok(t)["keyId"].(string),
		"channel":  e.ask(key, "/v1/channels/create", `{"kind":"EMAIL","address":"ops@acme.example"}`).ok(t)["id"].(string),
		"plan":     "own",
		"key":      strings.Split(key, "_")[1],
	}
}

// namedFields are the fields of an operation's input that name an object.
func namedFields(in reflect.Type) (names []string) {
	for i := range in.NumField() {
		f := in.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && f.Type.Kind() == reflect.Struct:
			names = append(names, namedFields(f.Type)...)
		case strings.HasSuffix(name, "Id"):
			names = append(names, name)
		}
	}
	return names
}

// attack is a request with a place for an identifier.
type attack struct{ route, path, body string }

// attacks returns every operation of organizations with an identifier in each place that
// takes one.
func attacks(t *testing.T) (list []attack) {
	t.Helper()
	for _, r := range api.Routes() {
		if r.OperatorOnly() || r.Open {
			continue
		}
		body := tenancyBodies[r.Name]
		if r.Body == rest.BodyRequired && body == "" {
			t.Errorf("%s needs a body, and the matrix has none for it", r.Name)
			continue
		}
		if strings.Contains(r.Path, "{id}") {
			list = append(list, attack{r.Name, strings.Replace(r.Path, "{id}", idHere, 1), body})
		}
		for _, field := range namedFields(r.In) {
			switch {
			case r.Body == rest.BodyOptional:
				own := strings.Replace(r.Path, "{id}", "home2", 1)
				list = append(list, attack{r.Name, own, `{"` + field + `":"` + idHere + `"}`})
			case !strings.Contains(body, `"`+field+`":"`+idHere+`"`):
				t.Errorf("%s takes %s, and the matrix does not try it", r.Name, field)
			default:
				list = append(list, attack{r.Name, r.Path, body})
			}
		}
	}
	return list
}

// ends returns the last sequences of all durable streams. An operation without effect
// moves none.
func (e *env) ends() [4]uint64 {
	e.t.Helper()
	e.tasks.mu.Lock()
	defer e.tasks.mu.Unlock()
	state, err := e.bus.StateLog().State(e.t.Context())
	must(e.t, err)
	streams, err := e.bus.Streams(e.t.Context())
	must(e.t, err)
	return [4]uint64{state.Last, streams.LastTrigger, streams.LastReceipt, uint64(len(e.tasks.list))}
}

var requestID = regexp.MustCompile(`req_[0-9A-Za-z]+`)

// same returns a response without the parts that differ from request to request.
func (a answer) same(id string) string {
	body := requestID.ReplaceAll(a.body, []byte("req"))
	return string(bytes.ReplaceAll(body, []byte(id), []byte(idHere)))
}

// Every operation responds to the identifiers of another organization's objects as to
// unknown identifiers, and has no effect.
func TestTenancy_EveryOperation(t *testing.T) {
	e := newEnv(t, rest.Options{Rate: 1e6, Burst: 1e6})
	acme, bolt := e.twoTenants()
	victims := e.victims(acme)
	before := e.ends()
	tried := 0
	for _, a := range attacks(t) {
		ask := func(id string) answer {
			return e.ask(bolt, strings.Replace(a.path, idHere, id, 1), strings.Replace(a.body, idHere, id, 1))
		}
		const nobodys = "nothing_of_anybody"
		absent := ask(nobodys)
		for what, id := range victims {
			if what == "organization" != strings.Contains(a.body, `"organizationId"`) {
				continue // only that field names it, and the field names nothing else
			}
			tried++
			got := ask(id)
			if got.status != absent.status || got.same(id) != absent.same(nobodys) {
				t.Errorf("%s with the %s of another: %d %s\nand with an unknown one: %d %s", a.route, what, got.status, got.body, absent.status, absent.body)
			}
			hidden := got.status == http.StatusNotFound || got.status == http.StatusForbidden
			if lists := got.status == http.StatusOK && strings.HasPrefix(a.route, "list"); !hidden && !lists {
				t.Errorf("%s with the %s of another responds %d %s", a.route, what, got.status, got.body)
			}
			if now := e.ends(); now != before {
				t.Fatalf("%s with the %s of another had an effect: %v, and before %v", a.route, what, now, before)
			}
		}
	}
	if least := 15 * len(victims); tried < least {
		t.Errorf("%d attacks, fewer than %d", tried, least)
	}
	t.Logf("%d requests with another's identifiers", tried)
}

// Every operation refuses to act for another organization, whether it exists or not.
func TestTenancy_ForeignOrganization(t *testing.T) {
	e := newEnv(t, rest.Options{Rate: 1e6, Burst: 1e6})
	acme, bolt := e.twoTenants()
	victims := e.victims(acme)
	before := e.ends()
	for _, r := range api.Routes() {
		if r.OperatorOnly() || r.Open {
			continue
		}
		body := strings.Replace(tenancyBodies[r.Name], idHere, "home1", 1)
		path := strings.Replace(r.Path, "{id}", victims["endpoint"], 1)
		as := func(org string) answer {
			return e.send(request{url: e.public.URL + path, body: body, header: http.Header{rest.KeyHeader: {bolt}, rest.OrganizationHeader: {org}}})
		}
		got, absent := as("acme").expect(t, http.StatusForbidden, rest.CodeForbidden), as("nobody")
		if got.same("acme") != absent.same("nobody") {
			t.Errorf("%s distinguishes an organization from none: %s, %s", r.Name, got.body, absent.body)
		}
	}
	if now := e.ends(); now != before {
		t.Errorf("it had an effect: %v, and before %v", now, before)
	}
}

// The lists of one organization show no object of another, also after a place in its lists.
func TestTenancy_Lists(t *testing.T) {
	e := newEnv(t, rest.Options{Rate: 1e6, Burst: 1e6})
	acme, bolt := e.twoTenants()
	victims := e.victims(acme)
	for _, r := range api.Routes() {
		if r.OperatorOnly() || r.Open || strings.Contains(r.Path, "{id}") || r.Body == rest.BodyRequired || strings.HasPrefix(r.Name, "create") {
			continue
		}
		if r.Name == "listEventTypes" {
			continue // the same for everybody, with examples
		}
		bodies := []string{"{}"}
		if namesField(r.In, "after") {
			for _, id := range victims {
				bodies = append(bodies, `{"after":"`+id+`"}`, `{"after":"`+id+`.0.0"}`) // an identifier, and a place in the deliveries
			}
		}
		for _, body := range bodies {
			answer := e.ask(bolt, r.Path, body)
			for what, id := range victims {
				if answer.status == http.StatusOK && bytes.Contains(answer.body, []byte(`"`+id+`"`)) {
					t.Errorf("%s with %s shows the %s of another: %s", r.Name, body, what, answer.body)
				}
			}
			if body == "{}" {
				answer.ok(t)
			}
		}
	}
}

// namesField reports whether an operation's input has a field.
func namesField(in reflect.Type, name string) bool {
	for _, f := range reflect.VisibleFields(in) {
		if tag, _, _ := strings.Cut(f.Tag.Get("json"), ","); tag == name {
			return true
		}
	}
	return false
}

// Partners' keys have no access to the operator's operations, on either listener.
func TestTenancy_PartnerIsNotOperator(t *testing.T) {
	e := newEnv(t, rest.Options{Rate: 1e6, Burst: 1e6})
	acme, _ := e.twoTenants()
	before := e.ends()
	for _, r := range api.Routes() {
		if !r.OperatorOnly() {
			continue
		}
		path := strings.Replace(r.Path, "{id}", "acme", 1)
		e.ask(acme, path, "{}").expect(t, http.StatusNotFound, rest.CodeNotFound)
		for _, key := range []string{acme, "", operatorKey + "x", strings.ToUpper(operatorKey)} {
			got := e.send(request{url: e.admin.URL + path, body: "{}", header: http.Header{rest.KeyHeader: {key}}})
			if got.status != http.StatusUnauthorized {
				t.Errorf("%s with %q responds %d", r.Name, key, got.status)
			}
		}
	}
	if now := e.ends(); now != before {
		t.Errorf("it had an effect: %v, and before %v", now, before)
	}
}
