package promise

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gridhook/gridhook/cmd/internal/blackbox"
	"github.com/gridhook/gridhook/cmd/internal/blackbox/blackboxtest"
)

// oldBinaryEnv names the variable with the path of an earlier version of Gridhook.
const oldBinaryEnv = "GRIDHOOK_OLD_BINARY"

// fleet is the processes of the chart with its default values, on one NATS.
type fleet struct {
	t         *testing.T
	nats      string
	chart     chart
	processes []*process
}

// newFleet renders the chart and starts its processes.
func newFleet(t *testing.T, binary string) *fleet {
	t.Helper()
	f := &fleet{t: t, nats: nats(t)}
	// A worker that stops cuts off its requests in flight, because the receiver holds them.
	f.chart = renderChart(t, "nats.url="+f.nats, "nats.replicas=1", "worker.drainTimeout=1s")
	for i := range f.chart.pods {
		f.processes = append(f.processes, f.chart.pods[i].start(t, binary, t.TempDir()))
	}
	f.api().command(f.chart.test...)
	return f
}

// roll replaces one process after another with another version, in the order of the chart:
// a new process, with a data folder of its own, is ready before an old one stops.
func (f *fleet) roll(binary string) {
	f.t.Helper()
	for i, old := range f.processes {
		f.processes[i] = f.chart.pods[i].start(f.t, binary, f.t.TempDir())
		old.stop()
	}
	f.api().command(f.chart.test...)
}

// api returns one of the apis.
func (f *fleet) api() *process { return f.processes[len(f.processes)-1] }

// readable is every record that commands show, by command.
func (f *fleet) readable() map[string][]any {
	f.t.Helper()
	shown := map[string][]any{}
	for _, args := range []string{
		"org export " + organization, "org get " + organization + " --json", "key list --org " + organization + " --json",
		"schedule list --org " + organization + " --json", "endpoint list --org " + organization + " --json", "plan list --json",
	} {
		decoder := json.NewDecoder(strings.NewReader(f.api().command(strings.Fields(args)...)))
		for decoder.More() {
			var v any
			if err := decoder.Decode(&v); err != nil {
				f.t.Fatalf("%s: %v", args, err)
			}
			shown[args] = append(shown[args], v)
		}
	}
	return shown
}

// changing are the fields that a delivery changes.
var changing = map[string]bool{"lastUsed": true, "lastUsedAt": true, "health": true}

