package app

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/gridhook/gridhook/config"
	"github.com/gridhook/gridhook/events/jetstream"
)

// TestLimits_InRetentions checks that the table of retentions names the setting of each
// limit, and no setting that does not exist.
func TestLimits_InRetentions(t *testing.T) {
	a := &App{Options: Options{Config: config.Default(config.Serve)}}
	for _, l := range a.limits() {
		named := slices.ContainsFunc(jetstream.Retentions, func(r jetstream.Retention) bool {
			return slices.Contains(r.Kinds, l.Kind) && strings.Contains(r.Bound, l.Setting)
		})
		if !named {
			t.Errorf("no row names the limit %q of %s", l.Setting, l.Kind)
		}
	}
	settings := pflag.NewFlagSet("", pflag.ContinueOnError)
	config.AddFlags(settings, config.Serve)
	for _, r := range jetstream.Retentions {
		for _, name := range regexp.MustCompile("`([a-z]+-[a-z-]+)`").FindAllStringSubmatch(r.Bound+r.Removed, -1) {
			if settings.Lookup(name[1]) == nil {
				t.Errorf("%s: there is no setting %q", r.Records, name[1])
			}
		}
	}
}
