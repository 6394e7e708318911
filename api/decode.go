package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gridhook/gridhook/storage"
)

// maxFieldErrors bounds how many wrong fields one answer names.
const maxFieldErrors = 100

// errTooDeep ends the reading of a text nested deeper than allowed.
var errTooDeep = errors.New("is nested too deep")

// decode reads one JSON text into what dst points to and returns every field
// that is wrong; what is right is set all the same, so that further checks can
// name their problems beside these. encoding/json alone would let through names
// in another case, duplicate names and lone surrogates, and stops at the first
// mistake.
//
// A field that is absent keeps the value it had. One that is null is wrong but
// where a pointer takes it (unless tagged null:"no") or its type reads null.
// Root names the text itself where that is what is wrong.
func decode(data []byte, dst any, root string, maxDepth int) []storage.FieldError {
	d := decoder{scanner: scanner{data: data}, root: root, maxDepth: maxDepth}
	if err := d.document(reflect.ValueOf(dst).Elem()); err != nil {
		return []storage.FieldError{{Field: root, Message: err.Error()}}
	}
	return d.wrong
}

type decoder struct {
	scanner
	root     string
	maxDepth int
	depth    int
	path     []step
	wrong    []storage.FieldError
}

// step is one step of a JSON path: a name, or an index in an array.
type step struct {
	name    string
	index   int
	indexed bool
}

func (d *decoder) document(dst reflect.Value) error {
	if !utf8.Valid(d.data) {
		return errors.New("is not valid UTF-8")
	}
	if err := d.value(dst); err != nil {
		return err
	}
	if d.peek(); d.pos < len(d.data) {
		return d.unexpected("the end")
	}
	return nil
}

// report records that the current field is wrong.
func (d *decoder) report(format string, args ...any) {
	if len(d.wrong) < maxFieldErrors {
		d.wrong = append(d.wrong, storage.FieldError{Field: d.where(), Message: fmt.Sprintf(format, args...)})
	}
}

// where is the current JSON path, such as eventTypes[2] or start.month.
func (d *decoder) where() string {
	if len(d.path) == 0 {
		return d.root
	}
	var b strings.Builder
	for i, s := range d.path {
		switch {
		case s.indexed:
			b.WriteString("[" + strconv.Itoa(s.index) + "]")
		case !storage.ValidID(s.name):
			// Not a name of ours: quoted and cut, as it is whatever was sent.
			b.WriteString("[" + strconv.Quote(s.name[:min(len(s.name), 64)]) + "]")
		case i > 0:
			b.WriteString("." + s.name)
		default:
			b.WriteString(s.name)
		}
	}
	return b.String()
}

// Types that read their own JSON.
var (
	timeType = reflect.TypeFor[storage.Time]()
	rawType  = reflect.TypeFor[json.RawMessage]()
)

// value reads the next value into v, or past it where v is the zero Value.
func (d *decoder) value(v reflect.Value) error {
	c := d.peek()
	if v.IsValid() {
		switch {
		case v.Type() == rawType:
			start := d.pos
			err := d.value(reflect.Value{})
			v.SetBytes(bytes.Clone(d.data[start:d.pos]))
			return err
		case v.Type() == timeType:
			return d.time(v, c)
		case v.Kind() == reflect.Pointer && c == 'n':
			v.SetZero()
			return d.literal("null")
		case v.Kind() == reflect.Pointer:
			v.Set(reflect.New(v.Type().Elem()))
			return d.value(v.Elem())
		case !accepts(v.Kind(), c) && startsValue(c):
			d.report("must be %s", wanted(v.Kind()))
			v = reflect.Value{}
		}
	}
	return d.typed(v, c)
}

// typed reads a value that begins with c into a v that takes its kind.
func (d *decoder) typed(v reflect.Value, c byte) error {
	switch c {
	case '{':
		return d.nested(func() error { return d.object(v) })
	case '[':
		return d.nested(func() error { return d.array(v) })
	case '"':
		text, err := d.text()
		if err == nil && v.IsValid() {
			v.SetString(text)
		}
		return err
	case 't', 'f':
		if v.IsValid() {
			v.SetBool(c == 't')
		}
		return d.literal(strconv.FormatBool(c == 't'))
	case 'n':
		return d.literal("null")
	}
	if !startsValue(c) {
		return d.unexpected("a value")
	}
	return d.numeric(v)
}

func (d *decoder) nested(read func() error) error {
	if d.depth++; d.depth > d.maxDepth {
		return fmt.Errorf("%w: at most %d levels are allowed", errTooDeep, d.maxDepth)
	}
	defer func() { d.depth-- }()
	d.pos++
	return read()
}

func (d *decoder) numeric(v reflect.Value) error {
	text, err := d.number()
	if err != nil {
		return err
	}
	const exact = 1 << 53
	switch f, err := strconv.ParseFloat(text, 64); {
	case err != nil:
		d.report("must be a number that fits 64 bits")
	case !v.IsValid():
	case v.Kind() == reflect.Float64:
		v.SetFloat(f)
	case f != float64(int64(f)) || f >= exact || f <= -exact:
		d.report("must be a whole number")
	default:
		v.SetInt(int64(f))
	}
	return nil
}

// time reads a timestamp, or null as none.
func (d *decoder) time(v reflect.Value, c byte) error {
	start := d.pos
	if err := d.value(reflect.Value{}); err != nil {
		return err
	}
	raw := d.data[start:d.pos]
	var t storage.Time
	if ok := c == '"' || c == 'n'; ok && t.UnmarshalJSON(raw) == nil {
		v.Set(reflect.ValueOf(t))
		return nil
	}
	d.report("must be an RFC 3339 timestamp such as 2026-07-01T00:00:00Z")
	return nil
}

func startsValue(c byte) bool {
	return c == '-' || c >= '0' && c <= '9' || strings.IndexByte(`{["tfn`, c) >= 0
}

// accepts reports whether a value that begins with c is one of the kind.
func accepts(k reflect.Kind, c byte) bool {
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
		return c == '-' || c >= '0' && c <= '9'
	}
}

// wanted says in words what a kind is in JSON.
func wanted(k reflect.Kind) string {
	switch k {
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Slice:
		return "an array"
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Float64:
		return "a number"
	default:
		return "a whole number"
	}
}
