package openadr_test

import (
	"bytes"
	_ "embed" // of the shapes
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
)

// document validates responses by strict shapes of its own, and by the official OpenAPI
// document of OpenADR 3.1.1 if GRIDHOOK_TESTDATA has it.
type document struct {
	shapes *jsonschema.Compiler
	// paths and compiler belong to the official document. Without test data they are nil.
	paths    map[string]any
	compiler *jsonschema.Compiler

	mu      sync.Mutex
	reached map[string]bool // method, path and status
}

//go:embed testdata/shapes.json
var shapes []byte

func openDocument(t *testing.T) *document {
	t.Helper()
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(shapes))
	must(t, err)
	d := &document{shapes: jsonschema.NewCompiler(), reached: map[string]bool{}}
	d.shapes.AssertFormat()
	must(t, d.shapes.AddResource("file:///shapes", value))
	if dir := os.Getenv("GRIDHOOK_TESTDATA"); dir != "" {
		d.official(t, dir)
	}
	return d
}

func (d *document) official(t *testing.T, dir string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "openadr3", "openadr3.yaml"))
	must(t, err)
	var all map[string]any
	must(t, yaml.Unmarshal(text, &all))
	modern(all)
	schemas := all["components"].(map[string]any)["schemas"].(map[string]any)
	// The document contradicts itself: the objectType of a ven and of a resource must
	// equal an object's and a request's. The server's responses have the object's.
	for _, name := range []string{"BlVenRequest", "BlResourceRequest"} {
		delete(schemas[name].(map[string]any)["properties"].(map[string]any)["objectType"].(map[string]any), "enum")
	}
	// The objectType of a notification's object selects its schema, as in the
	// discriminator. By shape alone, a report would also be a program.
	delete(schemas["notification"].(map[string]any)["properties"].(map[string]any)["object"].(map[string]any), "oneOf")
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft4)
	c.AssertFormat()
	must(t, c.AddResource("file:///document", all))
	d.paths, d.compiler = all["paths"].(map[string]any), c
}

// modern translates OpenAPI 3.0's extensions into JSON Schema.
func modern(value any) {
	switch v := value.(type) {
	case map[string]any:
		if v["nullable"] == true {
			v["type"] = []any{v["type"], "null"}
		}
		if p, ok := v["pattern"].(string); ok && strings.Contains(p, "(?=") {
			v["pattern"] = strings.Replace(p, `(?=\d|T\d)`, "", 1) // Go's expressions have no lookaround
		}
		delete(v, "example")
		delete(v, "default")
		delete(v, "discriminator")
		for _, inner := range v {
			modern(inner)
		}
	case []any:
		for _, inner := range v {
			modern(inner)
		}
	}
}

// template returns the document's path for a path.
func (d *document) template(path string) string {
	have := strings.Split(path, "/")
	found := ""
	for candidate := range d.paths {
		want := strings.Split(strings.TrimPrefix(candidate, "/"), "/")
		same := slices.EqualFunc(want, have, func(w, h string) bool { return w == h || strings.HasPrefix(w, "{") })
		if same && (found == "" || strings.Count(candidate, "{") < strings.Count(found, "{")) {
			found = candidate
		}
	}
	return found
}

// check validates a response.
func (d *document) check(t *testing.T, method, path string, status int, body []byte) {
	t.Helper()
	if shape := shapeOf(method, path, status); shape != "" {
		d.valid(t, d.shapes, "file:///shapes#/definitions/"+shape, method+" "+path, body)
	}
	if d.paths == nil {
		return
	}
	template := d.template(path)
	operations, _ := d.paths[template].(map[string]any)
	operation, _ := operations[strings.ToLower(method)].(map[string]any)
	if operation == nil {
		return // not in the document
	}
	d.mu.Lock()
	d.reached[fmt.Sprintf("%s %s %d", method, template, status)] = true
	d.mu.Unlock()
	responses := operation["responses"].(map[string]any)
	pointer := "#/paths/" + strings.ReplaceAll(template, "/", "~1") + "/" + strings.ToLower(method) + "/responses/" + strconv.Itoa(status)
	response, ok := responses[strconv.Itoa(status)].(map[string]any)
	if !ok {
		pointer, response = "#/components/schemas/problem", nil // another error status
	}
	if ref, ok := response["$ref"].(string); ok {
		pointer, response = ref, map[string]any{"content": true}
	}
	if response != nil {
		pointer += "/content/application~1json/schema"
	}
	d.valid(t, d.compiler, "file:///document"+pointer, method+" "+path, body)
}

