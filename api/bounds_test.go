package api_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/api"
	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// stage has the objects that the documented examples name.
type stage struct {
	*env
	key                string
	trigger, endpoint  string
	schedule, delivery string
	replay             string
}

func newStage(t *testing.T) *stage { return newStageWith(t, rest.Options{}) }

// newStageWith returns a stage without limits on the number of objects.
func newStageWith(t *testing.T, o rest.Options) *stage {
	o.Rate, o.Burst, o.FeedbackRate, o.FeedbackBurst = 1e6, 1e6, 1e6, 1e6
	e := newEnv(t, o)
	e.load(
		`{"resource":"organization","id":"acme","name":"Acme"}`,
		`{"resource":"ratePlan","id":"plan_1","tariff":`+eveningTariff+`}`,
		`{"resource":"home","organizationId":"acme","id":"home_1","ratePlanId":"plan_1","timezone":"America/Chicago","zipcode":"60614"}`,
		`{"resource":"hvacDevice","organizationId":"acme","deviceId":"dev_1","homeId":"home_1","coolingRate":6,"heatingRate":6,"heatTransferCoefficient":0.05}`,
		`{"resource":"userPreferences","organizationId":"acme","deviceId":"dev_1","name":"Always"}`,
	)
	s := &stage{env: e, key: e.key("acme")}
	// No trigger of an example covers this window: a superseded delivery cannot be retried.
	s.trigger = e.ask(s.key, triggerPath, `{"startTime":"2026-07-10T00:00:00Z","endTime":"2026-07-11T00:00:00Z"}`).ok(t)["triggerId"].(string)
	s.endpoint = s.newEndpoint()
	s.schedule = s.newSchedule()
	s.delivery = s.deliver("acme", s.trigger, s.endpoint, "home_1", events.OutcomeFailed)
	s.replay = s.ask(s.key, endpointsPath+s.newEndpoint()+"/replay", `{"since":"2026-07-01T00:00:00Z"}`).ok(t)["id"].(string)
	return s
}

func (s *stage) newSchedule() string {
	return s.ask(s.key, schedulesPath+"create", `{}`).ok(s.t)["id"].(string)
}

func (s *stage) newEndpoint() string {
	return s.ask(s.key, endpointsPath+"create", `{"url":"https://acme.example/"}`).ok(s.t)["id"].(string)
}

// imported holds the objects that operations delete, with the import line that restores
// each.
var imported = map[string][2]string{
	"deleteUtility":        {"1", `{"resource":"utility","eiaId":1,"name":"One"}`},
	"deleteDemandResponse": {"1", `{"resource":"demandResponse","eiaId":1}`},
	"deletePlanEvent":      {"gone", `{"resource":"planEvent","planId":"plan_1","id":"gone","kind":"PEAK_REBATE","from":"2026-07-02T21:00:00Z","to":"2026-07-02T23:00:00Z","adder":1}`},
	"deleteMarketSeries":   {"REAL_TIME--GONE", `{"resource":"marketSeries","node":"GONE","market":"REAL_TIME","startTime":"2026-07-01T00:00:00Z","prices":[0.02]}`},
	"deleteOrganization":   {"partner", `{"resource":"organization","id":"partner","name":"Partner"}`},
	"deleteArea":           {"IL", `{"resource":"area","area":"IL","supported":true}`},
}

