package openapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"

	"github.com/gridhook/gridhook/api"
)

func typeOf(v any) reflect.Type { return reflect.TypeOf(v) }

// requestExample is the body of an operation's example, nil where none is needed.
func requestExample(r *api.Route) (any, error) {
	text, ok := requests[r.Name]
	switch {
	case !ok && r.Body == api.BodyRequired, !ok && r.Body == api.BodyLines:
		return nil, fmt.Errorf("openapi: %s lacks an example of its body", r.Name)
	case !ok:
		return nil, nil
	case r.Body == api.BodyLines:
		return text, nil
	}
	var example any
	if err := json.Unmarshal([]byte(text), &example); err != nil {
		return nil, fmt.Errorf("openapi: the example of %s: %w", r.Name, err)
	}
	return json.RawMessage(text), nil
}

// Requests are the examples of bodies, by operation.
func Requests() map[string]string { return maps.Clone(requests) }

// sample is an example of a type, of the samples of its fields.
func (d *Document) sample(t reflect.Type) any {
	if values, ok := enums[t]; ok {
		return values[0]
	}
	switch t {
	case timeType:
		return "2026-07-01T12:00:00.000Z"
	case dateType:
		return "2026-03-01"
	case rawType:
		return Object{}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return d.sample(t.Elem())
	case reflect.String:
		return "text"
	case reflect.Bool:
		return false
	case reflect.Slice:
		return []any{d.sample(t.Elem())}
	case reflect.Map:
		return Object{}
	case reflect.Struct:
		o := Object{}
		for _, f := range fieldsOf(t) {
			if v := d.sampleField(&f); v != nil || !f.omitted {
				o = append(o, Member{f.name, v})
			}
		}
		return o
	default:
		return 0
	}
}

func (d *Document) sampleField(f *field) any {
	for _, key := range []string{f.key(), f.name} {
		if value, ok := samples[key]; ok {
			return value
		}
	}
	return d.sample(f.Type)
}
