package api_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/storage"
)

// Every type that an endpoint may list has a complete JSON Schema for its body.
func TestEventTypes_List(t *testing.T) {
	e := newEnv(t, rest.Options{})
	acme, _ := e.twoTenants()
	var listed []string
	for _, item := range e.ask(acme, "/v1/webhook/event_types/list", "").ok(t)["data"].([]any) {
		described := item.(map[string]any)
		name, schema := described["type"].(string), described["schema"].(map[string]any)
		listed = append(listed, name)
		definitions := schema["$defs"].(map[string]any)
		text, err := json.Marshal(schema)
		must(t, err)
		for _, part := range strings.Split(string(text), `"$ref":"`)[1:] {
			to, _, _ := strings.Cut(strings.TrimPrefix(part, "#/$defs/"), `"`)
			if definitions[to] == nil {
				t.Errorf("the schema of %s refers to %q, which it does not define", name, to)
			}
		}
		if want := `"const":"` + name + `"`; !strings.Contains(string(text), want) {
			t.Errorf("the schema of %s has no %s", name, want)
		}
	}
	for _, name := range storage.EventTypes() {
		if !slices.Contains(listed, name) {
			t.Errorf("%s is not listed", name)
		}
	}
}