// identifier returns the object that an operation's path names.
func (s *stage) identifier(r rest.Route) string {
	switch {
	case r.Name == "deleteEndpoint":
		return s.newEndpoint()
	case strings.Contains(r.Path, "/deliveries/"):
		return s.delivery
	case strings.Contains(r.Path, "/replays/"):
		return s.replay
	case r.Name == "replayEndpoint":
		return s.newEndpoint() // it has one replay at a time
	case r.Name == "listenEndpoint", r.Name == "respondEndpoint":
		return s.newRelay(s.key)
	case r.Name == "deleteSchedule":
		return s.newSchedule()
	case strings.Contains(r.Path, "/schedules/"):
		return s.schedule
	case strings.Contains(r.Path, "/endpoints/"):
		return s.endpoint
	case strings.Contains(r.Path, "/channels/"):
		return s.ask(s.key, "/v1/channels/create", `{"kind":"EMAIL","address":"ops@acme.example"}`).ok(s.t)["id"].(string)
	case imported[r.Name] != [2]string{}:
		s.load(imported[r.Name][1])
		return imported[r.Name][0]
	case strings.Contains(r.Path, "/trigger/"):
		return s.trigger
	case strings.Contains(r.Path, "/devices/"):
		return "dev_1"
	case strings.Contains(r.Path, "/organizations/"):
		return "acme"
	case strings.Contains(r.Path, "/plans/"):
		return "plan_2"
	case strings.Contains(r.Path, "/keys/"):
		id, _, _ := storage.SplitKey(storage.KeyPrefix, s.env.key("acme"))
		return id
	case strings.Contains(r.Path, "/operator_keys/"):
		id, _ := s.operatorKey(storage.RoleRead)
		return id
	case strings.Contains(r.Path, "/sources/"):
		return s.operate("/v1/admin/sources/create", `{"adapter":"csv","url":"https://prices.example/","parameters":{"node":"N"}}`).ok(s.t)["id"].(string)
	case strings.Contains(r.Path, "/links/"):
		id, _ := s.link(s.key, "")
		return id
	case strings.Contains(r.Path, "/feedback/"):
		now := storage.Time{Time: time.Now()}
		f := storage.Feedback{ID: storage.NewID("fb_", now.Time), FeedbackForm: storage.FeedbackForm{Type: "bug", Summary: "s", Message: "m"}}
		f.CreatedAt, f.UpdatedAt = now, now
		must(s.t, s.deps.Feedback.PutFeedback(s.t.Context(), f))
		return f.ID
	case r.Name == "deleteHome":
		s.operate("/v1/admin/homes/create", `{"organizationId":"acme","id":"gone"}`)
		return "gone"
	default:
		return "home_1"
	}
}

// send sends a body to an operation.
func (s *stage) sendTo(r rest.Route, body string) answer {
	s.t.Helper()
	body = strings.ReplaceAll(body, "trg_01JZ2E6K8M0000000000000000", s.trigger)
	path := strings.ReplaceAll(r.Path, "{id}", s.identifier(r))
	switch {
	case r.Body == rest.BodyLines:
		return s.importLines(body)
	case r.Body == rest.BodyXML:
		return s.importMeter("acme", path, body, nil)
	case r.OperatorOnly():
		return s.operate(path, body)
	default:
		return s.ask(s.key, path, body)
	}
}

func TestExamples_Accepted(t *testing.T) {
	s := newStage(t)
	requests := api.RequestExamples()
	for _, r := range api.Routes() {
		a := s.sendTo(r, requests[r.Name])
		if a.status != http.StatusOK {
			t.Errorf("the example of %s gets %s", r.Name, a.body)
		}
		if r.Body == rest.BodyLines && a.object(t)["failed"].(float64) != 0 {
			t.Errorf("the example of %s fails: %s", r.Name, a.body)
		}
		delete(requests, r.Name)
	}
	for name := range requests {
		t.Errorf("%s has an example, but there is no such operation", name)
	}
}

