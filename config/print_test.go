package config_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/gridhook/gridhook/config"
)

func yaml(t *testing.T, l *config.Loaded) string {
	t.Helper()
	var b strings.Builder
	if err := l.WriteYAML(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestPrint_SourcesAndSecrets(t *testing.T) {
	loaded, err := load(t, config.API,
		[]string{"--nats", "nats://u:hunter2@a:1,nats://hunter2@b:1", "--trace-endpoint", "https://hunter2:@c/otlp?key=hunter2", "--rate-burst", "9"},
		[]string{"GRIDHOOK_OPERATOR_KEY=hunter2hunter2hunter2"}, "http: ':1'\n")
	if err != nil {
		t.Fatal(err)
	}
	got := yaml(t, loaded)
	for _, want := range []string{
		"# The settings of gridhook api.\n",
		"data: ./gridhook-data # default\n",
		"gridhook.yaml: http\n",
		"operator-key: '********' # GRIDHOOK_OPERATOR_KEY, secret\n",
		"nats: nats://xxxxx@a:1,nats://xxxxx@b:1 # flag --nats, secret\n",
		"trace-endpoint: https://xxxxx@c/otlp?xxxxx # flag --trace-endpoint, secret\n",
		"rate-burst: 9 # flag --rate-burst\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("it lacks %q:\n%s", want, got)
		}
	}
	for _, no := range []string{"hunter2", "slices", "max-store"} {
		if strings.Contains(got, no) {
			t.Errorf("it has %q:\n%s", no, got)
		}
	}
}

// The printed configuration, loaded again, is the same. Without secrets the output is a
// file for --config.
func TestPrint_RoundTrip(t *testing.T) {
	args := []string{"--data", "a #folder: x", "--rate-limit", "0.5", "--max-store", "3GiB", "--max-body", "4096", "--allow-private-destinations", "--log-level", "warn"}
	loaded, err := load(t, config.Serve, args, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	if again := mustLoad(t, config.Serve, nil, nil, yaml(t, loaded)); !reflect.DeepEqual(again, loaded.Config) {
		t.Errorf("the loaded configuration is %+v, not %+v", again, loaded.Config)
	}
}