// has reports whether a value has everything of an older one. A newer version may add
// fields.
func has(value, old any) bool {
	switch old := old.(type) {
	case map[string]any:
		value, ok := value.(map[string]any)
		for name, field := range old {
			ok = ok && (changing[name] || has(value[name], field))
		}
		return ok
	case []any:
		value, ok := value.([]any)
		if !ok || len(value) != len(old) {
			return false
		}
		for i := range old {
			if !has(value[i], old[i]) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(value, old)
}

// sameRecords checks that a version shows the records that another version showed. A newer
// version may export more kinds of records.
func (f *fleet) sameRecords(before map[string][]any) {
	f.t.Helper()
	after := f.readable()
	for command, records := range before {
		shown := after[command]
		if len(shown) != len(records) && !strings.HasPrefix(command, "org export") {
			f.t.Errorf("gridhook %s shows %d records, want %d", command, len(shown), len(records))
			continue
		}
		for _, want := range records {
			i := slices.IndexFunc(shown, func(v any) bool { return has(v, want) })
			if i < 0 {
				f.t.Errorf("gridhook %s shows\n%v\nwithout\n%v", command, shown, want)
				break
			}
			shown = shown[i+1:]
		}
	}
}

// An operator renders the chart and runs its processes. Today's version takes over from an
// earlier version by a rolling restart while a trigger runs, with waiting retries. Then the earlier version takes over again, unless the schema
// has changed. Every home is delivered, and every record is readable.
func TestUpgrade_RollingThereAndBack(t *testing.T) {
	earlier := os.Getenv(oldBinaryEnv)
	if earlier == "" || os.Getenv(helmEnv) == "" {
		t.Skip(oldBinaryEnv + " or " + helmEnv + " is not set: run .ci/upgrade")
	}
	const homes = 400
	f := newFleet(t, earlier)
	acme := furnish(t, f.api(), homes)
	f.importRecords()
	r := newReceiver(t)
	r.answer = flaky
	acme.register(r, map[string]any{"initialSeconds": 1, "multiplier": 2, "maxSeconds": 2, "giveUpSeconds": 600})
	before := f.readable()

	f.during(acme, r, homes, binaries.Gridhook)
	f.sameRecords(before)
	if !f.startsAgain(earlier) {
		return
	}
	f.during(acme, r, homes, earlier)
	f.sameRecords(before)
}

// importRecords stores a record of most kinds.
func (f *fleet) importRecords() {
	f.t.Helper()
	file := filepath.Join(f.t.TempDir(), "records.ndjson")
	writeFile(f.t, file, []byte(`{"resource":"hvacDevice","organizationId":"acme","homeId":"home_000001","deviceId":"thermostat"}
{"resource":"solar","organizationId":"acme","homeId":"home_000001","solarSystemSizeKw":6,"tilt":25,"azimuth":200,"losses":12}
{"resource":"usage","organizationId":"acme","homeId":"home_000002","assumedMonthlyKwh":900,"billingDay":12}
{"resource":"marketSeries","organizationId":"acme","node":"COMED","market":"REAL_TIME","timezone":"America/Chicago","stepMinutes":60,"startTime":"2026-07-01T00:00:00Z","prices":[0.0213,null,0.0305]}
{"resource":"homeMarket","organizationId":"acme","homeId":"home_000003","node":"COMED","market":"REAL_TIME"}
`))
	f.api().command("import", file)
	f.api().command("schedule", "create", "--org", organization, "--every", "24h")
}

// during makes a trigger, rolls the fleet to a version in the middle of its walk, and
// checks the deliveries.
func (f *fleet) during(acme *partner, r *receiver, homes int, binary string) {
	f.t.Helper()
	r.mu.Lock()
	clear(r.got)
	r.mu.Unlock()
	r.holdAfter(homes / 4)
	acme.api = f.api().api
	trigger := acme.trigger()
	r.wait("a quarter of the walk", func() bool { return r.total > r.holdFrom })
	f.roll(binary)
	r.release()
	acme.api = f.api().api
	acme.delivered(trigger, homes)
	f.t.Logf("%d homes delivered, %d deliveries repeated", homes, r.check(homes))
}

// startsAgain reports whether a version accepts the stored state.
func (f *fleet) startsAgain(binary string) bool {
	f.t.Helper()
	logs := &blackboxtest.Tail{}
	g, err := blackbox.StartGridhook(blackbox.Run{
		Binary: binary, Role: "api", Data: f.t.TempDir(), Args: []string{"--nats", f.nats}, Log: logs, Patience: patience,
	})
	const refusal = "a newer Gridhook wrote the stored state"
	switch text := logs.Last(1 << 14); {
	case err == nil:
		g.Kill()
		return true
	case strings.Contains(text, refusal):
		f.t.Log("no way back: " + refusal)
	default:
		f.t.Fatalf("the earlier version does not start: %v\n%s", err, text)
	}
	return false
}

func TestHas(t *testing.T) {
	t.Parallel()
	tests := []struct {
		value, old string
		want       bool
	}{
		{`{"a":1,"new":2}`, `{"a":1}`, true},
		{`{"a":2}`, `{"a":1}`, false},
		{`{}`, `{"a":1}`, false},
		{`{"a":[{"b":1}]}`, `{"a":[{"b":1}]}`, true},
		{`{"a":[{"b":1},{}]}`, `{"a":[{"b":1}]}`, false},
		{`{"lastUsed":2}`, `{"lastUsed":1}`, true},
		{`3`, `{"a":1}`, false},
	}
	for _, test := range tests {
		if got := has(decode[any](t, test.value), decode[any](t, test.old)); got != test.want {
			t.Errorf("%s has everything of %s: %t, want %t", test.value, test.old, got, test.want)
		}
	}
}
