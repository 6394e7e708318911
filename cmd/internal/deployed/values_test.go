package deployed

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
)

// TestValues_Schema checks that the chart's schema accepts the shipped values, and
// refuses values that would render something invalid.
func TestValues_Schema(t *testing.T) {
	chart := filepath.Join(deploy, "helm/gridhook")
	schema, err := jsonschema.NewCompiler().Compile(filepath.Join(chart, "values.schema.json"))
	must(t, err)
	validate := func(text string) error {
		var values any
		must(t, yaml.Unmarshal([]byte(text), &values))
		value, err := plain(values)
		must(t, err)
		return schema.Validate(value)
	}
	for _, file := range []string{"values.yaml", "ci/full-values.yaml"} {
		text, err := os.ReadFile(filepath.Join(chart, file))
		must(t, err)
		if err := validate(string(text)); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
	for text, wrong := range map[string]string{
		"nats: {replicas: two}":                      "/nats/replicas",
		"nats: {replicas: 2}":                        "/nats/replicas",
		"nats: {url: 10.0.0.5}":                      "/nats/url",
		"image: {digest: latest}":                    "/image/digest",
		"worker: {replicas: -1}":                     "/worker/replicas",
		"worker: {drainTimeout: 30}":                 "/worker/drainTimeout",
		"worker: {autoscaling: {targetUse: 75}}":     "/worker/autoscaling/targetUse",
		"api: {service: {type: Balancer}}":           "/api/service/type",
		"extraEnv: [{valueFrom: {secretKeyRef: x}}]": "/extraEnv/0",
		"startupSeconds: 15m":                        "/startupSeconds",
		"wroker: {replicas: 1}":                      "additional properties 'wroker' not allowed",
		"env: {GRIDHOOK_SLICES: [1]}":                "/env/GRIDHOOK_SLICES",
	} {
		if err := validate(text); err == nil || !strings.Contains(err.Error(), wrong) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
