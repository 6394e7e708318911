package openapi

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"reflect"
	"strings"

	"github.com/gridhook/gridhook/api"
)

//go:embed page.html
var pageHTML string

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{"anchor": anchor}).Parse(pageHTML))

func anchor(text string) string { return strings.ToLower(strings.ReplaceAll(text, " ", "-")) }

// The page's parts.
type (
	pageView struct {
		Title        string
		Operator     bool
		KeyHeader    string
		Introduction []string
		Groups       []groupView
		Events       []operationView
		Problems     []api.Problem
	}
	groupView struct {
		Name       string
		Operations []operationView
	}
	operationView struct {
		Name, Path, Summary, Description string
		Open                             bool
		Fields, Answers                  []fieldView
		Request, Answer                  string
		Errors                           []string
	}
	fieldView struct {
		Name, Type, Bounds, Description string
		Required                        bool
	}
)

// Page is the document as a page to read, whole in itself.
func (d *Document) Page() ([]byte, error) {
	view := pageView{
		Title: d.title(), Operator: d.audience == Operator, KeyHeader: api.KeyHeader,
		Introduction: d.introduction(), Problems: api.Problems(),
	}
	for _, group := range d.groups() {
		g := groupView{Name: group}
		for i := range d.routes {
			if d.routes[i].Group != group {
				continue
			}
			o, err := d.operationView(&d.routes[i])
			if err != nil {
				return nil, err
			}
			g.Operations = append(g.Operations, o)
		}
		view.Groups = append(view.Groups, g)
	}
	for _, e := range webhookEvents {
		t := typeOf(e.body)
		body, err := pretty(d.sample(t).(Object).With("type", e.name))
		if err != nil {
			return nil, err
		}
		view.Events = append(view.Events, operationView{Name: e.name, Summary: e.summary, Fields: d.fieldViews("", t, output), Request: body})
	}
	var b bytes.Buffer
	err := pageTemplate.Execute(&b, view)
	return b.Bytes(), err
}

func (d *Document) operationView(r *api.Route) (operationView, error) {
	o := operationView{
		Name: r.Name, Path: r.Path, Summary: r.Summary, Description: description(r), Open: r.Open,
		Answers: d.fieldViews("", r.Out, output),
	}
	if r.Body != api.BodyNone && r.Body != api.BodyLines {
		o.Fields = d.fieldViews("", r.In, input)
	}
	for _, t := range r.Lines {
		o.Fields = append(o.Fields, fieldView{Name: strings.TrimSuffix(t.Name(), "Line"), Description: "A line of this resource:"})
		o.Fields = append(o.Fields, d.fieldViews("", t, input)...)
	}
	for _, code := range r.Codes() {
		o.Errors = append(o.Errors, fmt.Sprintf("%d %s", statusOf(code), code))
	}
	example, err := requestExample(r)
	if err != nil {
		return o, err
	}
	if text, ok := example.(string); ok {
		o.Request = text
	} else if example != nil {
		if o.Request, err = pretty(example); err != nil {
			return o, err
		}
	}
	o.Answer, err = pretty(d.sample(r.Out))
	return o, err
}

func pretty(v any) (string, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	err = json.Indent(&b, text, "", "  ")
	return b.String(), err
}

// fieldViews lists the fields of a struct, those of the structs in it by their
// path.
func (d *Document) fieldViews(prefix string, t reflect.Type, way direction) []fieldView {
	var all []fieldView
	for _, f := range fieldsOf(t) {
		schema := d.schemas.property(f, way)
		all = append(all, fieldView{
			Name: prefix + f.name, Type: typeText(f.Type, schema), Bounds: boundsText(schema),
			Description: d.schemas.comments.ofField(&f),
			Required:    way == input && isRequired(t, f.name),
		})
		if inner, path := innerStruct(f.Type); inner != nil {
			all = append(all, d.fieldViews(prefix+f.name+path+".", inner, way)...)
		}
	}
	return all
}

// innerStruct is the struct that a field holds, itself or as elements.
func innerStruct(t reflect.Type) (inner reflect.Type, path string) {
	for {
		switch t.Kind() {
		case reflect.Pointer:
			t = t.Elem()
		case reflect.Slice:
			if t == rawType {
				return nil, ""
			}
			t, path = t.Elem(), path+"[]"
		case reflect.Struct:
			if t == timeType || t == dateType {
				return nil, ""
			}
			return t, path
		default:
			return nil, ""
		}
	}
}

// typeText is a field's type in words.
func typeText(t reflect.Type, schema Object) string {
	var text string
	switch inner, path := innerStruct(t); {
	case t == rawType:
		text = "object"
	case t == timeType:
		text = "timestamp"
	case inner != nil && path != "":
		text = "array of objects"
	case inner != nil:
		text = "object"
	default:
		text = schemaTypeText(schema)
	}
	if isNullable(schema) {
		text += " or null"
	}
	return text
}

func schemaTypeText(schema Object) string {
	kind := schema.Get("type")
	if list, ok := kind.([]string); ok {
		kind = list[0]
	}
	if items, ok := schema.Get("items").(Object); ok && kind == "array" {
		return "array of " + schemaTypeText(items) + "s"
	}
	return fmt.Sprint(kind)
}

func isNullable(schema Object) bool {
	_, list := schema.Get("type").([]string)
	return list || schema.Get("anyOf") != nil
}

// boundsText is what a schema says of values, in words.
func boundsText(schema Object) string {
	var words []string
	for _, m := range schema {
		format, ok := map[string]string{
			"minimum": "at least %v", "maximum": "at most %v", "exclusiveMinimum": "above %v", "exclusiveMaximum": "below %v",
			"minLength": "at least %v characters", "maxLength": "at most %v characters", "maxItems": "at most %v", "minItems": "at least %v",
			"pattern": "matches %v", "default": "default %v",
		}[m.Name]
		if ok {
			words = append(words, fmt.Sprintf(format, m.Value))
		}
		if m.Name == "enum" {
			words = append(words, "one of "+strings.Trim(strings.ReplaceAll(fmt.Sprint(m.Value), " ", ", "), "[]"))
		}
	}
	if items, ok := schema.Get("items").(Object); ok {
		if inner := boundsText(items); inner != "" {
			words = append(words, "each "+inner)
		}
	}
	return strings.Join(words, "; ")
}

// File is one of the files that package api embeds.
type File struct {
	Name string // below the folder docs
	Data []byte
}

// Files makes all files, of comments below the module's root.
func Files(root string) ([]File, error) {
	comments, err := ReadComments(root)
	if err != nil {
		return nil, err
	}
	var files []File
	for _, audience := range Audiences() {
		d, err := New(audience, comments)
		if err != nil {
			return nil, err
		}
		for name, make := range map[string]func() ([]byte, error){
			"openapi.json": d.OpenAPI.JSON, "openapi.yaml": d.OpenAPI.YAML, "index.html": d.Page,
		} {
			data, err := make()
			if err != nil {
				return nil, fmt.Errorf("%s of the %s: %w", name, audience, err)
			}
			files = append(files, File{string(audience) + "/" + name, data})
		}
	}
	return files, nil
}
