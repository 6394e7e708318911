package api_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/gridhook/gridhook/api"
	"github.com/gridhook/gridhook/api/openadr"
	"github.com/gridhook/gridhook/api/rest"
)

// document is the operator's OpenAPI document, which has every operation, with its
// schemas compiled. Every response of every test is checked against it.
type document struct {
	paths    map[string]any
	root     map[string]any
	compiler *jsonschema.Compiler

	mu      sync.Mutex
	schemas map[string]*jsonschema.Schema
}

var theDocument = sync.OnceValues(func() (*document, error) {
	text, err := api.OpenAPI(api.AudienceOperator)
	if err != nil {
		return nil, err
	}
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	closed(parsed)
	root := parsed.(map[string]any)
	d := &document{root: root, paths: root["paths"].(map[string]any), compiler: jsonschema.NewCompiler(), schemas: map[string]*jsonschema.Schema{}}
	d.compiler.AssertFormat()
	return d, d.compiler.AddResource("openapi.json", parsed)
})

// closed forbids fields that the schema does not name. Callers must expect further
// fields, but the document must name them all.
func closed(v any) {
	switch v := v.(type) {
	case map[string]any:
		if _, ok := v["properties"].(map[string]any); ok && v["additionalProperties"] == nil {
			v["additionalProperties"] = false
		}
		for name, inner := range v {
			if name != "example" && name != "examples" && name != "default" {
				closed(inner)
			}
		}
	case []any:
		for _, inner := range v {
			closed(inner)
		}
	}
}

// at resolves a JSON pointer and its references.
func (d *document) at(pointer string) map[string]any {
	var v any = d.root
	for _, name := range strings.Split(strings.TrimPrefix(pointer, "#/"), "/") {
		name = strings.ReplaceAll(strings.ReplaceAll(name, "~1", "/"), "~0", "~")
		v = v.(map[string]any)[name]
	}
	o, _ := v.(map[string]any)
	if ref, ok := o["$ref"].(string); ok {
		return d.at(ref)
	}
	return o
}

func (d *document) schema(t *testing.T, pointer string) *jsonschema.Schema {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	if s, ok := d.schemas[pointer]; ok {
		return s
	}
	s, err := d.compiler.Compile("openapi.json" + pointer)
	if err != nil {
		t.Fatalf("the schema at %s: %v", pointer, err)
	}
	d.schemas[pointer] = s
	return s
}

// template returns the path of the document that matches a request's path.
func (d *document) template(path string) (string, bool) {
	parts := strings.Split(path, "/")
	for template := range d.paths {
		names := strings.Split(template, "/")
		if len(names) == len(parts) && slices.EqualFunc(names, parts, func(name, part string) bool { return name == part || name == "{id}" }) {
			return template, true
		}
	}
	return "", false
}

// conforms checks a response against the document.
func (e *env) conforms(r request, a answer) {
	e.t.Helper()
	d, err := theDocument()
	must(e.t, err)
	path := strings.TrimPrefix(strings.TrimPrefix(r.url, e.public.URL), e.admin.URL)
	if !strings.HasPrefix(a.header.Get("Content-Type"), "application/json") || strings.HasPrefix(path, openadr.Prefix) {
		return // a page to read, or another document
	}
	pointer := "#/components/schemas/Error"
	if template, ok := d.template(path); ok && r.method == http.MethodPost {
		operation := "#/paths/" + strings.ReplaceAll(template, "/", "~1") + "/post/responses"
		if _, ok := d.at(operation)[fmt.Sprint(a.status)]; !ok {
			// The public listener does not know the operator's operations.
			if strings.HasPrefix(r.url, e.admin.URL) || a.status != http.StatusNotFound {
				e.t.Errorf("%s: status %d is not documented: %s", template, a.status, a.body)
			}
			return
		}
		if a.status == http.StatusOK {
			pointer = operation + "/200/content/application~1json/schema"
		}
	} else if a.status == http.StatusOK {
		return // the document itself
	}
	body, err := jsonschema.UnmarshalJSON(bytes.NewReader(a.body))
	must(e.t, err)
	if err := d.schema(e.t, pointer).Validate(body); err != nil {
		e.t.Errorf("%s: the response %s\ndoes not match the document: %v", path, a.body, err)
	}
}

