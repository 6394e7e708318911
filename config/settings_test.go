package config

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"pgregory.net/rapid"
)

func TestEachSettingStandsForItself(t *testing.T) {
	var c Config
	names, fields := map[string]bool{}, map[any]string{}
	for _, s := range Settings() {
		if names[s.Name] {
			t.Errorf("there are two settings %s", s.Name)
		}
		names[s.Name] = true
		field := s.field(&c)
		if other, ok := fields[field]; ok {
			t.Errorf("%s and %s set the same field", s.Name, other)
		}
		fields[field] = s.Name
		if _, text := field.(*string); !text || s.Default != "" {
			if err := parse(field, s.Default); err != nil {
				t.Errorf("the default of %s, %q, %v", s.Name, s.Default, err)
			}
		}
		if s.Help == "" || len(s.Roles) == 0 || strings.HasSuffix(s.Help, ".") {
			t.Errorf("%s has no help that can be listed, or no role", s.Name)
		}
		if s.secret != (s.shown != nil) {
			t.Errorf("%s must be secret and masked, or neither", s.Name)
		}
		if back, _ := envSetting(s.Env(), "x"); back != s.Name {
			t.Errorf("%s names %s, not %s", s.Env(), back, s.Name)
		}
	}
}

func TestFlagsAreThoseOfTheRole(t *testing.T) {
	for _, role := range Roles() {
		flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
		AddFlags(flags, role)
		for _, s := range Settings() {
			if got := flags.Lookup(s.Name) != nil; got != s.TakenBy(role) {
				t.Errorf("gridhook %s has --%s: %t, want %t", role, s.Name, got, s.TakenBy(role))
			}
		}
	}
}

func TestSizes(t *testing.T) {
	tests := []struct {
		text string
		want Size
		ok   bool
	}{
		{"0", 0, true},
		{"1", 1, true},
		{"1B", 1, true},
		{"1KiB", 1024, true},
		{"1 MiB", 1 << 20, true},
		{"3GiB", 3 << 30, true},
		{"2TiB", 2 << 40, true},
		{"", 0, false},
		{"MiB", 0, false},
		{"1MB", 0, false},
		{"1.5MiB", 0, false},
		{"-1", 0, false},
		{"9223372036854775807", 1<<63 - 1, true},
		{"9223372036854775807KiB", 0, false},
	}
	for _, test := range tests {
		var got Size
		err := got.UnmarshalText([]byte(test.text))
		if (err == nil) != test.ok || got != test.want {
			t.Errorf("%q is %d, %v; want %d, right: %t", test.text, got, err, test.want, test.ok)
		}
	}
}

func TestSizesReadWhatTheyWrite(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := Size(rapid.Int64Min(0).Draw(t, "bytes"))
		var got Size
		if err := got.UnmarshalText([]byte(want.String())); err != nil || got != want {
			t.Fatalf("%d is written %q and read %d, %v", int64(want), want, int64(got), err)
		}
	})
}

func TestDistance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[a-d]{0,6}`)
		a, b, c := word.Draw(t, "a"), word.Draw(t, "b"), word.Draw(t, "c")
		switch ab, ba := distance(a, b), distance(b, a); {
		case (ab == 0) != (a == b):
			t.Fatalf("distance(%q, %q) is %d", a, b, ab)
		case ab != ba:
			t.Fatalf("distance(%q, %q) is %d one way and %d the other", a, b, ab, ba)
		case ab > distance(a, c)+distance(c, b):
			t.Fatalf("by %q it is shorter from %q to %q than %d", c, a, b, ab)
		}
	})
}
