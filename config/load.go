package config

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"
)

// ConfigFlag names the YAML file to read.
const ConfigFlag = "config"

// EnvName returns the environment variable of a flag.
func EnvName(flag string) string {
	return "GRIDHOOK_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// Loaded is a valid configuration with the source of each value.
type Loaded struct {
	Config Config
	values []value
}

// value is the text of one setting with its source.
type value struct {
	setting Setting
	text    string
	source  string
}

// layer is one source of settings, with their texts by name.
type layer struct {
	texts  map[string]string
	source func(name string) string
}

// Load reads the configuration of a role. Flags override the environment (in the form of
// os.Environ). The environment overrides the file that --config names, and the file
// overrides the defaults. AddFlags must have added the flags.
//
// Load ignores settings of other roles in the file and in the environment, so that all
// processes can share them. Errors: an *Error with every mistake.
func Load(role Role, flags *pflag.FlagSet, environ []string) (*Loaded, error) {
	l := loader{role: role}
	layers := l.layers(flags, environ)
	loaded := &Loaded{Config: Config{Role: role, Warnings: misspelled(environ)}}
	for _, s := range Settings() {
		v := l.find(s, layers)
		if s.TakenBy(role) {
			loaded.values = append(loaded.values, v)
		} else {
			v = value{setting: s, text: s.Default, source: defaultSource}
		}
		l.set(&loaded.Config, v)
	}
	l.check(&loaded.Config, loaded.values)
	if len(l.mistakes) > 0 {
		slices.SortStableFunc(l.mistakes, func(a, b Mistake) int {
			return cmp.Or(place(a.Setting)-place(b.Setting), strings.Compare(a.Setting, b.Setting))
		})
		return nil, &Error{l.mistakes}
	}
	return loaded, nil
}

// InferRole returns the role to use if the command line names none. The role is API if the
// flags, the environment or the file name a NATS server, and Serve otherwise. An empty flag
// has precedence too.
func InferRole(flags *pflag.FlagSet, environ []string) Role {
	l := loader{role: API}
	if nats := l.find(Settings()[place("nats")], l.layers(flags, environ)); nats.text != "" {
		return API
	}
	return Serve
}

type loader struct {
	role     Role
	mistakes []Mistake
}

func (l *loader) mistake(setting, source, format string, args ...any) {
	l.mistakes = append(l.mistakes, Mistake{setting, source, fmt.Sprintf(format, args...)})
}

// place returns a setting's index in the table, -1 for an unknown name. Mistakes of
// unknown keys therefore sort first.
func place(name string) int {
	return slices.IndexFunc(Settings(), func(s Setting) bool { return s.Name == name })
}

// layers returns the sources of settings, in descending order of precedence.
func (l *loader) layers(flags *pflag.FlagSet, environ []string) []layer {
	layers := []layer{flagLayer(flags), envLayer(environ)}
	for _, from := range layers {
		if path := from.texts[ConfigFlag]; path != "" {
			return append(layers, l.fileLayer(path, from.source(ConfigFlag)))
		}
	}
	return layers
}

// flagLayer returns the flags that the command line sets.
func flagLayer(flags *pflag.FlagSet) layer {
	texts := map[string]string{}
	flags.Visit(func(f *pflag.Flag) { texts[f.Name] = f.Value.String() })
	return layer{texts, func(name string) string { return "flag --" + name }}
}

// envLayer returns the environment variables that are not empty.
func envLayer(environ []string) layer {
	texts := map[string]string{}
	for name, text := range variables(environ) {
		if text != "" {
			texts[name] = text
		}
	}
	return layer{texts, EnvName}
}

// variables returns Gridhook's environment variables by the name of their flag.
func variables(environ []string) map[string]string {
	texts := map[string]string{}
	for _, variable := range environ {
		name, text, _ := strings.Cut(variable, "=")
		if flag, ours := strings.CutPrefix(name, EnvName("")); ours {
			texts[strings.ToLower(strings.ReplaceAll(flag, "_", "-"))] = text
		}
	}
	return texts
}

// misspelled returns a warning for each environment variable that is similar to a setting.
// Kubernetes makes variables such as GRIDHOOK_NATS_PORT for its services.
func misspelled(environ []string) (warnings []string) {
	for name := range variables(environ) {
		if place(name) >= 0 || name == ConfigFlag || strings.Contains(name, "-port") || strings.Contains(name, "-service-") {
			continue
		}
		if hint := nearest(name); hint != "" {
			warnings = append(warnings, "the environment variable "+EnvName(name)+" is not a setting"+hint)
		}
	}
	slices.Sort(warnings)
	return warnings
}

// fileLayer returns the keys of a YAML file.
func (l *loader) fileLayer(path, source string) layer {
	from := layer{map[string]string{}, func(name string) string { return path + ": " + name }}
	var keys map[string]yaml.Node
	text, err := os.ReadFile(path) //nolint:gosec // the operator names the file
	if err == nil {
		err = yaml.Unmarshal(text, &keys)
	}
	if err != nil {
		l.mistake(ConfigFlag, source, "must name a YAML file: %s: %s", path, strings.ReplaceAll(cause(err), "\n", " "))
	}
	for key, node := range keys {
		if node.Kind == yaml.AliasNode {
			node = *node.Alias
		}
		switch at := place(key); {
		case at < 0:
			l.mistake(key, path, "is not a setting%s", nearest(key))
		case node.Kind == yaml.ScalarNode && node.ShortTag() != "!!null":
			from.texts[key] = node.Value
		case node.Kind != yaml.ScalarNode && Settings()[at].TakenBy(l.role):
			l.mistake(key, from.source(key), "must be a single value")
		}
	}
	return from
}

// find returns a setting's value from the first layer that has one, or its default.
func (l *loader) find(s Setting, layers []layer) value {
	for _, from := range layers {
		if text, given := from.texts[s.Name]; given {
			return value{s, text, from.source(s.Name)}
		}
	}
	return value{s, s.Default, defaultSource}
}

func (l *loader) set(c *Config, v value) {
	if err := parse(v.setting.field(c), v.text); err != nil {
		l.mistake(v.setting.Name, v.source, "%s, not %q", err, v.setting.shown(v.text))
	}
}

// check validates each value that could be parsed, together with the others.
func (l *loader) check(c *Config, values []value) {
	for _, v := range values {
		s := v.setting
		switch {
		case slices.ContainsFunc(l.mistakes, func(m Mistake) bool { return m.Setting == s.Name }): // its text cannot be parsed
		case v.text == "" && slices.Contains(s.Required, l.role):
			l.mistake(s.Name, "not set", "is required by gridhook %s: give --%s or %s", l.role, s.Name, EnvName(s.Name))
		default:
			if right := s.check(c); right != "" {
				l.mistake(s.Name, v.source, "%s, not %q", right, v.setting.shown(v.text))
			}
		}
	}
}

// Default returns the configuration of a role with only defaults. It panics if a default
// does not parse.
func Default(role Role) Config {
	c := Config{Role: role}
	for _, s := range Settings() {
		if err := parse(s.field(&c), s.Default); err != nil {
			panic(fmt.Sprintf("config: default of %s: %v", s.Name, err)) // the tests see it first
		}
	}
	return c
}
