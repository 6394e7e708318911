package schema

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/gridhook/gridhook/storage"
)

// Decode decodes a JSON text into dst and returns every field that violates the schema.
// It also sets the valid fields, so that the caller can run further checks. An absent
// field keeps its value.
//
// read is false if the whole text is invalid and nothing was decoded. Such a text is not
// a JSON object, contains a name twice, is not UTF-8, or is nested deeper than maxDepth.
// The error of the whole text has the field root.
func Decode(data []byte, dst any, s *Schema, root string, maxDepth int) (wrong []storage.FieldError, read bool) {
	value, wrong := parse(data, root, maxDepth)
	if wrong != nil {
		return wrong, false
	}
	if _, ok := value.(map[string]any); !ok {
		return []storage.FieldError{{Field: root, Message: "must be an object"}}, false
	}
	var v validator
	v.value(s, "", value)
	if err := json.Unmarshal(data, dst, readers); err != nil {
		v.report(root, "is invalid: %v", err)
	}
	return v.wrong, true
}

// Check returns the syntax errors of a JSON text without a schema.
func Check(data []byte, root string, maxDepth int) []storage.FieldError {
	_, wrong := parse(data, root, maxDepth)
	return wrong
}

func parse(data []byte, root string, maxDepth int) (value any, wrong []storage.FieldError) {
	if err := json.Unmarshal(data, &value); err != nil {
		return nil, []storage.FieldError{syntax(err, root)}
	}
	if depth(value) > maxDepth {
		return nil, []storage.FieldError{{Field: root, Message: fmt.Sprintf("is nested too deep: at most %d levels are allowed", maxDepth)}}
	}
	return value, nil
}

// syntax converts an error of a JSON parser. A duplicate name and a number out of range
// have their path as the field.
func syntax(err error, root string) storage.FieldError {
	var syntactic *jsontext.SyntacticError
	var semantic *json.SemanticError
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName) && errors.As(err, &syntactic):
		return storage.FieldError{Field: cmp.Or(pathOf(syntactic.JSONPointer), root), Message: "is repeated"}
	case errors.As(err, &semantic):
		return storage.FieldError{Field: cmp.Or(pathOf(semantic.JSONPointer), root), Message: "must be a number that fits 64 bits"}
	case errors.As(err, &syntactic):
		return storage.FieldError{Field: root, Message: fmt.Sprintf("is not valid JSON: %v at byte %d", syntactic.Err, syntactic.ByteOffset)}
	}
	return storage.FieldError{Field: root, Message: "is not valid JSON"}
}

// pathOf converts a JSON pointer to a path such as eventTypes[2] or start.month.
func pathOf(pointer jsontext.Pointer) string {
	path := ""
	for name := range pointer.Tokens() {
		if path != "" && strings.Trim(name, "0123456789") == "" && name != "" {
			path += "[" + name + "]"
		} else {
			path = join(path, name)
		}
	}
	return path
}

// depth returns the nesting depth of a value.
func depth(value any) int {
	deepest := 0
	switch value := value.(type) {
	case map[string]any:
		for _, member := range value {
			deepest = max(deepest, depth(member))
		}
	case []any:
		for _, element := range value {
			deepest = max(deepest, depth(element))
		}
	default:
		return 0
	}
	return deepest + 1
}

// readers skips values of the wrong type, which the schema reports. It also replaces maps
// and pointers as a whole.
var readers = json.WithUnmarshalers(json.UnmarshalFromFunc(func(d *jsontext.Decoder, to any) error {
	v := reflect.ValueOf(to).Elem()
	c := d.PeekKind()
	switch {
	case v.Type() == timeType, v.Kind() == reflect.Struct && c == '"': // a time or a date
		text, err := d.ReadValue()
		read := reflect.New(v.Type())
		if err == nil && json.Unmarshal(text, read.Interface()) == nil {
			v.Set(read.Elem())
		}
		return err
	case v.Type() == rawType, v.Kind() == reflect.Interface:
		return errors.ErrUnsupported
	case v.Kind() == reflect.Pointer:
		v.SetZero()
		return errors.ErrUnsupported
	case !accepts(v.Kind(), c):
		return d.SkipValue()
	case v.CanInt():
		token, err := d.ReadToken()
		if err == nil {
			number, _ := token.Float() // parse has refused a number that fits no float64
			v.SetInt(int64(number))
		}
		return err
	case v.Kind() == reflect.Map:
		v.SetZero()
	}
	return errors.ErrUnsupported
}))

// accepts reports whether a JSON kind fits a Go kind.
func accepts(k reflect.Kind, c jsontext.Kind) bool {
	switch k {
	case reflect.Struct, reflect.Map:
		return c == '{'
	case reflect.Slice:
		return c == '['
	case reflect.String:
		return c == '"'
	case reflect.Bool:
		return c == 't' || c == 'f'
	default:
		return c == '0'
	}
}