// TestBounds_MatchDocument changes one field of an example at a time, to values inside
// and outside the documented bounds. The API must agree with the document.
func TestBounds_MatchDocument(t *testing.T) {
	s := newStage(t)
	d, err := theDocument()
	must(t, err)
	for _, r := range api.Routes() {
		example := api.RequestExamples()[r.Name]
		operation := "#/paths/" + strings.ReplaceAll(r.Path, "/", "~1") + "/post/requestBody/content/"
		switch r.Body {
		case rest.BodyLines:
			s.sendTo(r, example)
			either := d.at(operation + "application~1x-ndjson/schema")["oneOf"].([]any)
			for i, line := range strings.Split(strings.TrimSpace(example), "\n") {
				p := prober{s, d, r, line, "line"}
				p.probe(either[i].(map[string]any), nil)
			}
		case rest.BodyRequired, rest.BodyOptional:
			if example == "" {
				example = "{}"
			}
			p := prober{s, d, r, example, "body"}
			p.probe(d.at(operation+"application~1json/schema"), nil)
		default: // there is nothing to change
		}
	}
}

// A list whose elements are one of few values has a maximum. A list of repeats would
// otherwise be stored.
func TestBounds_Repeats(t *testing.T) {
	s := newStage(t)
	repeats := func(value string) string { return strings.TrimSuffix(strings.Repeat(`"`+value+`",`, 21), ",") }
	for path, body := range map[string]string{
		endpointsPath + s.endpoint + "/replay": `{"since":"2026-07-01T00:00:00Z","outcomes":[` + repeats("FAILED") + `]}`,
		endpointsPath + "create":               `{"url":"https://acme.example/","eventTypes":[` + repeats("flex_alert") + `]}`,
		"/v1/channels/create":                  `{"kind":"EMAIL","address":"ops@acme.example","events":[` + repeats("quota.near") + `]}`,
	} {
		if a := s.ask(s.key, path, body).expect(t, http.StatusBadRequest, rest.CodeValidationFailed); !strings.Contains(string(a.body), "must have at most") {
			t.Errorf("%s: %s", path, a.body)
		}
	}
}

// prober changes the example of a body.
type prober struct {
	*stage
	d       *document
	route   rest.Route
	example string
	root    string
}

// companions must change together with a field to reach the field's bound.
var companions = map[string]map[string]any{
	"retryPolicy.maxSeconds":     {"retryPolicy.initialSeconds": 1.0},
	"retryPolicy.initialSeconds": {"retryPolicy.maxSeconds": 86400.0},
	"startTime":                  {"endTime": nil},
	"endTime":                    {"startTime": nil},
	"start.date":                 {"start.month": nil},
	"contact.email":              {"contact.preferred_contact": "none"},
	"days":                       {"months": nil},
	"minPriceChange":             {"deliveryMode": "onChange"},
	"since":                      {"until": nil},
	"until":                      {"since": nil},
	"utilities":                  {"market": absent, "timezone": absent, "state": absent},
	"everyMinutes":               {"cron": nil},
	"asOf":                       {"monthToDateKwh": absent},
	"monthToDateKwh":             {"asOf": absent},
	"tariff":                     {"catalogId": "pge-e-elec"},
}

// crossed are fields that other fields bound as well. A value within the documented
// bounds may be wrong beside the others.
var crossed = []string{
	"targetTemp", "targetCoolSetpoint", "targetHeatSetpoint", "minTemp", "maxTemp", "months",
	"defaultMaxTemp", "defaultMinTemp", "defaultCoolSetpoint", "defaultHeatSetpoint", "start.month",
	"authentication.token", "authentication.clientSecret", "authentication.tokenUrl", "authentication.clientId", "authentication.scopes", "authentication.audience",
	"clientCertificate.certificate", "clientCertificate.privateKey",
	"address",                                                       // of a channel, by its kind
	"adapter", "createSource.url", "updateSource.url", "import.url", // of a source: the adapters are listed, and some have no address
	"timezone",       // only names of the database
	"connectionYear", // by today and by applicationDate
	"carryOver",      // by metering
}

