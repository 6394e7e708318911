package config

import (
	"slices"

	"github.com/spf13/pflag"
)

// AddFlags adds the flags of the settings that one of the roles takes, and
// --config.
func AddFlags(flags *pflag.FlagSet, roles ...Role) {
	flags.String(ConfigFlag, "", "a YAML `file` of settings, weaker than flags and environment")
	for _, s := range Settings() {
		if !slices.ContainsFunc(roles, s.TakenBy) {
			continue
		}
		f := flags.VarPF(&flagText{s.Default, s.Kind()}, s.Name, "", s.Help)
		if s.Kind() == "bool" {
			f.NoOptDefVal = "true"
		}
	}
}

// flagText is a flag whose value is read later, beside those from elsewhere.
type flagText struct{ text, kind string }

func (t *flagText) String() string     { return t.text }
func (t *flagText) Set(s string) error { t.text = s; return nil }
func (t *flagText) Type() string       { return t.kind }
