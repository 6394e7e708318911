package api

import (
	"net/http"
	"slices"
	"strings"

	"github.com/gridhook/gridhook/api/rest"
)

var requestIDHeader = object{"X-Request-Id": ref("headers/X-Request-Id")}

// responseName returns the text of a status without spaces.
func responseName(status int) string { return strings.ReplaceAll(http.StatusText(status), " ", "") }

// components describes the shared parts of the document.
func (d *document) components() object {
	responses := object{}
	for _, p := range Problems() {
		if p.Status != http.StatusMethodNotAllowed { // only requests that match no operation get it
			responses[responseName(p.Status)] = errorResponse(p.Status)
		}
	}
	schemas := object{"Error": errorSchema()}
	for name, s := range d.types.Components() {
		schemas[name] = s
	}
	keyDescription := "An API key, ghk_<key id>_<secret>."
	if d.audience == AudienceOperator {
		keyDescription = "The operator's key, gho_..."
	}
	return object{
		"securitySchemes": object{"apiKey": object{"type": "apiKey", "in": "header", "name": rest.KeyHeader, "description": keyDescription}},
		"parameters":      d.sharedParameters(),
		"headers": object{
			"X-Request-Id": object{"description": "Identifies the request. An error body repeats it as request_id.", "schema": object{"type": "string"}},
			"Retry-After":  object{"description": "The delay before a retry in seconds.", "schema": object{"type": "integer"}},
		},
		"responses": responses,
		"schemas":   schemas,
	}
}

func (d *document) sharedParameters() object {
	identifier := object{"type": "string", "pattern": "^[A-Za-z0-9_-]{1,128}$"}
	return object{
		"id": object{"name": "id", "in": "path", "required": true, "description": "The identifier.", "schema": identifier},
		"organizationOrOperator": header(rest.OrganizationHeader, false,
			"The organization to act for, by default the organization of the API key. Without it, an operator key acts for the operator.", identifier),
		"organization": header(rest.OrganizationHeader, d.audience == AudienceOperator, "The organization to act for, by default the organization of the API key.", identifier),
		"idempotencyKey": header(rest.IdempotencyHeader, false, "Identifies the request. A repeat with the same key within 24 hours has no second effect.",
			object{"type": "string", "pattern": "^[!-~]{1,255}$"}),
		"requestId": header("X-Request-Id", false, "Your own identifier of the request.", identifier),
	}
}

// errorResponse describes the response of a status with all its problems.
func errorResponse(status int) object {
	shown, headers := object{}, object{"X-Request-Id": ref("headers/X-Request-Id")}
	for _, p := range Problems() {
		if p.Status != status {
			continue
		}
		name := p.Code
		for shown[name] != nil {
			name += "_"
		}
		shown[name] = object{"summary": p.Message, "value": rest.ProblemBody{RequestID: "req_01JZ2E6K8M0000000000000000", Problem: p}}
		if p.RetryAfter > 0 {
			headers["Retry-After"] = ref("headers/Retry-After")
		}
	}
	return object{
		"description": http.StatusText(status) + ".", "headers": headers,
		"content": object{"application/json": object{"schema": ref("schemas/Error"), "examples": shown}},
	}
}

func errorSchema() object {
	var codes []string
	for _, p := range Problems() {
		if !slices.Contains(codes, p.Code) {
			codes = append(codes, p.Code)
		}
	}
	text := func(description string) object { return object{"type": "string", "description": description} }
	code := text("The kind of error.")
	code["enum"] = codes
	return object{
		"type": "object", "description": "The body of every error response.",
		"properties": object{
			"request_id": text("The request, as in the header X-Request-Id."), "error_code": code,
			"message": text("The error in words."), "recovery_action": text("What to do."),
			"field_errors": object{"type": "array", "description": "The wrong fields of an invalid request.", "items": object{
				"type":       "object",
				"properties": object{"field": text("The field, as a JSON path such as start.month."), "message": text("What would be right.")},
				"required":   []string{"field", "message"},
			}},
			"retry_after_seconds": object{"type": "integer", "description": "The delay before a retry in seconds, if a retry helps."},
		},
		"required": []string{"request_id", "error_code", "message"},
	}
}