func TestOpenAPI_Served(t *testing.T) {
	e := newEnv(t, rest.Options{})
	for audience, url := range map[api.Audience]string{api.AudiencePartner: e.public.URL, api.AudienceOperator: e.admin.URL} {
		want, err := api.OpenAPI(audience)
		must(t, err)
		if admin := bytes.Contains(want, []byte("/v1/admin")); admin != (audience == api.AudienceOperator) {
			t.Errorf("the document of the %s has the operator's operations: %t", audience, admin)
		}
		for path, part := range map[string]string{"/openapi.json": string(want), "/docs": `<script src="/docs/redoc.js">`, "/docs/redoc.js": "Redoc"} {
			a := e.send(request{method: http.MethodGet, url: url + path})
			if a.header.Get("Content-Encoding") == "gzip" {
				unzipped, err := gzip.NewReader(bytes.NewReader(a.body))
				must(t, err)
				a.body, err = io.ReadAll(unzipped)
				must(t, err)
			}
			if a.status != http.StatusOK || !bytes.Contains(a.body, []byte(part)) || a.header.Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("%s of the %s: %d, %d bytes", path, audience, a.status, len(a.body))
			}
			refused := e.send(request{method: http.MethodPost, url: url + path}).expect(t, 405, rest.CodeMethodNotAllowed)
			if refused.header.Get("Allow") != "GET, HEAD" {
				t.Errorf("%s allows %q", path, refused.header.Get("Allow"))
			}
		}
		page := e.send(request{method: http.MethodGet, url: url + "/docs"})
		if policy := page.header.Get("Content-Security-Policy"); bytes.Contains(page.body, []byte("http")) || !strings.Contains(policy, "default-src 'none'") {
			t.Errorf("the page fetches from elsewhere: policy %s\n%s", policy, page.body)
		}
	}
}

// TestOpenAPI_PromisedBounds checks bounds and defaults that the guides and the contract with
// partners name. TestBounds_MatchDocument checks that the API agrees with the document.
func TestOpenAPI_PromisedBounds(t *testing.T) {
	d, err := theDocument()
	must(t, err)
	for _, c := range []struct{ component, field, bounds string }{
		{"PageInput", "limit", "default:100 maximum:1000 minimum:1"},
		{"ListDeliveriesInput", "limit", "default:100 maximum:1000 minimum:1"},
		{"ListTriggersInput", "limit", "default:100 maximum:1000 minimum:1"},
		{"TriggerInput", "ratePlanIds", "maxItems:100"},
		{"CreateEndpointInput", "homeIds", "default:[] maxItems:1000"},
		{"CreateEndpointInput", "ratePlanIds", "default:[] maxItems:100"},
		{"CreateEndpointInput", "headers", "default:map[] maxProperties:20"},
		{"CreateEndpointInput", "timeoutSeconds", "default:10 maximum:60 minimum:0.1"},
		{"CreateEndpointInput", "batchSize", "default:1 maximum:64 minimum:0"},
		{"RetryPolicyInput", "initialSeconds", "maximum:3600 minimum:1"},
		{"RetryPolicyInput", "multiplier", "maximum:10 minimum:1"},
		{"RetryPolicyInput", "maxSeconds", "maximum:86400 minimum:1"},
		{"RetryPolicyInput", "giveUpSeconds", "maximum:86400 minimum:0"},
		{"RetryPolicyInput", "disableAfterSeconds", "maximum:2592000 minimum:0"},
		{"CreateScheduleInput", "everyMinutes", "maximum:1440 minimum:1"},
		{"ListenInput", "seconds", "maximum:600 minimum:1"},
		{"RotateKeyInput", "overlapSeconds", "default:86400 maximum:2592000 minimum:0"},
		{"SolarInput", "solarSystemSizeKw", "exclusiveMinimum:0 maximum:1000"},
		{"SavingsInput", "days", "maximum:366 minimum:1"},
		{"SavingsStartInput", "month", "maximum:12 minimum:1"},
	} {
		got := []string{}
		for name, value := range d.at("#/components/schemas/" + c.component + "/properties/" + c.field) {
			if name == "default" || strings.Contains(strings.ToLower(name), "maximum") || strings.Contains(strings.ToLower(name), "minimum") || strings.HasPrefix(name, "max") {
				got = append(got, fmt.Sprintf("%s:%v", name, value))
			}
		}
		if slices.Sort(got); strings.Join(got, " ") != c.bounds {
			t.Errorf("%s of %s has the bounds %s, want %s", c.field, c.component, strings.Join(got, " "), c.bounds)
		}
	}
}

