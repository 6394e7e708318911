package config

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/knadh/koanf/parsers/yaml"
)

// WriteYAML writes the settings that are in effect as a file for --config, each
// with where it came from. Secrets are masked: a file with them will not do.
func (l *Loaded) WriteYAML(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# The settings of gridhook %s.\n", l.Config.Role)
	for _, v := range l.values {
		line, err := yaml.Parser().Marshal(map[string]any{v.setting.Name: v.typed()})
		if err != nil {
			return fmt.Errorf("print %s: %w", v.setting.Name, err)
		}
		fmt.Fprintf(&b, "%s # %s\n", strings.TrimSuffix(string(line), "\n"), v.origin())
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Source is where a setting's value came from, such as "flag --http", "default"
// where nobody said it.
func (l *Loaded) Source(setting string) string {
	for _, v := range l.values {
		if v.setting.Name == setting {
			return v.source
		}
	}
	return defaultSource
}

const defaultSource = "default"

// typed is the value as YAML has it: numbers and booleans are not quoted.
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
	return v.shown()
}

func (v *value) origin() string {
	if v.setting.secret && v.text != "" {
		return v.source + ", secret"
	}
	return v.source
}
