package config

import (
	"slices"

	"github.com/spf13/pflag"
)

// AddFlags adds the flags of the settings that at least one of the roles takes, and
// --config.
func AddFlags(flags *pflag.FlagSet, roles ...Role) {
	flags.String(ConfigFlag, "", "YAML `file` with settings; flags and environment variables have precedence")
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

// flagText is a flag that stores its text. Load parses the text together with the other
// sources.
type flagText struct{ text, kind string }

func (t *flagText) String() string     { return t.text }
func (t *flagText) Set(s string) error { t.text = s; return nil }
func (t *flagText) Type() string       { return t.kind }
