package deployed

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
)

// schemas are the published schemas of Kubernetes and of operators.
type schemas struct {
	dirs     []string // with OpenAPI documents of Kubernetes and with CRDs
	compiler *jsonschema.Compiler
	byKind   map[string]string // apiVersion/kind -> the schema's address
}

// newSchemas reads OpenAPI documents (.json) and CRDs (.yaml) from folders. It allows no
// other fields, like "kubectl apply --validate=strict".
func newSchemas(t *testing.T, folders []string) *schemas {
	t.Helper()
	s := &schemas{dirs: folders, compiler: jsonschema.NewCompiler(), byKind: map[string]string{}}
	s.compiler.DefaultDraft(jsonschema.Draft4)
	for _, folder := range folders {
		for pattern, read := range map[string]func([]byte, string) error{"*_openapi.json": s.addOpenAPI, "*.yaml": s.addCRD} {
			files, err := filepath.Glob(filepath.Join(folder, pattern))
			must(t, err)
			for _, file := range files {
				text, err := os.ReadFile(file)
				must(t, err)
				if err := read(text, "file:///"+filepath.ToSlash(file)); err != nil {
					t.Fatalf("%s: %v", file, err)
				}
			}
		}
	}
	return s
}

func (s *schemas) addOpenAPI(text []byte, address string) error {
	var document map[string]any
	if err := json.Unmarshal(text, &document); err != nil {
		return err
	}
	components, _ := document["components"].(map[string]any)
	all, _ := components["schemas"].(map[string]any)
	for name, schema := range all {
		m, _ := schema.(map[string]any)
		kinds, _ := m["x-kubernetes-group-version-kind"].([]any)
		for _, k := range kinds {
			gvk, _ := k.(map[string]any)
			s.byKind[apiVersion(gvk["group"], gvk["version"])+"/"+fmt.Sprint(gvk["kind"])] = address + "#/components/schemas/" + name
		}
		close(m)
	}
	return s.compiler.AddResource(address, document)
}

func (s *schemas) addCRD(text []byte, address string) error {
	var crd struct {
		Kind string
		Spec struct {
			Group    string
			Names    struct{ Kind string }
			Versions []struct {
				Name   string
				Schema struct {
					OpenAPIV3Schema map[string]any `yaml:"openAPIV3Schema"`
				}
			}
		}
	}
	if err := yaml.Unmarshal(text, &crd); err != nil || crd.Kind != "CustomResourceDefinition" {
		return err
	}
	for _, v := range crd.Spec.Versions {
		schema, err := plain(v.Schema.OpenAPIV3Schema)
		if err != nil {
			return err
		}
		m, _ := schema.(map[string]any)
		if properties, ok := m["properties"].(map[string]any); ok {
			properties["metadata"] = map[string]any{"type": "object"}
		}
		close(m)
		at := address + "/" + v.Name
		s.byKind[apiVersion(crd.Spec.Group, v.Name)+"/"+crd.Spec.Names.Kind] = at
		if err := s.compiler.AddResource(at, m); err != nil {
			return err
		}
	}
	return nil
}

func apiVersion(group, version any) string {
	return strings.TrimPrefix(fmt.Sprint(group, "/", version), "/")
}

// plain returns a value as JSON decodes it.
func plain(v any) (any, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
}

// close allows only named properties, at every depth, unless a schema preserves others.
func close(schema any) {
	switch s := schema.(type) {
	case map[string]any:
		// Kubernetes' patterns have Go's syntax, and some are invalid in JSON Schema.
		// Formats are only notes.
		delete(s, "format")
		_, more := s["additionalProperties"]
		if s["properties"] != nil && !more && s["x-kubernetes-preserve-unknown-fields"] != true {
			if _, named := s["properties"].(map[string]any); named && s["type"] == "object" {
				s["additionalProperties"] = false
			}
		}
		for _, key := range slices.Collect(maps.Keys(s)) {
			close(s[key])
		}
	case []any:
		for _, v := range s {
			close(v)
		}
	}
}

// check returns the errors of a manifest.
func (s *schemas) check(manifest map[string]any) error {
	kind := fmt.Sprint(manifest["apiVersion"], "/", manifest["kind"])
	address := s.byKind[kind]
	if address == "" {
		return fmt.Errorf("there is no %s", kind)
	}
	schema, err := s.compiler.Compile(address)
	if err != nil {
		return err
	}
	value, err := plain(manifest)
	return errors.Join(err, schema.Validate(value))
}
