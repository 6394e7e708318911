package deployed

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/gridhook/gridhook/config"
)

// deploy is the folder of the files for operators.
const deploy = "../../../deploy"

// notSettings are variables of commands, not of processes.
var notSettings = map[string]bool{"GRIDHOOK_CONFIG": true, "GRIDHOOK_ADMIN_URL": true}

var variable = regexp.MustCompile(`\bGRIDHOOK_[A-Z_]*[A-Z]\b`)

// TestSettings_Read checks that Gridhook reads every variable in these files.
func TestSettings_Read(t *testing.T) {
	known := map[string]bool{}
	for _, s := range config.Settings() {
		known[config.EnvName(s.Name)] = true
	}
	found := 0
	err := filepath.WalkDir(deploy, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) == ".go" {
			return err
		}
		text, err := os.ReadFile(path)
		for _, name := range variable.FindAllString(string(text), -1) {
			found++
			if !known[name] && !notSettings[name] {
				t.Errorf("%s: %s is not a setting", path, name)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if found == 0 {
		t.Error("no file sets a variable")
	}
}

// TestChart_Files checks that the rules and the dashboard of the chart equal the files
// in deploy. Helm reads no files outside a chart, and not every packager follows links.
func TestChart_Files(t *testing.T) {
	for copied, original := range map[string]string{
		"alerts.yml":     "prometheus/rules/alerts.yml",
		"recording.yml":  "prometheus/rules/recording.yml",
		"dashboard.json": "grafana/dashboards/gridhook.json",
	} {
		want, err := os.ReadFile(filepath.Join(deploy, original))
		if err != nil {
			t.Fatal(err)
		}
		copied = filepath.Join(deploy, "helm/gridhook/files", copied)
		if have, err := os.ReadFile(copied); err != nil || string(have) != string(want) {
			t.Errorf("%s differs from %s (%v): copy it there", copied, original, err)
		}
	}
}

// TestCompose_Files checks that every file that the compose file mounts exists.
func TestCompose_Files(t *testing.T) {
	var compose struct {
		Services map[string]struct{ Volumes []string }
		Configs  map[string]struct{ File string }
	}
	decode(t, filepath.Join(deploy, "docker-compose.yml"), &compose)
	mounted := 0
	exists := func(path string) {
		mounted++
		if _, err := os.Stat(filepath.Join(deploy, path)); err != nil {
			t.Error(err)
		}
	}
	for _, s := range compose.Services {
		for _, v := range s.Volumes {
			if from, _, ok := strings.Cut(v, ":"); ok && strings.HasPrefix(from, ".") {
				exists(from)
			}
		}
	}
	for _, c := range compose.Configs {
		exists(c.File)
	}
	if mounted == 0 {
		t.Error("no file is mounted")
	}
}

func decode(t *testing.T, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}
