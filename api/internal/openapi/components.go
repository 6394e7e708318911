package openapi

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/gridhook/gridhook/api"
)

// components are the parts that operations share.
func (d *Document) components() Object {
	responses := Object{}
	for _, status := range statuses() {
		responses = append(responses, Member{responseName(status), errorResponse(status)})
	}
	schemas := append(slices.Clone(d.schemas.components), Member{"Error", errorSchema()})
	slices.SortFunc(schemas, func(a, b Member) int { return strings.Compare(a.Name, b.Name) })
	return Object{
		{"securitySchemes", Object{{"apiKey", Object{
			{"type", "apiKey"}, {"in", "header"}, {"name", api.KeyHeader}, {"description", d.keyDescription()},
		}}}},
		{"parameters", d.sharedParameters()},
		{"headers", Object{
			{"X-Request-Id", Object{{"description", "Names the request; the error body repeats it as request_id."}, {"schema", Object{{"type", "string"}}}}},
			{"Retry-After", Object{{"description", "In how many seconds to send again."}, {"schema", Object{{"type", "integer"}}}}},
		}},
		{"responses", responses},
		{"schemas", schemas},
	}
}

func (d *Document) keyDescription() string {
	if d.audience == Operator {
		return "The operator's key, gho_..."
	}
	return "An API key, ghk_<key id>_<secret>."
}

func (d *Document) sharedParameters() Object {
	header := func(name string, required bool, description string, schema Object) Object {
		return Object{{"name", name}, {"in", "header"}, {"required", required}, {"description", description}, {"schema", schema}}
	}
	identifier := append(Object{{"type", "string"}}, id.schema...)
	return Object{
		{"id", Object{
			{"name", "id"}, {"in", "path"}, {"required", true}, {"description", "The identifier."}, {"schema", identifier},
		}},
		{"organization", header(api.OrganizationHeader, d.audience == Operator, "The organization to act for. For an API key it is by default the key's own.", identifier)},
		{"idempotencyKey", header(api.IdempotencyHeader, false, "Names the request, so that it can be repeated without a second effect for 24 hours.",
			Object{{"type", "string"}, {"pattern", "^[!-~]{1,255}$"}})},
		{"requestId", header("X-Request-Id", false, "Your own name for the request.", identifier)},
	}
}

// errorResponse is the answer of a status, with each problem that it stands for.
func errorResponse(status int) Object {
	examples := Object{}
	headers := requestIDHeader
	for _, p := range api.Problems() {
		if p.Status != status {
			continue
		}
		name := p.Code
		if examples.Get(name) != nil {
			name = fmt.Sprintf("%s %d", p.Code, len(examples)+1)
		}
		examples = append(examples, Member{name, Object{{"summary", p.Message}, {"value", errorExample(&p)}}})
		if p.RetryAfter > 0 {
			headers = append(slices.Clone(requestIDHeader), Member{"Retry-After", Object{{"$ref", "#/components/headers/Retry-After"}}})
		}
	}
	return Object{
		{"description", http.StatusText(status) + "."}, {"headers", headers},
		{"content", Object{{"application/json", Object{
			{"schema", Object{{"$ref", "#/components/schemas/Error"}}}, {"examples", examples},
		}}}},
	}
}

func errorExample(p *api.Problem) Object {
	o := Object{{"request_id", samples["request_id"]}, {"error_code", p.Code}, {"message", p.Message}}.With("recovery_action", p.Recovery)
	if len(p.Fields) > 0 {
		o = append(o, Member{"field_errors", p.Fields})
	}
	if p.RetryAfter > 0 {
		o = append(o, Member{"retry_after_seconds", p.RetryAfter})
	}
	return o
}

func errorSchema() Object {
	var codes []string
	for _, p := range api.Problems() {
		if !slices.Contains(codes, p.Code) {
			codes = append(codes, p.Code)
		}
	}
	text := func(description string) Object { return Object{{"type", "string"}, {"description", description}} }
	return Object{
		{"type", "object"}, {"description", "What every operation answers that does not succeed."},
		{"properties", Object{
			{"request_id", text("The request, as in the header X-Request-Id.")},
			{"error_code", text("What is wrong.").With("enum", codes)},
			{"message", text("What is wrong, in words.")},
			{"recovery_action", text("What to do about it.")},
			{"field_errors", Object{{"type", "array"}, {"description", "Each wrong field, where the request is what is wrong."}, {"items", Object{
				{"type", "object"},
				{"properties", Object{{"field", text("The field, as a JSON path such as start.month.")}, {"message", text("What would be right.")}}},
				{"required", []string{"field", "message"}},
			}}}},
			{"retry_after_seconds", Object{{"type", "integer"}, {"description", "In how many seconds to send again, where waiting helps."}}},
		}},
		{"required", []string{"request_id", "error_code", "message"}},
	}
}
