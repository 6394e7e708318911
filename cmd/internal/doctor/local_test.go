package doctor

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/gridhook/gridhook/config"
)

// folder returns a data folder.
func folder(t *testing.T, mode os.FileMode) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(dir, mode); err != nil { //nolint:gosec // too open on purpose
		t.Fatal(err)
	}
	return dir
}

func TestSettings_EveryMistake(t *testing.T) {
	r := examine(t, config.Serve, nil, "--slices", "none", "--http", "x")
	if len(r.Findings) != 2 || r.Status != Problem {
		t.Errorf("found %+v", r)
	}
	r.want(t, "settings", Problem, `must be an address to listen on`)
}

func TestLocal_Checks(t *testing.T) {
	key := func(mode os.FileMode) string {
		dir := folder(t, 0o700)
		path := filepath.Join(dir, "operator.key")
		if err := os.WriteFile(path, []byte("gho_x\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	file := filepath.Join(folder(t, 0o700), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	master := func(mode os.FileMode) string {
		path := filepath.Join(t.TempDir(), "master.key")
		if err := os.WriteFile(path, []byte(strings.Repeat("A", 43)+"=\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	deleted := folder(t, 0o700)
	if err := errors.Join(os.Mkdir(filepath.Join(deleted, "nats"), 0o700),
		os.WriteFile(filepath.Join(deleted, "nats", "compaction.json"), []byte(`{"due":"2026-01-02T00:00:00Z"}`), 0o600)); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		args, check string
		want        Status
		says        string
	}{
		{"", "settings", OK, ""},
		{"--allow-private-destinations", "destinations", Warning, "a partner can reach into this network"},
		{"--endpoint-concurrency 2000", "settings", Warning, "above concurrency 1024"},
		{"--profiles", "settings", Warning, "turn profiles off"},
		{"--trusted-proxies 10.0.0.0/8", "settings", OK, ""},
		{"--trusted-proxies 10.0.0.0/8,0.0.0.0/0", "settings", Warning, "trusted-proxies has every address"},
		{"--trusted-proxies ::/0", "settings", Warning, "trusted-proxies has every address"},
		{"--operator-key 0123456789abcdef0", "settings", Warning, "operator-key is on the command line"},
		{"--smtp-url smtp://u:p@127.0.0.1:25 --smtp-from a@example.com", "settings", Warning, "smtp-url is on the command line"},
		{"--smtp-url smtp://127.0.0.1:25?tls=none --smtp-from a@example.com", "settings", OK, ""},
		{"--egress-proxy http://u:p@127.0.0.1:3128", "settings", Warning, "egress-proxy is on the command line"},
		{"--egress-proxy http://127.0.0.1:3128", "settings", OK, ""},
		{"--trace-headers authorization=secret", "settings", Warning, "trace-headers is on the command line"},
		{"--operator-key 0123456789abcdef0", "operator key", OK, "given by flag"},
		{"--data " + deleted, "deletions", Warning, "bytes of deleted organizations"},
		{"--admin 127.0.0.1:1", "admin listener", OK, ""},
		{"--admin [::1]:1", "admin listener", OK, ""},
		{"--admin 0.0.0.0:1", "admin listener", Warning, "from beyond this machine"},
		{"--admin :1", "admin listener", Warning, "from beyond this machine"},
		{"--admin localhost:1", "admin listener", OK, ""},
		{"--admin 0.0.0.0:1 --admin-tls-cert " + file + " --admin-tls-key " + file, "admin listener", Warning, "metrics and health checks need no key"},
		{"--http :8080", "public listener", Warning, "API keys without encryption"},
		{"--http 127.0.0.1:0", "public listener", OK, "only from this machine"},
		{"", "master key", OK, "a reader of NATS's files can decrypt the secrets"},
		{"--master-key-file " + master(0o600), "master key", OK, "encrypted with the operator's key"},
		{"--master-key-file " + master(0o440), "master key", OK, "encrypted with the operator's key"},
		{"--master-key-file " + master(0o604), "master key", Problem, "can be read by other users"},
		{"--master-key-file " + master(0o660), "master key", Problem, "can be read by other users"},
		{"--http :8080 --tls-cert " + file + " --tls-key " + file, "public listener", OK, "uses TLS"},
		{"--http :8080 --tls-cert " + file + " --tls-key " + file, "tls-cert", Problem, "failed to find any PEM data"},
		{"--data " + folder(t, 0o700), "data folder", OK, "private"},
		{"--data " + folder(t, 0o750), "data folder", Warning, "open to other users"},
		{"--data " + folder(t, 0o777), "data folder", Problem, "open to other users"},
		{"--data " + file, "data folder", Problem, "file is not a usable folder: not a directory -> name another folder"},
		{"--data " + filepath.Join(t.TempDir(), "none"), "data folder", OK, "the first start creates it"},
		{"--data " + folder(t, 0o700), "operator key", OK, "created at the first start"},
		{"--data " + key(0o600), "operator key", OK, "readable only by its owner"},
		{"--data " + key(0o644), "operator key", Problem, "can be read by other users"},
		{"--max-store 900000GiB --data " + folder(t, 0o700), "disk", Warning, "max-store"},
	}
	for _, test := range tests {
		r := examine(t, config.Serve, nil, strings.Fields(test.args)...)
		r.want(t, test.check, test.want, test.says)
	}
}

// TestLocal_Windows checks that file modes are ignored where they do not show permissions.
func TestLocal_Windows(t *testing.T) {
	windows, dir, files := healthy, folder(t, 0o777), pair(t)
	windows.modes = false
	master := written(t, filepath.Join(t.TempDir(), "master.key"), []byte(strings.Repeat("A", 43)+"=\n"))
	for _, path := range []string{written(t, filepath.Join(dir, "operator.key"), []byte("gho_x\n")), master, files.Key} {
		if err := os.Chmod(path, 0o666); err != nil { //nolint:gosec // as Go reports on Windows
			t.Fatal(err)
		}
	}
	r := windows.asked(t, config.Serve, nil, "--data", dir, "--master-key-file", master, "--tls-cert", files.Certificate, "--tls-key", files.Key)
	r.want(t, "data folder", OK, "is on a disk")
	r.want(t, "operator key", OK, "in "+dir)
	r.want(t, "master key", OK, "encrypted with the operator's key")
	if got := r.of("tls-cert"); strings.Contains(got, "other users") {
		t.Errorf("the key of the certificate is judged by its mode: %s", got)
	}
}

// TestOperatorKey_Unreadable checks that a key that this user cannot read counts as existing.
func TestOperatorKey_Unreadable(t *testing.T) {
	if os.Getuid() == 0 {
		// Root reads every file. A folder in a file cannot be read by anybody.
		r := examine(t, config.Serve, nil, "--data", written(t, filepath.Join(t.TempDir(), "file"), nil))
		r.want(t, "operator key", Unknown, "not a directory -> run doctor as the user of the service")
		return
	}
	dir := folder(t, 0o700)
	if err := os.Chmod(written(t, filepath.Join(dir, "operator.key"), []byte("gho_x\n")), 0); err != nil {
		t.Fatal(err)
	}
	r := examine(t, config.Serve, nil, "--data", dir)
	r.want(t, "operator key", Unknown, "permission denied -> run doctor as the user of the service")
}

// TestSettings_Places checks that the remedy of a missing setting names the setting.
func TestSettings_Places(t *testing.T) {
	r := examine(t, config.API, nil)
	r.want(t, "settings", Problem, "is required by gridhook api: give --nats or GRIDHOOK_NATS -> correct nats")
	r = examine(t, config.Serve, nil, "--request-timeout", "30s")
	r.want(t, "settings", Problem, "write-timeout must be longer than request-timeout")
	if got := r.of("settings"); !strings.HasSuffix(got, "-> correct write-timeout") {
		t.Errorf("the remedy of a default is %q", got)
	}
}

// TestSettings_Telemetry checks the variables that prevent a start of serve.
func TestSettings_Telemetry(t *testing.T) {
	t.Setenv("OTEL_TRACES_EXPORTER", "zipkin")
	t.Setenv("OTEL_LOGS_EXPORTER", "console")
	r := examine(t, config.Serve, nil)
	r.want(t, "settings", Problem, `OTEL_TRACES_EXPORTER must be otlp or none, not "zipkin"; OTEL_LOGS_EXPORTER must be otlp or none`)
	r = examine(t, config.Serve, nil, "--trace-endpoint", "http://127.0.0.1:4318")
	r.want(t, "settings", Problem, "OTEL_LOGS_EXPORTER")
	if strings.Contains(r.of("settings"), "OTEL_TRACES_EXPORTER") {
		t.Errorf("the variable has no effect beside trace-endpoint: %s", r.of("settings"))
	}
}

// TestLocal_BeforeTheFirstStart checks that the folder above a data folder that does not exist
// is checked: the first start creates the data folder there.
func TestLocal_BeforeTheFirstStart(t *testing.T) {
	volatile, foreign, full := healthy, healthy, healthy
	volatile.inMemory = func(string) (string, bool) { return "tmpfs", true }
	foreign.writable = func(string) error { return syscall.EACCES }
	full.space = func(string) (uint64, uint64, error) { return 0, 100 << 30, nil }
	above := folder(t, 0o755)
	for _, test := range []struct {
		machine machine
		check   string
		want    Status
		says    string
	}{
		{healthy, "data folder", OK, "the first start creates it"},
		{healthy, "disk", OK, "are free in " + above},
		{volatile, "data folder", Problem, above + " is on tmpfs"},
		{foreign, "data folder", Warning, "this user cannot create it in " + above + ": permission denied -> create it for the user of the service"},
		{full, "disk", Problem, "0 of 100GiB are free"},
	} {
		r := test.machine.asked(t, config.Serve, nil, "--data", filepath.Join(above, "new", "data"))
		r.want(t, test.check, test.want, test.says)
	}
	r := examine(t, config.Serve, nil, "--data", filepath.Join(written(t, filepath.Join(above, "file"), nil), "data"))
	r.want(t, "data folder", Problem, "not a directory")
}

// TestLocal_Machine checks the findings for different machines.
func TestLocal_Machine(t *testing.T) {
	full := func(free, size uint64, err error) machine {
		m := healthy
		m.space = func(string) (uint64, uint64, error) { return free, size, err }
		return m
	}
	volatile, few, readOnly, foreign := full(0, 100<<30, nil), healthy, full(0, 100<<30, nil), healthy
	volatile.inMemory = func(string) (string, bool) { return "tmpfs", true }
	readOnly.writable = func(string) error { return syscall.EROFS }
	foreign.writable = func(string) error { return syscall.EACCES }
	few.openFiles = func() (uint64, error) { return 1024, nil }
	const G = 1 << 30
	for _, test := range []struct {
		machine     machine
		flag, check string
		want        Status
		says        string
	}{
		{full(60*G, 100*G, nil), "", "disk", OK, "60GiB of 100GiB are free"},
		{full(9*G, 100*G, nil), "", "disk", Warning, "less than a tenth"},
		{full(11*G, 1000*G, nil), "", "disk", OK, "11GiB of 1000GiB are free"},
		{full(0, 100*G, nil), "", "disk", Problem, "0 of 100GiB are free"},
		{full(60*G, 100*G, nil), "--max-store=61GiB", "disk", Warning, "the disk has space for 60GiB"},
		{full(60*G, 100*G, nil), "--max-store=59GiB", "disk", OK, ""},
		{full(60*G, 100*G, nil), "--max-history=0", "max-history", Warning, "no limit"},
		{full(60*G, 100*G, nil), "--max-history=1GiB", "max-history", OK, "refused from 1GiB on; the store has 30GiB"},
		{full(60*G, 100*G, nil), "--max-store=32GiB", "max-history", OK, "lowered to 4GiB"},
		{full(0, 0, errors.New("it was not told")), "", "disk", Unknown, "not told"},
		{volatile, "", "data folder", Problem, "is on tmpfs"},
		{volatile, "", "disk", Problem, "0 of 100GiB are free"},
		{readOnly, "", "data folder", Problem, "is mounted read-only -> mount the file system for writing"},
		{readOnly, "", "disk", Problem, "0 of 100GiB are free"},
		{foreign, "", "data folder", Problem, "cannot be written by this user: permission denied -> run doctor as the user of the service"},
		{healthy, "", "data folder", OK, "on a disk"},
		{healthy, "", "open files", OK, "the limit is 65536"},
		{few, "", "open files", Warning, "the limit is 1024, but concurrency and max-connections can need 15120"},
		{few, "--max-connections=100", "open files", Warning, "can need 5220"},
		{healthy, "--max-connections=20000 --openadr --mqtt=127.0.0.1:0", "open files", Warning, "can need 85120"},
	} {
		args := []string{"--data", folder(t, 0o700)}
		if test.flag != "" {
			args = append(args, strings.Fields(test.flag)...)
		}
		r := test.machine.asked(t, config.Serve, nil, args...)
		r.want(t, test.check, test.want, test.says)
	}
	for role, need := range map[config.Role]string{config.Worker: "can need 5120", config.API: "can need 11024"} {
		r := few.asked(t, role, nil, "--nats", "nats://127.0.0.1:1")
		r.want(t, "open files", Warning, need)
	}
}

func TestSettings_MemoryLimits(t *testing.T) {
	for _, test := range []struct {
		environment, flag string
		want              Status
	}{{"1GiB", "--memory-limit=1GiB", Warning}, {"", "--memory-limit=1GiB", OK}, {"1GiB", "--memory-limit=0", OK}} {
		t.Setenv("GOMEMLIMIT", test.environment)
		r := examine(t, config.Serve, nil, test.flag)
		r.want(t, "settings", test.want, map[bool]string{true: "GOMEMLIMIT has precedence"}[test.want == Warning])
	}
}
