package openapi

import (
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/gridhook/gridhook/api"
)

// Audience is whom a document is for.
type Audience string

// The audiences: partners on the public listener, and the operator on the admin
// listener, where the operations of both are.
const (
	Partner  Audience = "partner"
	Operator Audience = "operator"
)

// Audiences are both.
func Audiences() []Audience { return []Audience{Partner, Operator} }

// Document is the interface as one audience sees it.
type Document struct {
	audience Audience
	routes   []api.Route
	schemas  *schemas
	// OpenAPI is the document itself.
	OpenAPI Object
}

// New makes the document of an audience.
func New(audience Audience, comments Comments) (*Document, error) {
	d := &Document{
		audience: audience, routes: api.Routes(),
		schemas: &schemas{comments: comments, made: map[string]reflect.Type{}},
	}
	if audience == Partner {
		d.routes = slices.DeleteFunc(d.routes, func(r api.Route) bool { return r.Operator })
	}
	paths := Object{}
	for i := range d.routes {
		if group := d.routes[i].Group; groups[group] == "" {
			return nil, fmt.Errorf("openapi: nothing is said of the group %q", group)
		}
		operation, err := d.operation(&d.routes[i])
		if err != nil {
			return nil, err
		}
		paths = append(paths, Member{d.routes[i].Path, Object{{"post", operation}}})
	}
	d.OpenAPI = Object{
		{"openapi", "3.1.0"},
		{"info", Object{
			{"title", d.title()}, {"version", "1.0"}, {"summary", "Price signals for homes, delivered as signed webhooks."},
			{"description", strings.Join(d.introduction(), "\n\n")},
			{"license", Object{{"name", "Apache License 2.0"}, {"identifier", "Apache-2.0"}}},
		}},
		{"servers", []Object{{{"url", "/"}, {"description", "where this document was read"}}}},
		{"tags", d.tags()},
		{"paths", paths},
		{"webhooks", d.webhooks()},
		{"components", d.components()},
	}
	if audience == Operator { // it has every type
		return d, stale(d.routes)
	}
	return d, nil
}

// stale finds what is said here of fields and types that are no more.
func stale(routes []api.Route) error {
	known := map[string]bool{}
	var see func(t reflect.Type)
	see = func(t reflect.Type) {
		if t, _ := innerStruct(t); t != nil && !known[t.String()] {
			known[t.String()] = true
			for _, f := range fieldsOf(t) {
				known[f.key()] = true
				see(f.Type)
			}
		}
	}
	for i := range routes {
		for _, t := range append(routes[i].Lines, routes[i].In, routes[i].Out, routes[i].Also) {
			if t != nil {
				see(t)
			}
		}
	}
	for key := range descriptions {
		if !known[key] {
			return fmt.Errorf("openapi: a description is of %s, which is not in the document", key)
		}
	}
	for key := range rules {
		if !known[key] {
			return fmt.Errorf("openapi: a rule is of %s, which is not in the document", key)
		}
	}
	return nil
}

func (d *Document) title() string {
	if d.audience == Operator {
		return "Gridhook, the operator's interface"
	}
	return "Gridhook"
}

// introduction is what holds for every operation, a paragraph each.
func (d *Document) introduction() []string {
	all := []string{
		"Every operation is a POST with JSON in and out, and success is 200. Where the body is optional, none and {} mean the same.",
		"Timestamps are ISO 8601 in UTC with milliseconds; any offset of RFC 3339 is taken. Identifiers match ^[A-Za-z0-9_-]{1,128}$. " +
			"Rates are in $/kWh. Unknown fields, fields given twice, trailing data and texts that are not UTF-8 are refused. " +
			"Answers may get further fields.",
		"Every answer has the header X-Request-Id, your own if you sent a valid one. Errors have one shape: error_code says what, " +
			"recovery_action what to do, and field_errors names every field that is wrong, at once.",
		"Operations that take the header " + api.IdempotencyHeader + " answer a repeat under the same key as they answered first, for 24 hours.",
	}
	if d.audience == Operator {
		return append(all, "The operator's key opens every operation here. Those of organizations need the header "+
			api.OrganizationHeader+", which names whom to act for.")
	}
	return append(all, "A key belongs to one organization. The key of a channel partner may act for its child organizations: name one in the header "+
		api.OrganizationHeader+".")
}

// tags are the groups of the routes, in their order.
func (d *Document) tags() []Object {
	var tags []Object
	for _, group := range d.groups() {
		tags = append(tags, Object{{"name", group}, {"description", groups[group]}})
	}
	return tags
}

func (d *Document) groups() []string {
	var groups []string
	for _, r := range d.routes {
		if !slices.Contains(groups, r.Group) {
			groups = append(groups, r.Group)
		}
	}
	return groups
}