// shapeOf returns the own shape of a response, "" for an operation outside of OpenADR.
func shapeOf(method, path string, status int) string {
	parts := strings.Split(path, "/")
	switch {
	case status >= 400:
		return "problem"
	case len(parts) > 2:
		return "topics"
	case parts[0] == "auth":
		return parts[1]
	case parts[0] == "notifiers", method == "GET" && len(parts) == 1:
		return parts[0]
	}
	return strings.TrimSuffix(parts[0], "s")
}

func (d *document) checkNotification(t *testing.T, body []byte) {
	t.Helper()
	var c callback
	_ = json.Unmarshal(body, &c)
	object, err := json.Marshal(c.Object)
	must(t, err)
	for shape, value := range map[string][]byte{"notification": body, strings.ToLower(c.ObjectType): object} {
		d.valid(t, d.shapes, "file:///shapes#/definitions/"+shape, "notification", value)
		if d.compiler != nil {
			d.valid(t, d.compiler, "file:///document#/components/schemas/"+shape, "notification", value)
		}
	}
}

func (d *document) valid(t *testing.T, c *jsonschema.Compiler, pointer, what string, body []byte) {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	schema, err := c.Compile(pointer)
	must(t, err)
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		t.Errorf("%s: %v in %s", what, err, body)
		return
	}
	if err := schema.Validate(value); err != nil {
		t.Errorf("%s does not match %s: %v\n%s", what, pointer, err, body)
	}
}

// missing returns the statuses of the document that no response had.
func (d *document) missing() (list []string) {
	for path, operations := range d.paths {
		for method, operation := range operations.(map[string]any) {
			o, ok := operation.(map[string]any)
			if !ok || o["responses"] == nil {
				continue
			}
			for status := range o["responses"].(map[string]any) {
				if key := strings.ToUpper(method) + " " + path + " " + status; !d.reached[key] {
					list = append(list, key)
				}
			}
		}
	}
	slices.Sort(list)
	return list
}

// TestShapes_OtherTypes checks that the own shapes refuse objects of other types.
func TestShapes_OtherTypes(t *testing.T) {
	t.Parallel()
	d := openDocument(t)
	const object = `{"id":"x","createdDateTime":"2026-07-01T00:00:00Z","modificationDateTime":"2026-07-01T00:00:00Z","objectType":"PROGRAM","programName":"p"%s}`
	for _, c := range []struct {
		shape, body string
		right       bool
	}{
		{"program", fmt.Sprintf(object, ""), true},
		{"program", fmt.Sprintf(object, `,"programType":"x"`), false},
		{"program", fmt.Sprintf(object, `,"targets":[7]`), false},
		{"program", strings.Replace(fmt.Sprintf(object, ""), "2026-07-01T00:00:00Z", "yesterday", 1), false},
		{"program", strings.Replace(fmt.Sprintf(object, ""), "PROGRAM", "EVENT", 1), false},
		{"programs", "[" + fmt.Sprintf(object, "") + ",{}]", false},
		{"event", "{}", false}, {"report", "{}", false}, {"subscription", "{}", false}, {"ven", "{}", false}, {"resource", "{}", false},
		{"notification", "{}", false}, {"notifiers", `{"WEBHOOK":false}`, false}, {"topics", `{"topics":{}}`, false}, {"token", "{}", false}, {"server", "{}", false}, {"problem", "{}", false},
	} {
		schema, err := d.shapes.Compile("file:///shapes#/definitions/" + c.shape)
		must(t, err)
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(c.body))
		must(t, err)
		if err := schema.Validate(value); (err == nil) != c.right {
			t.Errorf("%s %s: %v, want it to be valid: %v", c.shape, c.body, err, c.right)
		}
	}
}