// TestOpenAPI_Complete checks rules of OpenAPI beyond the schemas.
func TestOpenAPI_Complete(t *testing.T) {
	d, err := theDocument()
	must(t, err)
	refs(t, d, d.root)
	described, seen := map[any]bool{}, map[string]bool{}
	for _, tag := range asList(d.root["tags"]) {
		described[tag.(map[string]any)["name"]] = true
	}
	for _, r := range api.Routes() {
		if !described[r.Group] {
			t.Errorf("%s is in the group %q, which has no tag", r.Path, r.Group)
		}
		o := d.at("#/paths/" + strings.ReplaceAll(r.Path, "/", "~1") + "/post")
		if o == nil || o["operationId"] != r.Name || seen[r.Name] || r.Summary == "" || r.Group == "" {
			t.Errorf("%s is documented as %v", r.Path, o["operationId"])
		}
		seen[r.Name] = true
		text, err := json.Marshal(o["parameters"])
		must(t, err)
		if strings.Contains(r.Path, "{id}") != strings.Contains(string(text), `parameters/id"`) {
			t.Errorf("%s has the parameters %s", r.Path, text)
		}
		for _, code := range r.Codes() {
			if !slices.ContainsFunc(api.Problems(), func(p *rest.Problem) bool { return p.Code == code }) {
				t.Errorf("%s may respond %s, which has no example", r.Path, code)
			}
		}
	}
	for name, property := range d.at("#/components/schemas/UpdateEndpointInput/properties") {
		if property.(map[string]any)["default"] != nil {
			t.Errorf("an update without %s of an endpoint would change it", name)
		}
	}
	if len(d.paths) != len(api.Routes()) {
		t.Errorf("%d paths, %d routes", len(d.paths), len(api.Routes()))
	}
	for name, schema := range d.at("#/components/schemas") {
		if strings.Contains(fmt.Sprint(schema), "TO"+"DO") {
			t.Errorf("the schema %s is not finished", name)
		}
		d.schema(t, "#/components/schemas/"+name)
		properties, _ := schema.(map[string]any)["properties"].(map[string]any)
		for field, property := range properties {
			for _, example := range asList(property.(map[string]any)["examples"]) {
				pointer := "#/components/schemas/" + name + "/properties/" + field
				if err := d.schema(t, pointer).Validate(example); err != nil {
					t.Errorf("the example of %s.%s does not match its schema: %v", name, field, example)
				}
			}
		}
	}
}

func asList(v any) []any {
	list, _ := v.([]any)
	return list
}

// refs checks that every reference resolves, and that every example matches its schema.
func refs(t *testing.T, d *document, v any) {
	t.Helper()
	switch v := v.(type) {
	case map[string]any:
		if ref, ok := v["$ref"].(string); ok && d.at(ref) == nil {
			t.Errorf("the reference %s does not resolve", ref)
		}
		if schema, ok := v["schema"].(map[string]any); ok && v["example"] != nil {
			if ref, ok := schema["$ref"].(string); ok {
				if err := d.schema(t, ref).Validate(v["example"]); err != nil {
					t.Errorf("an example does not match its schema %s: %v", ref, err)
				}
			}
		}
		for _, inner := range v {
			refs(t, d, inner)
		}
	case []any:
		for _, inner := range v {
			refs(t, d, inner)
		}
	}
}
