package openapi

import (
	"encoding/json"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

func TestSentence(t *testing.T) {
	for _, c := range []struct{ name, shown, comment, want string }{
		{"SizeKw", "sizeKw", "SizeKw is the size\n in kW.", "The size in kW."},
		{"EventTypes", "eventTypes", "EventTypes are the events sent.", "The events sent."},
		{"Scopes", "scopes", "Scopes are by default all.", "scopes are by default all."},
		{"Step", "step", "Step counts steps.", "step counts steps."},
		{"Start", "start", "Start and End are given together.", "Start and End are given together."},
		{"Endpoint", "Endpoint", "Endpoint is where webhooks go.", "Where webhooks go."},
		{"key", "key", "says who\n", "Says who"},
		{"key", "key", "", ""},
	} {
		if got := sentence(c.name, c.shown, c.comment); got != c.want {
			t.Errorf("%q became %q, want %q", c.comment, got, c.want)
		}
	}
}

func TestFilesAgree(t *testing.T) {
	files, err := Files(filepath.Join("..", "..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string][]byte{}
	for _, f := range files {
		byName[f.Name] = f.Data
	}
	for _, audience := range Audiences() {
		var fromJSON, fromYAML map[string]any
		if err := json.Unmarshal(byName[string(audience)+"/openapi.json"], &fromJSON); err != nil {
			t.Fatal(err)
		}
		if err := yaml.Unmarshal(byName[string(audience)+"/openapi.yaml"], &fromYAML); err != nil {
			t.Fatal(err)
		}
		again, err := json.Marshal(fromYAML)
		if err != nil {
			t.Fatal(err)
		}
		fromYAML = nil
		if err := json.Unmarshal(again, &fromYAML); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(fromJSON, fromYAML) {
			t.Errorf("the %s's JSON and YAML say different things", audience)
		}
		page := string(byName[string(audience)+"/index.html"])
		for path := range fromJSON["paths"].(map[string]any) {
			if !strings.Contains(page, path+"</code>") {
				t.Errorf("the %s's page lacks %s", audience, path)
			}
		}
	}
}
