package config

import (
	"fmt"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"pgregory.net/rapid"
)

func TestSettings_Independent(t *testing.T) {
	var c Config
	names, variables, fields := map[string]bool{}, map[string]bool{}, map[any]string{}
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
			t.Errorf("%s has no help, or no role", s.Name)
		}
		_ = s.check(&Config{}) // it panics if a limit is not a value of the setting
		if strings.Contains(s.Help, "{") {
			t.Errorf("the help of %s has a placeholder left: %s", s.Name, s.Help)
		}
		if variables[EnvName(s.Name)] {
			t.Errorf("%s is the variable of two settings", EnvName(s.Name))
		}
		variables[EnvName(s.Name)] = true
	}
}

func TestFlags_Role(t *testing.T) {
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

func TestSettings_Prefixes(t *testing.T) {
	for text, want := range map[string]string{
		"": "[]", "10.0.0.0/8": "[10.0.0.0/8]", "192.0.2.1, 2001:db8::/32": "[192.0.2.1/32 2001:db8::/32]",
		"10.0.0.1/8": "refused", "10.0.0.0/33": "refused", "proxy.example": "refused", "::ffff:10.0.0.0/104": "refused", "fe80::1%eth0": "refused",
	} {
		var p Prefixes
		got := "refused"
		if p.UnmarshalText([]byte(text)) == nil {
			got = fmt.Sprint(p)
		}
		if got != want {
			t.Errorf("%q is read as %s, want %s", text, got, want)
		}
	}
}

func TestSize(t *testing.T) {
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

func TestSize_Rounded(t *testing.T) {
	for size, want := range map[Size]string{
		0: "0", 1023: "1023", 1 << 10: "1KiB", 1536: "1.5KiB", 8 << 20: "8MiB", 7636510755: "7.1GiB", 60 << 30: "60GiB", 81_455_892_480: "75.9GiB",
	} {
		if got := size.Rounded(); got != want {
			t.Errorf("%d is %s, want %s", size, got, want)
		}
	}
}

func TestSize_RoundTrip(t *testing.T) {
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

func TestDestinations(t *testing.T) {
	for text, want := range map[string]string{
		"":                         "{[] []}",
		"10.1.0.0/16, 192.0.2.7":   "{[10.1.0.0/16 192.0.2.7/32] []}",
		"Receiver.internal":        "{[] [receiver.internal:443 receiver.internal:8443]}",
		"receiver.internal:9443":   "{[] [receiver.internal:9443]}",
		"127.0.0.1:9443":           "{[] [127.0.0.1:9443]}",
		"[::1]:9443":               "{[] [[::1]:9443]}",
		"https://receiver/":        "refused",
		"receiver.internal:0":      "refused",
		"receiver.internal:x":      "refused",
		"10.1.0.0/40":              "refused",
		"*.internal":               "refused",
		"receiver.internal:70000,": "refused",
	} {
		var d Destinations
		got := "refused"
		if d.UnmarshalText([]byte(text)) == nil {
			got = fmt.Sprint(d)
		}
		if got != want {
			t.Errorf("%q is read as %s, want %s", text, got, want)
		}
	}
}

func TestProxyURLs(t *testing.T) {
	for text, ok := range map[string]bool{
		"": true, "http://proxy:3128": true, "https://u:p@proxy.example/": true, "socks5://proxy:1": false, "proxy:3128": false, "http://": false, "http://proxy/path": false,
	} {
		var p ProxyURL
		if err := p.UnmarshalText([]byte(text)); (err == nil) != ok || ok && (p.URL != nil) != (text != "") {
			t.Errorf("%q: %v, %v", text, p.URL, err)
		}
	}
}
