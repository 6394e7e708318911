package schema

import (
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/storage"
)

// Schema is a JSON Schema as in OpenAPI 3.1.
type Schema struct {
	Ref                  string           `json:"$ref,omitempty"`
	AnyOf                []*Schema        `json:"anyOf,omitempty"`
	OneOf                []*Schema        `json:"oneOf,omitempty"`
	Discriminator        any              `json:"discriminator,omitempty"`
	Type                 any              `json:"type,omitempty"`
	Const                string           `json:"const,omitempty"`
	Enum                 []any            `json:"enum,omitempty"`
	Format               string           `json:"format,omitempty"`
	Pattern              string           `json:"pattern,omitempty"`
	Minimum              *float64         `json:"minimum,omitempty"`
	Maximum              *float64         `json:"maximum,omitempty"`
	ExclusiveMinimum     *float64         `json:"exclusiveMinimum,omitempty"`
	ExclusiveMaximum     *float64         `json:"exclusiveMaximum,omitempty"`
	MinLength            *int             `json:"minLength,omitempty"`
	MaxLength            *int             `json:"maxLength,omitempty"`
	MinItems             *int             `json:"minItems,omitempty"`
	MaxItems             *int             `json:"maxItems,omitempty"`
	MaxProperties        *int             `json:"maxProperties,omitempty"`
	Items                *Schema          `json:"items,omitempty"`
	Properties           Members[*Schema] `json:"properties,omitzero"`
	Required             []string         `json:"required,omitempty"`
	AdditionalProperties any              `json:"additionalProperties,omitempty"` // false or a *Schema
	ReadOnly             bool             `json:"readOnly,omitempty"`
	Default              any              `json:"default,omitempty"`
	Description          string           `json:"description,omitempty"`
	Examples             []any            `json:"examples,omitempty"`

	kind     string // Type without null
	nullable bool
	pattern  *regexp.Regexp
	target   *Schema // schema that Ref refers to
	open     bool    // unknown members are allowed

	patternMessage string // error message of a text that does not match pattern
}

// Member is a named value of a JSON object.
type Member[T any] struct {
	Name  string
	Value T
}

// Members is a JSON object with its members in order.
type Members[T any] []Member[T]

// IsZero reports whether there is no object. An empty object is not zero.
func (m Members[T]) IsZero() bool { return m == nil }

// MarshalJSON encodes the members in their order.
func (m Members[T]) MarshalJSON() ([]byte, error) {
	text := []byte{'{'}
	for i, member := range m {
		if i > 0 {
			text = append(text, ',')
		}
		value, err := json.Marshal(member.Value)
		if err != nil {
			return nil, err
		}
		text = append(strconv.AppendQuote(text, member.Name), ':')
		text = append(text, value...)
	}
	return append(text, '}'), nil
}

// property returns the schema of a field, or nil if there is no such field.
func (s *Schema) property(name string) *Schema {
	for _, p := range s.Properties {
		if p.Name == name {
			return p.Value
		}
	}
	return nil
}

// Direction distinguishes requests from responses. A response has all fields. A request
// may omit fields.
type Direction int

// Directions of a value.
const (
	Request Direction = iota
	Response
)

// Types describes Go types. Each struct becomes one component.
type Types struct {
	// Names has the names of components whose names differ from their types. Enums has
	// the values of string types with few values. Unions has the types that the values of
	// an interface have.
	Names  map[reflect.Type]string
	Enums  map[reflect.Type][]string
	Unions map[reflect.Type][]reflect.Type
	// Open allows unknown fields in requests, and null instead of an absent field.
	Open bool

	mu         sync.Mutex
	components map[string]*Schema
	types      map[string]reflect.Type
	made       map[key]*Schema
}

// key identifies a described type.
type key struct {
	of reflect.Type
	d  Direction
}

// Types with a special JSON form.
var (
	timeType = reflect.TypeFor[storage.Time]()
	dateType = reflect.TypeFor[pricing.Date]()
	rawType  = reflect.TypeFor[json.RawMessage]()
)

