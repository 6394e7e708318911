package api

import (
	_ "embed"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/gridhook/gridhook/api/importer"
	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/api/schema"
	"github.com/gridhook/gridhook/api/wire"
)

// Audience is the kind of reader of an OpenAPI document.
type Audience string

// Audiences of the OpenAPI document. Partners use the public listener. The operator uses
// the admin listener, which serves both groups of operations.
const (
	AudiencePartner  Audience = "partner"
	AudienceOperator Audience = "operator"
)

// object is a JSON object of the OpenAPI document.
type object = map[string]any

func ref(to string) object { return object{"$ref": "#/components/" + to} }

// OpenAPI returns the OpenAPI 3.1 document for an audience. It builds the document from
// the table of routes and the tags of the routes' types, once per process. Callers must not
// change it.
func OpenAPI(a Audience) ([]byte, error) { return documents[a]() }

// documents has the document of each audience.
var documents = map[Audience]func() ([]byte, error){AudiencePartner: documentOf(AudiencePartner), AudienceOperator: documentOf(AudienceOperator)}

func documentOf(a Audience) func() ([]byte, error) {
	return sync.OnceValues(func() ([]byte, error) {
		d := document{audience: a, types: wire.NewTypes()}
		return json.Marshal(d.document())
	})
}

// document builds an OpenAPI document.
type document struct {
	audience Audience
	types    *schema.Types
}

func (d *document) document() object {
	var all schema.Members[object]
	var tags []object
	for _, g := range d.audience.groups() {
		tags = append(tags, object{"name": g.name, "description": g.description})
	}
	for _, r := range d.audience.Routes() {
		all = append(all, schema.Member[object]{Name: r.Path, Value: object{"post": d.operation(&r)}})
	}
	webhooks := d.webhooks()
	return object{
		"openapi": "3.1.0",
		"info": object{
			"title": d.title(), "version": "1.0", "summary": "Price signals for homes, delivered as signed webhooks.",
			"description": strings.Join(d.introduction(), "\n\n"),
			"license":     object{"name": "Apache License 2.0", "identifier": "Apache-2.0"},
		},
		"servers":    []object{{"url": "/", "description": "the server of this document"}},
		"tags":       tags,
		"paths":      all,
		"webhooks":   webhooks,
		"components": d.components(), // must come last, after all types are described
	}
}

func (d *document) title() string {
	if d.audience == AudienceOperator {
		return "Gridhook, the operator's interface"
	}
	return "Gridhook"
}

// introduction returns the paragraphs that apply to every operation.
func (d *document) introduction() []string {
	all := []string{
		"Every operation is a POST with JSON in and out, and success is 200. An absent optional body means {}.",
		"Timestamps are ISO 8601 in UTC with milliseconds; requests may use any offset of RFC 3339. Identifiers match ^[A-Za-z0-9_-]{1,128}$. " +
			"Rates are in $/kWh. Unknown fields, fields given twice, trailing data and invalid UTF-8 are refused. " +
			"Responses may get more fields.",
		"Every response of an operation has the header X-Request-Id, with your own value if you sent a valid one. A request that violates HTTP, such as one " +
			"with too large headers, gets a new value. All errors have the same form: error_code is the kind of error, " +
			"recovery_action says what to do, and field_errors lists all wrong fields.",
		"Operations with the header " + rest.IdempotencyHeader + " return the first response to a repeat with the same key, for 24 hours.",
	}
	if d.audience == AudienceOperator {
		return append(all, "The operator's key authorizes every operation. Operations of partners require the header "+
			rest.OrganizationHeader+", which names the organization to act for.")
	}
	return append(all, "A key belongs to one organization. The key of a channel partner may act for its child organizations: name one in the header "+
		rest.OrganizationHeader+".")
}

func (d *document) operation(r *rest.Route) object {
	o := object{
		"operationId": r.Name, "tags": []string{r.Group}, "summary": r.Summary,
		"parameters": parameters(r), "responses": d.responses(r), "security": []object{{"apiKey": []string{}}},
	}
	if r.Open {
		o["security"] = []object{{}}
	}
	text := r.Description
	if r.Scope != "" {
		text = strings.TrimSpace(text + " The key needs the scope " + string(r.Scope) + ".")
	}
	if text != "" {
		o["description"] = text
	}
	if r.Body != rest.BodyNone {
		o["requestBody"] = d.body(r)
	}
	return o
}

