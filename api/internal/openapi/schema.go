package openapi

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/storage"
)

// direction is which way a value goes: a body may leave out and be null where an
// answer may not.
type direction int

const (
	input direction = iota
	output
)

// schemas makes JSON schemas of Go types, each struct one component.
type schemas struct {
	comments   Comments
	components Object
	made       map[string]reflect.Type
}

// The types that have a JSON form of their own.
var (
	timeType = reflect.TypeFor[storage.Time]()
	dateType = reflect.TypeFor[pricing.Date]()
	rawType  = reflect.TypeFor[json.RawMessage]()
)

// of is the schema of a type. Structs are made components and referred to.
func (s *schemas) of(t reflect.Type, d direction) Object {
	if values, ok := enums[t]; ok {
		return Object{{"type", "string"}, {"enum", values}}
	}
	switch t {
	case timeType:
		return Object{{"type", "string"}, {"format", "date-time"}}
	case dateType:
		return Object{{"type", "string"}, {"format", "date"}}
	case rawType:
		return Object{{"type", "object"}}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return nullable(s.of(t.Elem(), d))
	case reflect.String:
		return Object{{"type", "string"}}
	case reflect.Bool:
		return Object{{"type", "boolean"}}
	case reflect.Float64:
		return Object{{"type", "number"}}
	case reflect.Slice:
		return Object{{"type", "array"}, {"items", s.of(t.Elem(), d)}}
	case reflect.Map:
		return Object{{"type", "object"}, {"additionalProperties", s.of(t.Elem(), d)}}
	case reflect.Struct:
		return s.component(t, d)
	default: // the integers
		return Object{{"type", "integer"}}
	}
}

// component makes a struct a component, once, and is the reference to it.
func (s *schemas) component(t reflect.Type, d direction) Object {
	name := componentName(t, d)
	if made := s.made[name]; made != nil && made != t {
		panic(fmt.Sprintf("openapi: %s and %s would both be the schema %s: rename one in rules.go", made, t, name))
	} else if made == nil {
		s.made[name] = t
		s.components = append(s.components, Member{name, s.object(t, d, nil)})
	}
	return Object{{"$ref", "#/components/schemas/" + name}}
}

// componentName is unique: a type that goes both ways has two schemas.
func componentName(t reflect.Type, d direction) string {
	name := t.Name()
	if given, ok := names[t]; ok {
		name = given
	}
	if base, arg, ok := strings.Cut(name, "["); ok { // such as Page[github.com/.../storage.Home]
		arg = strings.TrimSuffix(arg, "]")
		name = arg[strings.LastIndex(arg, ".")+1:] + base
	}
	r := []rune(name)
	r[0] = unicode.ToUpper(r[0])
	name = string(r)
	if d == input && !strings.HasSuffix(name, "Input") && !strings.HasSuffix(name, "Line") {
		name += "Input"
	}
	return name
}

// object is the schema of a struct. Defaults has the values of absent fields.
func (s *schemas) object(t reflect.Type, d direction, defaults map[string]any) Object {
	var properties Object
	var required []string
	for _, f := range fieldsOf(t) {
		schema := s.property(f, d)
		if value, ok := defaults[f.name]; ok && d == input && !isRequired(t, f.name) && !empty(value) {
			schema = schema.With("default", value)
		}
		properties = append(properties, Member{f.name, schema})
		if d == output && !f.omitted || d == input && isRequired(t, f.name) {
			required = append(required, f.name)
		}
	}
	o := Object{{"type", "object"}}.With("description", s.comments.ofType(t))
	if properties == nil {
		properties = Object{}
	}
	o = append(o, Member{"properties", properties})
	if required != nil {
		o = append(o, Member{"required", required})
	}
	if d == input {
		o = append(o, Member{"additionalProperties", false})
	}
	return o
}

// property is the schema of a field: that of its type, what the rules say beyond
// it, and what its comment says.
func (s *schemas) property(f field, d direction) Object {
	schema := s.of(f.Type, d)
	r := rules[f.key()]
	for _, m := range r.schema {
		schema = schema.With(m.Name, m.Value)
	}
	if r.items != nil {
		items, _ := schema.Get("items").(Object)
		for _, m := range r.items {
			items = items.With(m.Name, m.Value)
		}
		schema = schema.With("items", items)
	}
	null := r.null
	if d == input {
		null = (f.Type.Kind() == reflect.Pointer || f.Type == timeType || f.Type == rawType && r.null) && f.Tag.Get("null") != "no"
	}
	if d == output && f.Type.Kind() == reflect.Pointer {
		null = true
	}
	schema = notNull(schema)
	if null {
		schema = nullable(schema)
	}
	if r.readOnly {
		schema = schema.With("readOnly", true)
	}
	return schema.With("description", s.comments.ofField(&f))
}

// nullable is a schema that takes null as well.
func nullable(o Object) Object {
	if values, ok := o.Get("enum").([]string); ok {
		with := make([]any, 0, len(values)+1)
		for _, v := range values {
			with = append(with, v)
		}
		o = o.With("enum", append(with, nil))
	}
	switch t := o.Get("type").(type) {
	case string:
		return o.With("type", []string{t, "null"})
	case nil:
		return Object{{"anyOf", []Object{o, {{"type", "null"}}}}}
	}
	return o
}

// notNull undoes nullable.
func notNull(o Object) Object {
	if either, ok := o.Get("anyOf").([]Object); ok {
		return either[0]
	}
	if values, ok := o.Get("enum").([]any); ok {
		var without []string
		for _, v := range values {
			if text, ok := v.(string); ok {
				without = append(without, text)
			}
		}
		o = o.With("enum", without)
	}
	if t, ok := o.Get("type").([]string); ok {
		return o.With("type", t[0])
	}
	return o
}

// field is a JSON field of a struct, with the struct that declares it.
type field struct {
	reflect.StructField
	name    string
	parent  reflect.Type
	omitted bool // when it is empty
}

// key is how the rules name a field.
func (f *field) key() string { return f.parent.String() + "." + f.name }

// fieldsOf lists the JSON fields of a struct, those of embedded structs in their
// place. Of one name, the shallowest counts.
func fieldsOf(t reflect.Type) []field {
	var all []field
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			for _, inner := range fieldsOf(f.Type) {
				if !slices.ContainsFunc(all, func(have field) bool { return have.name == inner.name }) {
					all = append(all, inner)
				}
			}
		case name != "" && name != "-" && f.IsExported():
			all = slices.DeleteFunc(all, func(have field) bool { return have.name == name })
			all = append(all, field{f, name, t, strings.Contains(options, "omit")})
		}
	}
	return all
}

func isRequired(t reflect.Type, name string) bool { return slices.Contains(required[t.Name()], name) }

// empty reports whether a default says no more than the type does.
func empty(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case float64:
		return v == 0
	}
	return false
}

// defaultsOf are the values of fields that are absent from a body.
func defaultsOf(in any) map[string]any {
	var values map[string]any
	if text, err := json.Marshal(in); in == nil || err != nil || json.Unmarshal(text, &values) != nil {
		return nil
	}
	return values
}
