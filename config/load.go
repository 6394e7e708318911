package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/knadh/koanf/parsers/yaml"
	"github.com/knadh/koanf/providers/env/v2"
	"github.com/knadh/koanf/providers/file"
	"github.com/knadh/koanf/providers/posflag"
	"github.com/knadh/koanf/v2"
	"github.com/spf13/pflag"
)

// ConfigFlag names the YAML file to read.
const ConfigFlag = "config"

const envPrefix = "GRIDHOOK_"

// EnvName is the environment variable of a flag.
func EnvName(flag string) string { return envName(flag) }

func envName(flag string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// Loaded is a configuration that is right, and where each part came from.
type Loaded struct {
	Config Config
	values []value
}

// value is what was said of one setting.
type value struct {
	setting Setting
	text    string
	source  string
}

// layer is one place where settings are said.
type layer struct {
	ko     *koanf.Koanf
	source func(name string) string
}

// Load reads the configuration of a role: flags, over the environment (in the
// form of os.Environ), over the file that --config names, over the defaults. The
// flags must have been added by AddFlags. The file and the environment may hold
// settings of other roles, which are passed over, so that all can share them.
// The error is an *Error with every mistake.
func Load(role Role, flags *pflag.FlagSet, environ []string) (*Loaded, error) {
	l := loader{role: role}
	layers := l.layers(flags, environ)
	loaded := &Loaded{Config: Config{Role: role}}
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
		slices.SortStableFunc(l.mistakes, func(a, b Mistake) int { return place(a.Setting) - place(b.Setting) })
		return nil, &Error{l.mistakes}
	}
	return loaded, nil
}

// Meant is the role that flags and environment are meant for where the command
// line names none: API where they, or the file, name a NATS, and Serve otherwise.
func Meant(flags *pflag.FlagSet, environ []string) Role {
	l := loader{role: API}
	for _, said := range l.layers(flags, environ) {
		if said.ko.Exists("nats") {
			return API
		}
	}
	return Serve
}

type loader struct {
	role     Role
	mistakes []Mistake
	wrong    []string // settings whose text could not be read
}

func (l *loader) mistake(setting, source, format string, args ...any) {
	l.mistakes = append(l.mistakes, Mistake{setting, source, fmt.Sprintf(format, args...)})
}

// place is a setting's place in the table; what is no setting comes first.
func place(name string) int {
	return slices.IndexFunc(Settings(), func(s Setting) bool { return s.Name == name })
}

// layers are where settings are said, the strongest first.
func (l *loader) layers(flags *pflag.FlagSet, environ []string) []layer {
	fromFlags := layer{koanf.New("."), func(name string) string { return "flag --" + name }}
	asSaid := func(f *pflag.Flag) (string, any) { return f.Name, f.Value.String() }
	if err := fromFlags.ko.Load(posflag.ProviderWithFlag(flags, ".", nil, asSaid), nil); err != nil {
		l.mistake("flags", "command line", "cannot be read: %v", err)
	}
	fromEnv := layer{koanf.New("."), envName}
	if err := fromEnv.ko.Load(env.Provider("", env.Opt{
		Prefix: envPrefix, EnvironFunc: func() []string { return environ }, TransformFunc: envSetting,
	}), nil); err != nil {
		l.mistake("environment", envPrefix+"*", "cannot be read: %v", err)
	}
	layers := []layer{fromFlags, fromEnv}
	for _, said := range layers {
		if path := said.ko.String(ConfigFlag); path != "" {
			return append(layers, l.file(path, said.source(ConfigFlag)))
		}
	}
	return layers
}

// envSetting is the setting that a variable names. A variable that is set to
// nothing says nothing; one that is no setting may belong to somebody else.
func envSetting(variable, text string) (string, any) {
	if text == "" {
		return "", nil
	}
	return strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(variable, envPrefix), "_", "-")), text
}

func (l *loader) file(path, source string) layer {
	read := layer{koanf.New("."), func(name string) string { return path + ": " + name }}
	if err := read.ko.Load(file.Provider(path), yaml.Parser()); err != nil {
		l.mistake(ConfigFlag, source, "must name a YAML file: %s: %s", path, strings.ReplaceAll(cause(err), "\n", " "))
		return read
	}
	known := Settings()
	for _, key := range slices.Sorted(maps.Keys(read.ko.Raw())) {
		if !slices.ContainsFunc(known, func(s Setting) bool { return s.Name == key }) {
			l.mistake(key, path, "is no setting%s", nearest(key, known))
		}
	}
	return read
}

// find is what the strongest layer says of a setting.
func (l *loader) find(s Setting, layers []layer) value {
	for _, said := range layers {
		raw := said.ko.Get(s.Name)
		if raw == nil {
			continue
		}
		v := value{s, fmt.Sprint(raw), said.source(s.Name)}
		switch raw.(type) {
		case string, bool, int, int64, uint64, float64:
			return v
		}
		if s.TakenBy(l.role) {
			l.mistake(s.Name, v.source, "must be a single value")
			l.wrong = append(l.wrong, s.Name)
		}
		break
	}
	return value{s, s.Default, defaultSource}
}

func (l *loader) set(c *Config, v value) {
	if err := parse(v.setting.field(c), v.text); err != nil {
		l.mistake(v.setting.Name, v.source, "%s, not %q", err, v.shown())
		l.wrong = append(l.wrong, v.setting.Name)
	}
}

// check looks at each value that could be read, beside the others.
func (l *loader) check(c *Config, values []value) {
	for _, v := range values {
		s := v.setting
		switch {
		case slices.Contains(l.wrong, s.Name):
		case v.text == "" && slices.Contains(s.Required, l.role):
			l.mistake(s.Name, "not set", "is required by gridhook %s: give --%s or %s", l.role, s.Name, s.Env())
		case s.check != nil:
			if right := s.check(c); right != "" {
				l.mistake(s.Name, v.source, "%s, not %q", right, v.shown())
			}
		}
	}
}

// shown is the value as it may be printed.
func (v *value) shown() string {
	if v.setting.shown != nil && v.text != "" {
		return v.setting.shown(v.text)
	}
	return v.text
}