func parameters(r *rest.Route) (all []object) {
	for _, p := range []struct {
		name string
		has  bool
	}{
		{"id", strings.Contains(r.Path, rest.Parameter)}, {"organization", r.ForOrganization() && !r.OfOperator}, {"organizationOrOperator", r.OfOperator}, {"idempotencyKey", r.Idempotent}, {"requestId", true},
	} {
		if p.has {
			all = append(all, ref("parameters/"+p.name))
		}
	}
	return all
}

// Example request bodies by operation, and the examples of imports. The tests send each.
var (
	//go:embed reference/examples.json
	examplesJSON []byte
	//go:embed reference/import.ndjson
	importExample string
	//go:embed reference/greenbutton.xml
	greenButtonExample string

	examples = sync.OnceValue(func() (all map[string]json.RawMessage) {
		if err := json.Unmarshal(examplesJSON, &all); err != nil {
			panic("api: " + err.Error()) // a test reads the examples
		}
		return all
	})
)

// body describes an operation's request body.
func (d *document) body(r *rest.Route) object {
	content := object{}
	body := object{"required": r.Body.Required(), "content": object{r.Body.MediaType(): content}}
	if r.Body == rest.BodyLines {
		body["description"] = "One JSON object a line."
		content["example"], content["schema"] = importExample, d.lines()
		return body
	}
	if r.Body == rest.BodyXML {
		body["description"] = "The header Content-Encoding may be gzip."
		content["example"], content["schema"] = greenButtonExample, object{"type": "string"}
		return body
	}
	if example, ok := examples()[r.Name]; ok {
		content["example"] = example
	}
	in := d.types.Of(r.In, schema.Request)
	in.SetDefaults(r.Default)
	content["schema"] = in
	return body
}

// lines describes a line of an import with one schema per resource.
func (d *document) lines() *schema.Schema {
	either, mapping := &schema.Schema{}, object{}
	for _, t := range importer.LineTypes() {
		resource := strings.TrimSuffix(t.Name(), "Line")
		line := d.types.Of(t, schema.Request)
		line.SetConst("resource", resource)
		either.OneOf = append(either.OneOf, line)
		mapping[resource] = line.Ref
	}
	either.Discriminator = object{"propertyName": "resource", "mapping": mapping}
	return either
}

// responses describes an operation's response and errors by status.
func (d *document) responses(r *rest.Route) object {
	out := d.types.Of(r.Out, schema.Response)
	if r.Also != nil {
		out = &schema.Schema{OneOf: []*schema.Schema{out, d.types.Of(r.Also, schema.Response)}}
	}
	all := object{"200": object{
		"description": "Success.", "headers": requestIDHeader, "content": object{r.ResponseType(): object{"schema": out}},
	}}
	codes := r.Codes()
	for _, p := range Problems() {
		if p.Status != http.StatusMethodNotAllowed && slices.Contains(codes, p.Code) {
			all[strconv.Itoa(p.Status)] = ref("responses/" + responseName(p.Status))
		}
	}
	return all
}

// webhooks describes the webhooks.
func (d *document) webhooks() object {
	all := object{}
	for _, e := range wire.Webhooks() {
		all[e.Name] = object{"post": object{
			"operationId": e.Handler(), "summary": e.Summary, "description": wire.WebhookResponse, "parameters": webhookHeaders,
			"requestBody": object{"required": true, "content": object{"application/json": object{"schema": e.Describe(d.types)}}},
			"responses":   object{"2XX": object{"description": "The webhook is accepted."}},
			"security":    []object{}, // the signature authenticates the sender
		}}
	}
	return all
}

// webhookHeaders are the headers of a webhook as in Standard Webhooks.
var webhookHeaders = []object{
	header("webhook-id", true, "Identifies the message. It is the same on every attempt, so that you can detect a repeat.", object{"type": "string"}),
	header("webhook-timestamp", true, "The time of this attempt in Unix seconds. Refuse a time more than five minutes off.", object{"type": "string"}),
	header("webhook-signature", true, "v1,<base64 of the HMAC-SHA256 of id.timestamp.body with the bytes of the secret>. For 24 hours after a rotation there are two signatures, separated by a space. "+
		"A gzip body has one signature for the sent bytes and one for the JSON: verify either.", object{"type": "string"}),
	header("traceparent", false, "The trace of the attempt as in W3C Trace Context, if the operator traces. It is not signed.", object{"type": "string"}),
	header("content-encoding", false, "gzip, if the endpoint's compression is gzip.", object{"type": "string"}),
}

// header describes a header as a parameter.
func header(name string, required bool, description string, schema object) object {
	return object{"name": name, "in": "header", "required": required, "description": description, "schema": schema}
}
