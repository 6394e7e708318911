package config

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// WriteYAML writes the effective settings as a file for --config, each with its source.
// Secrets are masked, so a file with secrets cannot be used as it is.
func (l *Loaded) WriteYAML(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# The settings of gridhook %s.\n", l.Config.Role)
	for _, v := range l.values {
		line, err := yaml.Marshal(map[string]any{v.setting.Name: v.typed()})
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

const defaultSource = "default"

// typed returns the value in its YAML type: numbers and booleans are not quoted.
func (v *value) typed() any {
	var c Config
	switch field := v.setting.field(&c).(type) {
	case *bool, *int, *float64:
		if parse(field, v.text) == nil {
			return field
		}
	case *Size:
		if parse(field, v.text) == nil && v.text == strconv.FormatInt(int64(*field), 10) {
			return int64(*field)
		}
	}
	return v.setting.shown(v.text)
}

func (v *value) origin() string {
	if v.setting.secret() && v.text != "" {
		return v.source + ", secret"
	}
	return v.source
}