// probe checks the fields of an object's schema.
func (p prober) probe(schema map[string]any, path []string) {
	schema = p.resolve(schema)
	properties, _ := schema["properties"].(map[string]any)
	required, _ := schema["required"].([]any)
	p.refuses(append(path, "bogus"), 1.0)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		field := append(slices.Clone(path), name)
		property := p.resolve(properties[name].(map[string]any))
		if property["const"] != nil {
			continue // another resource
		}
		if slices.Contains(required, any(name)) {
			p.refuses(field, absent)
		} else {
			p.takes(field, absent)
		}
		for _, v := range wrongValues(property) {
			p.refuses(field, v)
		}
		for _, v := range rightValues(property) {
			p.takes(field, v)
		}
		if items, ok := property["items"].(map[string]any); ok {
			p.probeItems(p.resolve(items), field)
		}
		if property["properties"] != nil {
			p.probe(property, field)
		}
	}
}

// probeItems checks the elements of an array.
func (p prober) probeItems(items map[string]any, field []string) {
	element := append(slices.Clone(field[:len(field)-1]), field[len(field)-1]+"[0]")
	if items["properties"] != nil {
		p.refusesAs(field, []any{7.0}, element)
		return
	}
	for _, v := range wrongValues(items) {
		p.refusesAs(field, []any{v}, element)
	}
}

// resolve follows references and returns the schema of a nullable value.
func (p prober) resolve(schema map[string]any) map[string]any {
	if either, ok := schema["anyOf"].([]any); ok {
		inner := maps.Clone(p.resolve(either[0].(map[string]any)))
		inner["type"] = []any{inner["type"], "null"}
		return inner
	}
	if ref, ok := schema["$ref"].(string); ok {
		return p.d.at(ref)
	}
	return schema
}

// absent stands for a missing field.
var absent any = struct{ absent bool }{true}

func (p prober) refuses(field []string, value any) { p.refusesAs(field, value, field) }

// refusesAs checks that the API refuses the value and names the field.
func (p prober) refusesAs(field []string, value any, named []string) {
	p.t.Helper()
	want := strings.Join(named, ".")
	if fields, a := p.fieldsWith(field, value); !slices.Contains(fields, want) {
		p.t.Errorf("%s: the document does not allow %s = %.80v, and the API responds %d %.300s", p.route.Name, want, value, a.status, a.body)
	}
}

// takes checks that the API does not report the value as wrong.
func (p prober) takes(field []string, value any) {
	p.t.Helper()
	name := strings.Join(field, ".")
	if (slices.Contains(crossed, name) || slices.Contains(crossed, p.route.Name+"."+name)) && value != nil {
		return
	}
	if fields, a := p.fieldsWith(field, value); slices.Contains(fields, name) {
		p.t.Errorf("%s: the document allows %s = %.80v, and the API responds %d %.300s", p.route.Name, name, value, a.status, a.body)
	}
}

// fieldsWith sends the example with one changed field and returns the fields that the API
// reports as wrong.
func (p prober) fieldsWith(field []string, value any) ([]string, answer) {
	p.t.Helper()
	var body map[string]any
	must(p.t, json.Unmarshal([]byte(p.example), &body))
	for name, v := range companions[strings.Join(field, ".")] {
		set(body, strings.Split(name, "."), v)
	}
	set(body, field, value)
	text, err := json.Marshal(body)
	must(p.t, err)
	a := p.sendTo(p.route, string(text))
	if p.route.Body != rest.BodyLines {
		return a.fields(p.t), a
	}
	var imported wire.Imported
	must(p.t, json.Unmarshal(a.body, &imported))
	fields := []string{}
	for _, e := range imported.Errors {
		for _, f := range e.Fields {
			fields = append(fields, f.Field)
		}
	}
	return fields, a
}

// set sets a field in nested objects.
func set(o map[string]any, path []string, value any) {
	for _, name := range path[:len(path)-1] {
		inner, ok := o[name].(map[string]any)
		if !ok {
			inner = map[string]any{}
			o[name] = inner
		}
		o = inner
	}
	if last := path[len(path)-1]; value == absent {
		delete(o, last)
	} else {
		o[last] = value
	}
}

