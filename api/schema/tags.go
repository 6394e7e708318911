package schema

import (
	"cmp"
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// patterns maps names in the tag pattern to regular expressions. A name with the suffix
// OrEmpty also accepts an empty text.
var patterns = map[string]string{ //nolint:gosec // the pattern of secrets is none
	"id":       "^[A-Za-z0-9_-]{1,128}$",
	"cursor":   "^[A-Za-z0-9_-]{0,128}$",
	"export":   "^([0-9]{2}-[A-Za-z0-9_-]{0,128})?$",
	"delivery": `^([A-Za-z0-9_-]{1,128}\.([0-9]{1,9}\.[0-9]{1,9}|[A-Za-z0-9_-]{1,128}))?$`,
	"zipcode":  `^(?:0{0,4}[0-9]{1,5}|[0-9]{3})(?:[-\s][0-9]{4})?$`,
	"secret":   "^whsec_[A-Za-z0-9+/]+={0,2}$",
	"cron":     `^\s*\S+(\s+\S+){4}\s*$`,
	"duration": `^-?P(?:(?:\d+Y(?:\d+M)?(?:\d+[DW])?|\d+M(?:\d+[DW])?|\d+[DW])(?:T(?:\d+H)?(?:\d+M)?(?:\d+(?:\.\d+)?S)?)?|T(?:\d+H(?:\d+M)?(?:\d+(?:\.\d+)?S)?|\d+M(?:\d+(?:\.\d+)?S)?|\d+(?:\.\d+)?S))$`,
	"area":     "^(?:[0-9]{5}|[0-9]{3}|[A-Z]{2})$",
	"state":    "^(?:[A-Z]{2})?$",
	"month":    "^20[0-9]{2}-(?:0[1-9]|1[0-2])$",

	"idOrEmpty":      "^[A-Za-z0-9_-]{0,128}$",
	"zipcodeOrEmpty": `^(?:(?:0{0,4}[0-9]{1,5}|[0-9]{3})(?:[-\s][0-9]{4})?)?$`,
}

// expressions are the compiled patterns by name. Many fields share a pattern.
var expressions = sync.OnceValue(func() map[string]*regexp.Regexp {
	all := map[string]*regexp.Regexp{}
	for name, pattern := range patterns {
		all[name] = regexp.MustCompile(pattern)
	}
	return all
})

// patternMessages has the messages of patterns that are not self-explanatory.
var patternMessages = map[string]string{
	"zipcode": "must be a US zipcode such as 60614", "zipcodeOrEmpty": "must be a US zipcode such as 60614",
	"cron":     "must have five fields such as 30 13 * * *",
	"duration": "must be an ISO 8601 duration such as PT15M",
	"month":    "must be a month such as 2026-07",
	"cursor":   "must be next of the previous page", "delivery": "must be next of the previous page",
	"area": "must be a zipcode of five digits, a prefix of three digits or a state's two letters",
}

// field is a JSON field of a struct.
type field struct {
	reflect.StructField
	name    string
	omitted bool // omitted if the value is empty
}

// fieldsOf lists the JSON fields of a struct, including the fields of embedded structs.
// Among fields with the same name, the shallowest field wins.
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
			all = append(all, field{f, name, strings.Contains(options, "omit")})
		}
	}
	return all
}

// requiredOf lists the required fields of a request. It reads the tag required on the
// blank fields of the struct and of its embedded structs.
func requiredOf(t reflect.Type) (names []string) {
	for i := range t.NumField() {
		switch f := t.Field(i); {
		case f.Name == "_" && f.Tag.Get("required") != "":
			names = append(names, strings.Split(f.Tag.Get("required"), ",")...)
		case f.Anonymous && f.Type.Kind() == reflect.Struct:
			names = append(names, requiredOf(f.Type)...)
		}
	}
	return names
}

// Requires reports whether a request of a type has required fields.
func Requires(t reflect.Type) bool { return len(requiredOf(t)) > 0 }

// field describes a field by its type and its tags.
func (t *Types) field(f field, d Direction) *Schema {
	of, tag := f.Type, f.Tag.Get("nullable")
	if tag == "false" && d == Request && of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	s := t.schema(of, d)
	if s.kind == "array" {
		bounds(s.Items, f.Tag, "items")
	}
	if values, ok := s.AdditionalProperties.(*Schema); ok {
		bounds(values, f.Tag, "items")
	}
	bounds(s, f.Tag, "")
	if tag == "true" || d == Request && f.Type == timeType && tag != "false" {
		s = nullable(s)
	}
	s.ReadOnly = f.Tag.Get("readOnly") == "true"
	s.Description = f.Tag.Get("doc")
	if text, ok := f.Tag.Lookup("example"); ok && d == Response && s.target == nil {
		s.Examples = []any{example(s, text)}
	}
	return s
}

// example converts a tag's text to a value of the schema's type.
func example(s *Schema, text string) any {
	var value any
	if s.kind == "string" && text != "null" || json.Unmarshal([]byte(text), &value) != nil {
		return text
	}
	return value
}

// SetDefaults sets the fields of dst that have the tag default.
func SetDefaults(dst any) { setDefaults(reflect.ValueOf(dst).Elem()) }

func setDefaults(v reflect.Value) {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		switch text := f.Tag.Get("default"); {
		case f.Anonymous && f.Type.Kind() == reflect.Struct:
			setDefaults(v.Field(i))
		case text == "":
		case f.Type.Kind() == reflect.String:
			v.Field(i).SetString(text)
		default: // an integer
			n, err := strconv.ParseInt(text, 10, 64)
			must(err)
			v.Field(i).SetInt(n)
		}
	}
}

// bounds applies the tags with a prefix to a schema.
func bounds(s *Schema, tags reflect.StructTag, prefix string) {
	get := func(name string) string {
		if prefix != "" {
			name = prefix + strings.ToUpper(name[:1]) + name[1:]
		}
		return tags.Get(name)
	}
	for name, to := range map[string]**float64{
		"minimum": &s.Minimum, "maximum": &s.Maximum, "exclusiveMinimum": &s.ExclusiveMinimum, "exclusiveMaximum": &s.ExclusiveMaximum,
	} {
		if text := get(name); text != "" {
			v, err := strconv.ParseFloat(text, 64)
			must(err)
			*to = &v
		}
	}
	for name, to := range map[string]**int{
		"minLength": &s.MinLength, "maxLength": &s.MaxLength, "minItems": &s.MinItems, "maxItems": &s.MaxItems, "maxProperties": &s.MaxProperties,
	} {
		if text := get(name); text != "" {
			v, err := strconv.Atoi(text)
			must(err)
			*to = &v
		}
	}
	if text := get("format"); text != "" {
		s.Format = text
	}
	if name := get("pattern"); name != "" {
		s.Pattern = patterns[name]
		if s.Pattern == "" {
			panic("schema: no pattern " + name)
		}
		s.pattern, s.patternMessage = expressions()[name], cmp.Or(patternMessages[name], "must match "+s.Pattern)
	}
	if text := get("enum"); text != "" {
		s.Enum = nil
		for value := range strings.SplitSeq(text, ",") {
			s.Enum = append(s.Enum, value)
		}
	}
}

// must panics on an invalid tag. Every tag is read when the process starts.
func must(err error) {
	if err != nil {
		panic("schema: " + err.Error())
	}
}
