package api

import (
	"bytes"
	"context"
	"encoding/json"
	"sync"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/api/wire"
)

// eventTypes returns the types of webhooks. Each JSON Schema is complete: its definitions
// are in $defs.
var eventTypes = sync.OnceValues(func() ([]wire.EventType, error) {
	var all []wire.EventType
	for _, e := range wire.Webhooks() {
		types := wire.NewTypes()
		body := e.Describe(types)
		text, err := json.Marshal(object{
			"$schema": "https://json-schema.org/draft/2020-12/schema", "title": e.Name, "$ref": body.Ref, "$defs": types.Components(),
		})
		if err != nil {
			return nil, err
		}
		text = bytes.ReplaceAll(text, []byte(`"#/components/schemas/`), []byte(`"#/$defs/`))
		all = append(all, wire.EventType{Type: e.Name, Summary: e.Summary, Schema: text})
	}
	return all, nil
})

func (s *server) listEventTypes(context.Context, *rest.Call, *struct{}) (wire.Page[wire.EventType], error) {
	all, err := eventTypes()
	return wire.Page[wire.EventType]{Data: all}, err
}