func (d *Document) operation(r *api.Route) (Object, error) {
	o := Object{
		{"operationId", r.Name}, {"tags", []string{r.Group}}, {"summary", r.Summary},
	}.With("description", description(r))
	if parameters := d.parameters(r); parameters != nil {
		o = o.With("parameters", parameters)
	}
	body, err := d.body(r)
	if err != nil {
		return nil, err
	}
	if body != nil {
		o = o.With("requestBody", body)
	}
	o = o.With("responses", d.responses(r))
	if r.Open {
		return append(o, Member{"security", []Object{{}}}), nil
	}
	return append(o, Member{"security", []Object{{{"apiKey", []string{}}}}}), nil
}

func description(r *api.Route) string {
	text := r.Description
	if r.Scope != "" {
		text = strings.TrimSpace(text + fmt.Sprintf(" The key needs the scope %s.", r.Scope))
	}
	return text
}

func (d *Document) parameters(r *api.Route) []Object {
	ref := func(name string) Object { return Object{{"$ref", "#/components/parameters/" + name}} }
	var all []Object
	if strings.Contains(r.Path, "{id}") {
		all = append(all, ref("id"))
	}
	if !r.Operator && !r.Open {
		all = append(all, ref("organization"))
	}
	if r.Idempotent {
		all = append(all, ref("idempotencyKey"))
	}
	return append(all, ref("requestId"))
}

// body is the request body, nil where none is taken.
func (d *Document) body(r *api.Route) (Object, error) {
	example, err := requestExample(r)
	if err != nil {
		return nil, err
	}
	switch r.Body {
	case api.BodyNone:
		return nil, nil
	case api.BodyLines:
		return Object{{"required", true}, {"description", "One JSON object a line."}, {"content", Object{
			{"application/x-ndjson", Object{{"schema", d.lines(r)}}.With("example", example)},
		}}}, nil
	default:
		return Object{{"required", r.Body == api.BodyRequired}, {"content", Object{
			{"application/json", Object{{"schema", d.input(r)}}.With("example", example)},
		}}}, nil
	}
}

// input is the schema of an operation's body, one of its own: the defaults are
// the operation's.
func (d *Document) input(r *api.Route) Object {
	name := componentName(r.In, input)
	schema := d.schemas.object(r.In, input, defaultsOf(r.Default))
	if i := slices.IndexFunc(d.schemas.components, func(m Member) bool { return m.Name == name }); i < 0 {
		d.schemas.made[name] = r.In
		d.schemas.components = append(d.schemas.components, Member{name, schema})
	}
	return Object{{"$ref", "#/components/schemas/" + name}}
}

// lines is the schema of a line: one for each resource.
func (d *Document) lines(r *api.Route) Object {
	var either []Object
	mapping := Object{}
	for _, t := range r.Lines {
		resource := strings.TrimSuffix(t.Name(), "Line")
		ref := d.schemas.component(t, input)
		i := len(d.schemas.components) - 1
		line := d.schemas.components[i].Value.(Object)
		properties := line.Get("properties").(Object)
		properties = properties.With("resource", Object{{"const", resource}})
		d.schemas.components[i].Value = line.With("properties", properties)
		either = append(either, ref)
		mapping = append(mapping, Member{resource, ref.Get("$ref")})
	}
	return Object{{"oneOf", either}, {"discriminator", Object{{"propertyName", "resource"}, {"mapping", mapping}}}}
}

// responses are the answer and the errors, by status.
func (d *Document) responses(r *api.Route) Object {
	schema := d.schemas.of(r.Out, output)
	if r.Also != nil {
		schema = Object{{"oneOf", []Object{schema, d.schemas.of(r.Also, output)}}}
	}
	all := Object{{"200", Object{
		{"description", "Success."}, {"headers", requestIDHeader}, {"content", Object{
			{"application/json", Object{{"schema", schema}, {"example", d.sample(r.Out)}}},
		}},
	}}}
	codes := r.Codes()
	for _, status := range statuses() {
		if slices.ContainsFunc(codes, func(code string) bool { return statusOf(code) == status }) {
			all = append(all, Member{fmt.Sprint(status), Object{{"$ref", "#/components/responses/" + responseName(status)}}})
		}
	}
	return all
}

var requestIDHeader = Object{{"X-Request-Id", Object{{"$ref", "#/components/headers/X-Request-Id"}}}}

// statuses are the statuses of problems that operations answer, in order. Of the
// methods that are no operation, 405 is answered.
func statuses() []int {
	var all []int
	for _, p := range api.Problems() {
		if !slices.Contains(all, p.Status) && p.Status != http.StatusMethodNotAllowed {
			all = append(all, p.Status)
		}
	}
	slices.Sort(all)
	return all
}

func statusOf(code string) int {
	for _, p := range api.Problems() {
		if p.Code == code {
			return p.Status
		}
	}
	return 0
}

// responseName is a status in words, as one.
func responseName(status int) string { return strings.ReplaceAll(http.StatusText(status), " ", "") }
