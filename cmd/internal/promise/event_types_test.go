package promise

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// eventSchemas compiles the listed JSON Schemas of the webhooks' bodies, by type.
func (p *partner) eventSchemas() map[string]*jsonschema.Schema {
	p.t.Helper()
	listed, err := jsonschema.UnmarshalJSON(bytes.NewReader(p.call("/v1/webhook/event_types/list", map[string]any{})))
	if err != nil {
		p.t.Fatal(err)
	}
	compiler, all := jsonschema.NewCompiler(), map[string]*jsonschema.Schema{}
	for _, item := range listed.(map[string]any)["data"].([]any) {
		described := item.(map[string]any)
		name := described["type"].(string)
		if err := compiler.AddResource(name, described["schema"]); err != nil {
			p.t.Fatal(err)
		}
		all[name] = compiler.MustCompile(name)
	}
	return all
}

// The body of each webhook is valid by the listed schema of its type, in every format,
// alone and in batches.
func TestEventTypes_DescribeBodies(t *testing.T) {
	t.Parallel()
	const homes = 4
	p := start(t, "serve", t.TempDir())
	acme := furnish(t, p, homes)
	var all []*listener
	for _, format := range []string{"signal", "openadr3", "thin"} {
		all = append(all, acme.listener(http.StatusOK, map[string]any{"format": format}),
			acme.listener(http.StatusOK, map[string]any{"format": format, "batchSize": 3}))
	}
	acme.call("/v1/webhook/endpoints/"+all[0].endpoint+"/test", map[string]any{})
	gone := newReceiver(t)
	gone.answer = func(string, string, int) int { return http.StatusGone }
	acme.register(gone, nil)
	acme.completed(acme.trigger())
	p.await("the notices of the end and of the disabled endpoint", func() bool {
		return !slices.ContainsFunc(all, func(l *listener) bool {
			_, got := l.counts()
			return !contains(got, "price_signal.trigger.completed") || !contains(got, "endpoint.disabled")
		})
	})

	schemas := acme.eventSchemas()
	delete(schemas, "flex_alert") // the plans have none
	seen := map[string]bool{}
	for _, l := range all {
		_, got := l.counts()
		for _, event := range got {
			body, err := jsonschema.UnmarshalJSON(strings.NewReader(event.body))
			if err == nil {
				err = schemas[event.Type].Validate(body)
			}
			if err != nil {
				t.Errorf("%s does not have the schema of %s: %v", event.body, event.Type, err)
			}
			seen[event.Type] = true
		}
	}
	for name := range schemas {
		if !seen[name] {
			t.Errorf("no %s arrived", name)
		}
	}
}

func contains(got []notification, name string) bool {
	return slices.ContainsFunc(got, func(n notification) bool { return n.Type == name })
}