// kind returns the type of a schema, and whether it is nullable.
func kind(schema map[string]any) (name string, null bool) {
	switch v := schema["type"].(type) {
	case string:
		return v, false
	case []any:
		return v[0].(string), true
	}
	return "", false
}

func number(v any) (float64, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	f, err := n.Float64()
	return f, err == nil
}

// text returns a string of a length, in the schema's format if it has one.
func textOf(schema map[string]any, length int) string {
	prefix := ""
	if schema["format"] == "uri" {
		prefix = "https://acme.example/"
	}
	return prefix + strings.Repeat("a", max(0, length-len(prefix)))
}

// element returns a valid element of an array.
func element(schema map[string]any) any {
	items, _ := schema["items"].(map[string]any)
	if items["type"] == "integer" {
		return 1.0
	}
	if values, ok := items["enum"].([]any); ok {
		return values[0]
	}
	return "https://acme.example/"
}

// wrongValues returns values that a schema does not allow.
func wrongValues(schema map[string]any) []any {
	name, null := kind(schema)
	wrong := map[string][]any{
		"string": {7.0}, "number": {"x"}, "integer": {"x", 1.5}, "boolean": {"true"}, "array": {map[string]any{}}, "object": {[]any{}},
	}[name]
	if !null {
		wrong = append(wrong, nil)
	}
	if schema["enum"] != nil {
		wrong = append(wrong, "bogus")
	}
	if schema["pattern"] != nil {
		wrong = append(wrong, "*.*")
	}
	if schema["format"] != nil {
		wrong = append(wrong, "not of the format")
	}
	step := 0.001
	if name == "integer" {
		step = 1
	}
	if v, ok := number(schema["minimum"]); ok {
		wrong = append(wrong, v-step)
	}
	if v, ok := number(schema["maximum"]); ok {
		wrong = append(wrong, v+step)
	}
	for _, bound := range []string{"exclusiveMinimum", "exclusiveMaximum"} {
		if v, ok := number(schema[bound]); ok {
			wrong = append(wrong, v)
		}
	}
	if v, ok := number(schema["minLength"]); ok {
		wrong = append(wrong, textOf(map[string]any{}, int(v)-1))
	}
	if v, ok := number(schema["maxLength"]); ok {
		wrong = append(wrong, textOf(schema, int(v)+1))
	}
	if v, ok := number(schema["minItems"]); ok {
		wrong = append(wrong, make([]any, int(v)-1))
	}
	if v, ok := number(schema["maxItems"]); ok {
		wrong = append(wrong, slices.Repeat([]any{element(schema)}, int(v)+1))
	}
	if v, ok := number(schema["maxProperties"]); ok {
		many := map[string]any{}
		for i := range int(v) + 1 {
			many[fmt.Sprintf("X-%d", i)] = "v"
		}
		wrong = append(wrong, many)
	}
	return wrong
}

// rightValues returns values at the bounds of a schema.
func rightValues(schema map[string]any) []any {
	var right []any
	if _, null := kind(schema); null {
		right = append(right, nil)
	}
	if values, ok := schema["enum"].([]any); ok {
		right = append(right, values...)
	}
	for _, bound := range []string{"minimum", "maximum"} {
		if v, ok := number(schema[bound]); ok {
			right = append(right, v)
		}
	}
	if v, ok := number(schema["exclusiveMinimum"]); ok {
		right = append(right, v+0.001)
	}
	if v, ok := number(schema["exclusiveMaximum"]); ok {
		right = append(right, v-0.001)
	}
	if schema["format"] == "email" {
		return right
	}
	for _, bound := range []string{"minLength", "maxLength"} {
		if v, ok := number(schema[bound]); ok {
			right = append(right, textOf(schema, int(v)))
		}
	}
	if v, ok := number(schema["maxItems"]); ok {
		right = append(right, slices.Repeat([]any{element(schema)}, int(v)))
	}
	return right
}