// Of returns the schema of a type. It is safe for concurrent use.
func (t *Types) Of(of reflect.Type, d Direction) *Schema {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.components == nil {
		t.components, t.types, t.made = map[string]*Schema{}, map[string]reflect.Type{}, map[key]*Schema{}
	}
	if t.made[key{of, d}] == nil {
		t.made[key{of, d}] = t.schema(of, d)
	}
	return t.made[key{of, d}]
}

// Components returns the schemas of all structs that were described, by name.
func (t *Types) Components() map[string]*Schema {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.components
}

func (t *Types) schema(of reflect.Type, d Direction) *Schema {
	if values, ok := t.Enums[of]; ok {
		s := typed("string")
		for _, v := range values {
			s.Enum = append(s.Enum, v)
		}
		return s
	}
	switch of {
	case timeType:
		return &Schema{Type: "string", kind: "string", Format: "date-time"}
	case dateType:
		return &Schema{Type: "string", kind: "string", Format: "date"}
	case rawType:
		return typed("object")
	}
	switch of.Kind() {
	case reflect.Interface:
		s := &Schema{} // without a union any value is valid
		for _, one := range t.Unions[of] {
			s.AnyOf = append(s.AnyOf, t.schema(one, d))
		}
		return s
	case reflect.Pointer:
		return nullable(t.schema(of.Elem(), d))
	case reflect.String:
		return typed("string")
	case reflect.Bool:
		return typed("boolean")
	case reflect.Float64:
		return typed("number")
	case reflect.Slice:
		s := typed("array")
		s.Items = t.schema(of.Elem(), d)
		return s
	case reflect.Map:
		s := typed("object")
		s.AdditionalProperties = t.schema(of.Elem(), d)
		return s
	case reflect.Struct:
		if of.Name() == "" {
			return t.object(of, d)
		}
		return t.component(of, d)
	default: // the integers
		return typed("integer")
	}
}

func typed(kind string) *Schema { return &Schema{Type: kind, kind: kind} }

// nullable returns a schema that also accepts null. It may change s.
func nullable(s *Schema) *Schema {
	if s.nullable {
		return s
	}
	s.nullable = true
	if s.Ref != "" {
		return &Schema{AnyOf: []*Schema{{Ref: s.Ref}, typed("null")}, target: s.target, nullable: true, Description: s.Description}
	}
	s.Type = []string{s.kind, "null"}
	if s.Enum != nil {
		s.Enum = append(s.Enum, nil)
	}
	return s
}

// component describes a struct on first use and returns a reference to it.
func (t *Types) component(of reflect.Type, d Direction) *Schema {
	name := t.name(of, d)
	switch known := t.types[name]; {
	case known == nil:
		t.types[name] = of
		t.components[name] = typed("object") // placeholder for a type that refers to itself
		*t.components[name] = *t.object(of, d)
	case known != of:
		panic("schema: " + known.String() + " and " + of.String() + " would both be " + name)
	}
	return &Schema{Ref: "#/components/schemas/" + name, target: t.components[name]}
}

// name returns a unique name. A type of both requests and responses has two schemas.
func (t *Types) name(of reflect.Type, d Direction) string {
	name := of.Name()
	if given, ok := t.Names[of]; ok {
		name = given
	}
	if base, element, ok := strings.Cut(name, "["); ok { // such as Page[github.com/.../wire.Home]
		element = strings.TrimSuffix(element, "]")
		name = element[strings.LastIndex(element, ".")+1:] + base
	}
	name = strings.ToUpper(name[:1]) + name[1:]
	if d == Request && !strings.HasSuffix(name, "Input") && !strings.HasSuffix(name, "Line") {
		name += "Input"
	}
	return name
}

// object describes the fields of a struct.
func (t *Types) object(of reflect.Type, d Direction) *Schema {
	s := typed("object")
	s.Properties = Members[*Schema]{}
	required := requiredOf(of)
	for _, f := range fieldsOf(of) {
		property := t.field(f, d)
		s.Properties = append(s.Properties, Member[*Schema]{f.name, property})
		if d == Response && !f.omitted || d == Request && slices.Contains(required, f.name) {
			s.Required = append(s.Required, f.name)
		}
	}
	if d == Request && !t.Open {
		s.AdditionalProperties = false
	}
	s.open = t.Open
	return s
}
