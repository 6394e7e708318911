package api

import (
	"reflect"
	"slices"
	"strings"
	"sync"
)

// object reads the members of an object into a struct or a map, or past them.
func (d *decoder) object(v reflect.Value) error {
	var known fields
	if v.IsValid() && v.Kind() == reflect.Struct {
		known = fieldsOf(v.Type())
	} else if v.IsValid() {
		v.Set(reflect.MakeMap(v.Type()))
	}
	var seen names
	for first := true; !d.take('}'); first = false {
		if !first && !d.take(',') {
			return d.unexpected("a comma or a closing brace")
		}
		if d.peek() != '"' {
			return d.unexpected("a name in quotes")
		}
		name, err := d.text()
		if err != nil {
			return err
		}
		if !d.take(':') {
			return d.unexpected("a colon")
		}
		if err := d.member(v, known, name, seen.again(name)); err != nil {
			return err
		}
	}
	return nil
}

// names are those of an object so far. Most objects have few, which need no map.
type names struct {
	few  [8]string
	n    int
	more map[string]bool
}

// again reports whether a name was there before.
func (s *names) again(name string) bool {
	if slices.Contains(s.few[:s.n], name) || s.more[name] {
		return true
	}
	if s.n < len(s.few) {
		s.few[s.n] = name
		s.n++
		return false
	}
	if s.more == nil {
		s.more = make(map[string]bool)
	}
	s.more[name] = true
	return false
}

// member reads one member's value into where it belongs.
func (d *decoder) member(v reflect.Value, known fields, name string, again bool) error {
	d.path = append(d.path, step{name: name})
	defer func() { d.path = d.path[:len(d.path)-1] }()
	f, ok := known[name]
	switch {
	case again:
		d.report("must be given only once")
	case !v.IsValid():
	case known == nil: // a map
		element := reflect.New(v.Type().Elem()).Elem()
		err := d.value(element)
		v.SetMapIndex(reflect.ValueOf(name), element)
		return err
	case !ok && len(d.wrong) < maxFieldErrors:
		d.report("is not a field here: %s", known.hint(name))
	case !ok:
	case f.notNull && d.peek() == 'n':
		d.report("must be left out or have a value, not be null")
	default:
		return d.value(v.FieldByIndex(f.index))
	}
	return d.value(reflect.Value{})
}

// array reads the elements of an array into a slice, or past them.
func (d *decoder) array(v reflect.Value) error {
	if v.IsValid() {
		v.Set(reflect.MakeSlice(v.Type(), 0, 0))
	}
	for i := 0; !d.take(']'); i++ {
		if i > 0 && !d.take(',') {
			return d.unexpected("a comma or a closing bracket")
		}
		var element reflect.Value
		if v.IsValid() {
			element = reflect.New(v.Type().Elem()).Elem()
		}
		d.path = append(d.path, step{index: i, indexed: true})
		if err := d.value(element); err != nil {
			return err
		}
		d.path = d.path[:len(d.path)-1]
		if v.IsValid() {
			v.Set(reflect.Append(v, element))
		}
	}
	return nil
}

// fields are the JSON fields of a struct by name.
type fields map[string]field

type field struct {
	index   []int
	notNull bool
}

// fieldCache keeps what is known of each input type; they are as many as there
// are operations.
var fieldCache sync.Map // reflect.Type -> fields

// fieldsOf lists the JSON fields of a struct type, those of embedded structs
// included.
func fieldsOf(t reflect.Type) fields {
	if known, ok := fieldCache.Load(t); ok {
		return known.(fields)
	}
	known := fields{}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" || !f.IsExported() {
			continue
		}
		known[name] = field{index: f.Index, notNull: f.Tag.Get("null") == "no"}
	}
	fieldCache.Store(t, known)
	return known
}

// names are the fields' names in order.
func (f fields) names() []string {
	names := make([]string, 0, len(f))
	for name := range f {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// hint says what a wrong name should have been.
func (f fields) hint(name string) string {
	const few = 10
	names := f.names()
	for _, known := range names {
		if strings.EqualFold(known, name) {
			return "names are case-sensitive, it is " + known
		}
	}
	switch {
	case len(names) == 0:
		return "none is taken"
	case len(names) > few:
		return "it is unknown"
	default:
		return "known are " + strings.Join(names, ", ")
	}
}
