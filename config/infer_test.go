package config

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/pflag"
)

func TestSettings_Roles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "c.yaml")
	if err := os.WriteFile(file, []byte("nats: nats://h:1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		args, environ []string
		want          Role
	}{
		{nil, nil, Serve},
		{[]string{"--slices", "3"}, []string{"GRIDHOOK_HTTP=:1"}, Serve},
		{[]string{"--nats", "nats://h:1"}, nil, API},
		{nil, []string{"GRIDHOOK_NATS=nats://h:1"}, API},
		{[]string{"--config", file}, nil, API},
		{[]string{"--nats", ""}, []string{"GRIDHOOK_NATS=nats://h:1"}, Serve},
		{[]string{"--nats", "", "--config", file}, nil, Serve},
	} {
		flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
		AddFlags(flags, Roles()...)
		if err := flags.Parse(test.args); err != nil {
			t.Fatal(err)
		}
		if got := InferRole(flags, test.environ); got != test.want {
			t.Errorf("%v %v belong to %s, want %s", test.args, test.environ, got, test.want)
		}
	}
}
