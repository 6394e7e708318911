package config

import (
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
)

// WriteYAML writes the effective settings as a file for --config, each with its source.
// Secrets are masked, so a file with secrets cannot be used as it is.
func (l *Loaded) WriteYAML(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# The settings of gridhook %s.\n", l.Config.Role)
	for _, v := range l.values {
		line, err := yaml.Marshal(map[string]any{v.setting.Name: v.node()})
		if err != nil {
			return fmt.Errorf("print %s: %w", v.setting.Name, err)
		}
		fmt.Fprintf(&b, "%s # %s\n", strings.TrimSuffix(string(line), "\n"), v.origin())
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Source returns the source of a setting's value, such as "flag --http". A default has
// the source "default".
func (l *Loaded) Source(setting string) string {
	for _, v := range l.values {
		if v.setting.Name == setting {
			return v.source
		}
	}
	return defaultSource
}

// FlagSecrets returns the settings with a secret on the command line. A URL without user data
// counts as none.
func (l *Loaded) FlagSecrets() (settings []string) {
	for _, v := range l.values {
		if v.setting.secret() && strings.HasPrefix(v.source, "flag ") && (strings.Contains(v.text, "@") || v.text != "" && !strings.Contains(v.text, "://")) {
			settings = append(settings, v.setting.Name)
		}
	}
	return settings
}

const defaultSource = "default"

// node returns the value as YAML. Only a text is quoted where it looks like another type.
func (v *value) node() *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Value: v.setting.shown(v.text)}
	if v.setting.Kind() == "text" {
		n.Tag = "!!str"
	}
	return n
}

func (v *value) origin() string {
	if v.setting.secret() && v.text != "" {
		return v.source + ", secret"
	}
	return v.source
}
