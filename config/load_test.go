package config_test

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/gridhook/gridhook/config"
)

// load loads a configuration from a command line, an environment and a file.
func load(t *testing.T, role config.Role, args []string, environ []string, file string) (*config.Loaded, error) {
	t.Helper()
	if file != "" {
		args = append(args, "--config", write(t, "gridhook.yaml", file))
	}
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	config.AddFlags(flags, role)
	if err := flags.Parse(args); err != nil {
		t.Fatalf("parse %q: %v", args, err)
	}
	return config.Load(role, flags, environ)
}

func mustLoad(t *testing.T, role config.Role, args []string, environ []string, file string) config.Config {
	t.Helper()
	loaded, err := load(t, role, args, environ, file)
	if err != nil {
		t.Fatalf("load: %v", err)
	}
	return loaded.Config
}

func write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// mistakes returns the lines of an error, without the file's folder.
func mistakes(t *testing.T, err error) []string {
	t.Helper()
	var wrong *config.Error
	if !errors.As(err, &wrong) {
		t.Fatalf("the error is %v, not a *config.Error", err)
	}
	lines := make([]string, len(wrong.Mistakes))
	for i, m := range wrong.Mistakes {
		m.Source = filepath.Base(m.Source)
		lines[i] = m.String()
	}
	return lines
}

func TestLoad_Precedence(t *testing.T) {
	const file = "http: 127.0.0.1:3\nslices: 3\nallow-private-destinations: true\n"
	tests := []struct {
		name    string
		args    []string
		environ []string
		file    string
		want    string
	}{
		{"default", nil, nil, "", "127.0.0.1:8080"},
		{"file over default", nil, nil, file, "127.0.0.1:3"},
		{"environment over file", nil, []string{"GRIDHOOK_HTTP=127.0.0.1:2"}, file, "127.0.0.1:2"},
		{"flag over environment", []string{"--http", "127.0.0.1:1"}, []string{"GRIDHOOK_HTTP=127.0.0.1:2"}, file, "127.0.0.1:1"},
		{"an empty variable says nothing", nil, []string{"GRIDHOOK_HTTP="}, file, "127.0.0.1:3"},
		{"another's variable says nothing", nil, []string{"OTHER_HTTP=x", "GRIDHOOK_SERVICE_HOST=10.0.0.1"}, "", "127.0.0.1:8080"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := mustLoad(t, config.Serve, test.args, test.environ, test.file).HTTP; got != test.want {
				t.Errorf("http is %s, want %s", got, test.want)
			}
		})
	}
}

func TestLoad_FileFromEnvironment(t *testing.T) {
	path := write(t, "env.yaml", "slices: 7\n")
	c := mustLoad(t, config.Serve, nil, []string{"GRIDHOOK_CONFIG=" + path}, "")
	if c.Worker.Slices != 7 {
		t.Errorf("slices is %d, want 7 from the file that GRIDHOOK_CONFIG names", c.Worker.Slices)
	}
}

func TestLoad_EveryType(t *testing.T) {
	c := mustLoad(t, config.Serve, []string{"--allow-private-destinations", "--log-level", "DEBUG", "--log-format=text"},
		[]string{"GRIDHOOK_DRAIN_TIMEOUT=90s", "GRIDHOOK_MAX_STORE=20GiB"},
		"slices: 3\nrate-limit: 12.5\nmax-body: 2097152\nreceipts-age: 48h\noperator-key: 0123456789abcdef\n")
	want := config.Config{
		Role: config.Serve, Data: "./gridhook-data", HTTP: "127.0.0.1:8080", Admin: "127.0.0.1:8081",
		NATS: config.NATS{Prefix: "gridhook"}, AllowPrivate: true, OperatorKey: "0123456789abcdef",
		LogLevel: slog.LevelDebug, LogFormat: "text",
		Worker: config.Delivery{Slices: 3, Concurrency: 1024, EndpointConcurrency: 64, DrainTimeout: 90 * time.Second},
		Curves: 1024, ProxyHeader: "X-Forwarded-For",
		OpenADR: config.OpenADR{VerifyCallbacks: true, ReportRetention: 720 * time.Hour, MaxObjects: 200000},
		Limits: config.Limits{
			MaxBody: 2 << 20, MaxImport: 16 << 20, MaxDepth: 32, RateLimit: 12.5, RateBurst: 200, FeedbackRate: 0.2, FeedbackBurst: 10, MaxUnread: 64 << 20, MaxConnections: 10000, MaxHomes: 1_000_000, MaxEndpoints: 50, MaxSchedules: 20, MaxKeys: 100, MaxIdempotencyKeys: 10000, MaxChannels: 20, MaxSources: 200, MaxState: 1 << 30, FailureShare: 0.1, MaxWaiting: 100, MaxHistory: 16 << 30, MaxHeaders: 16 << 10,
			HeaderTimeout: 5 * time.Second, ReadTimeout: 15 * time.Second, RequestTimeout: 25 * time.Second, WriteTimeout: 30 * time.Second, IdleTimeout: time.Minute,
		},
		ReceiptsAge: 48 * time.Hour, MaxStore: 20 << 30,
		Traces: config.Traces{Sample: 1, Requests: 1},
	}
	if !reflect.DeepEqual(c, want) {
		t.Errorf("got  %+v\nwant %+v", c, want)
	}
}

func TestLoad_SettingsOfOtherRoles(t *testing.T) {
	file := "http: nonsense\nslices: 9\nnats: nats://10.0.0.5:4222\n"
	c := mustLoad(t, config.Worker, nil, []string{"GRIDHOOK_RATE_LIMIT=nonsense"}, file)
	if c.Worker.Slices != 9 || c.HTTP != "127.0.0.1:8080" || c.Limits.RateLimit != 100 {
		t.Errorf("a worker got slices %d, http %s, rate-limit %g", c.Worker.Slices, c.HTTP, c.Limits.RateLimit)
	}
}

func TestLoad_TextOfFile(t *testing.T) {
	c := mustLoad(t, config.Serve, nil, nil, "operator-key: 123456789012345678901234567890\nmax-homes: null\nslices: &n 7\ncurves: *n\n")
	if c.OperatorKey != "123456789012345678901234567890" || c.Limits.MaxHomes != 1_000_000 || c.Curves != 7 {
		t.Errorf("the key is %s, max-homes %d, curves %d", c.OperatorKey, c.Limits.MaxHomes, c.Curves)
	}
	_, err := load(t, config.Worker, nil, nil, "nats: [nats://h:1]\n")
	if got := mistakes(t, err); len(got) != 1 || !strings.Contains(got[0], "must be a single value") {
		t.Errorf("a list of servers gets %q", got)
	}
}

func TestLoad_Misspelled(t *testing.T) {
	c := mustLoad(t, config.Serve, nil, []string{
		"GRIDHOOK_SLICE=4", "GRIDHOOK_SLICES=5", "GRIDHOOK_ORG=acme", "GRIDHOOK_API_KEY=k", "GRIDHOOK_API_URL=u", "GRIDHOOK_ADMIN_URL=u",
		"GRIDHOOK_CONTEXT=c", "GRIDHOOK_NATS_PORT=tcp://10.0.0.1:4222", "GRIDHOOK_TLS_SERVICE_HOST=10.0.0.1", "GRIDHOOK_BOGUS=1",
	}, "")
	want := []string{"the environment variable GRIDHOOK_SLICE is not a setting: did you mean slices?"}
	if !slices.Equal(c.Warnings, want) || c.Worker.Slices != 5 {
		t.Errorf("got %d slices and the warnings %q, want %q", c.Worker.Slices, c.Warnings, want)
	}
}

func TestLoad_AllErrors(t *testing.T) {
	_, err := load(t, config.Serve,
		[]string{"--http", "8080", "--slices", "many", "--receipts-age", "1h"},
		[]string{"GRIDHOOK_LOG_LEVEL=loud", "GRIDHOOK_OPERATOR_KEY=short"},
		"max-bdy: 1\nconcurrency: 0\nrate-limit: [1, 2]\nmax-body: 1MB\ncolor: red\nadmin:\n  port: 1\n")
	want := []string{
		`color (gridhook.yaml) is not a setting`,
		`max-bdy (gridhook.yaml) is not a setting: did you mean max-body?`,
		`http (flag --http) must be an address to listen on, such as 127.0.0.1:8080 or :8080, not "8080"`,
		`admin (gridhook.yaml: admin) must be a single value`,
		`operator-key (GRIDHOOK_OPERATOR_KEY) must have at least 16 characters, all of them printable ASCII without spaces, not "********"`,
		`log-level (GRIDHOOK_LOG_LEVEL) must be debug, info, warn or error, not "loud"`,
		`slices (flag --slices) must be a whole number, not "many"`,
		`concurrency (gridhook.yaml: concurrency) must be from 1 to 65536, not "0"`,
		`rate-limit (gridhook.yaml: rate-limit) must be a single value`,
		`max-body (gridhook.yaml: max-body) must be a size such as 1MiB, 512KiB or a number of bytes, not "1MB"`,
		`receipts-age (flag --receipts-age) must be 0 or from 25h to 87600h, not "1h"`,
	}
	if got := mistakes(t, err); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestLoad_Errors(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing.pem")
	there := write(t, "there.pem", "x")
	nats := []string{"--nats", "nats://h:1"}
	tests := []struct {
		name string
		role config.Role
		args []string
		file string
		want string
	}{
		{"a worker needs NATS", config.Worker, nil, "", "nats (not set) is required by gridhook worker: give --nats or GRIDHOOK_NATS"},
		{"no URL", config.API, []string{"--nats", "10.0.0.5:4222"}, "", `nats (flag --nats) must be a URL`},
		{"a secret in a wrong URL stays secret", config.API, []string{"--nats", "http://u:hunter2@h"}, "", `nats (flag --nats) must begin with nats://, tls://, ws:// or wss://, not "http://xxxxx@h"`},
		{"a password with a comma stays secret", config.API, []string{"--nats", "http://u:12,hunter2@h"}, "", `wss://, not "********"`},
		{"a password without a scheme stays secret", config.API, []string{"--nats", "u:hunter2@h"}, "", `comma-separated, not "********"`},
		{"a token without a scheme stays secret", config.API, []string{"--nats", "hunter2@h"}, "", `comma-separated, not "********"`},
		{"a token in a wrong URL stays secret", config.API, []string{"--nats", "http://hunter2@h"}, "", `not "http://xxxxx@h"`},
		{"a prefix in capitals", config.API, append(nats, "--nats-prefix", "North"), "", "nats-prefix (flag --nats-prefix) must be 1 to 32 lower-case letters"},
		{"a prefix with a dot", config.API, append(nats, "--nats-prefix", "a.b"), "", "nats-prefix (flag --nats-prefix) must be 1 to 32 lower-case letters"},
		{"a domain with a wildcard", config.API, append(nats, "--nats-domain", "*"), "", "nats-domain (flag --nats-domain) must be the name of a JetStream domain"},
		{"a certificate without its key", config.API, append(nats, "--nats-cert", there), "", "nats-cert (flag --nats-cert) requires nats-key as well"},
		{"a key without its certificate", config.API, append(nats, "--nats-key", there), "", "nats-key (flag --nats-key) requires nats-cert as well"},
		{"a file that is not there", config.API, append(nats, "--nats-ca", missing), "", "nats-ca (flag --nats-ca) must be a readable file: no such file or directory"},
		{"both on one address", config.Serve, []string{"--admin", "127.0.0.1:8080"}, "", "admin (flag --admin) must differ from the address of http"},
		{"one of them on every address", config.Serve, []string{"--admin", ":8080"}, "", "admin (flag --admin) must differ from the address of http"},
		{"the other on every address", config.API, []string{"--nats", "nats://127.0.0.1:1", "--http", "0.0.0.0:8081"}, "", "admin (default) must differ from the address of http"},
		{"MQTT on the admin address", config.Serve, []string{"--openadr", "--mqtt", "[::]:8081"}, "", "mqtt (flag --mqtt) must differ from the addresses of http and admin"},
		{"MQTT without a port", config.Serve, []string{"--openadr", "--mqtt", "x"}, "", "mqtt (flag --mqtt) must be an address to listen on"},
		{"a port that is none", config.Serve, []string{"--http", ":65536"}, "", "http (flag --http) must be an address"},
		{"a log format that is none", config.Serve, []string{"--log-format", "xml"}, "", `log-format (flag --log-format) must be json or text, not "xml"`},
		{"a header of another proxy", config.Serve, []string{"--proxy-header", "x-forwarded-for"}, "", `proxy-header (flag --proxy-header) must be X-Forwarded-For or Forwarded, not "x-forwarded-for"`},
		{"no folder", config.Serve, []string{"--data", ""}, "", "data (flag --data) must be a folder"},
		{"triggers gone before their receipts", config.Serve, []string{"--triggers-age", "100h"}, "", "triggers-age (flag --triggers-age) must be at least receipts-age"},
		{"a rate of nothing", config.Serve, []string{"--rate-limit", "0"}, "", "rate-limit (flag --rate-limit) must be above 0"},
		{"a rate that is no number", config.Serve, []string{"--rate-limit", "NaN"}, "", "rate-limit (flag --rate-limit) must be above 0 and at most 1000000"},
		{"a share that is infinite", config.Serve, []string{"--failure-share", "inf"}, "", "failure-share (flag --failure-share) must be from 0 to 1"},
		{"a rate without digits", config.Serve, []string{"--rate-limit", "fast"}, "", "rate-limit (flag --rate-limit) must be a number"},
		{"a store too small", config.Serve, []string{"--max-store", "1MiB"}, "", "max-store (flag --max-store) must be 0 or at least 64MiB"},
		{"a body too large", config.Serve, []string{"--max-body", "1GiB"}, "", "max-body (flag --max-body) must be from 1KiB to 16MiB"},
		{"an import too large", config.Serve, []string{"--max-import", "1TiB"}, "", "max-import (flag --max-import) must be from 4MiB to 256MiB"},
		{"no depth", config.Serve, []string{"--max-depth", "0"}, "", "max-depth (flag --max-depth) must be from 1 to 1000"},
		{"feedback at no rate", config.Serve, []string{"--feedback-rate", "-1"}, "", "feedback-rate (flag --feedback-rate) must be above 0"},
		{"no estimates", config.Serve, []string{"--estimates", "-1"}, "", "estimates (flag --estimates) must be from 0 to 1024"},
		{"headers too large", config.API, append(nats, "--max-headers", "2MiB"), "", "max-headers (flag --max-headers) must be from 1KiB to 1MiB"},
		{"no time for headers", config.Serve, []string{"--header-timeout", "1ms"}, "", "header-timeout (flag --header-timeout) must be from 100ms to 1h"},
		{"less for all than for the headers", config.Serve, []string{"--read-timeout", "4s"}, "", "read-timeout (flag --read-timeout) must be at least header-timeout"},
		{"no time to answer", config.Serve, []string{"--request-timeout", "30s"}, "", "write-timeout (default) must be longer than request-timeout"},
		{"an origin with a path", config.Serve, []string{"--cors-origins", "https://a.example,https://b.example/"}, "", "cors-origins (flag --cors-origins) must be origins"},
		{"every origin", config.Serve, []string{"--cors-origins", "*"}, "", "cors-origins (flag --cors-origins) must be origins"},
		{"an origin of another scheme", config.Serve, []string{"--cors-origins", "ftp://a.example"}, "", "cors-origins (flag --cors-origins) must be origins"},
		{"an origin without a host", config.Serve, []string{"--cors-origins", "https://:443"}, "", "cors-origins (flag --cors-origins) must be origins"},
		{"an origin in capitals", config.Serve, []string{"--cors-origins", "https://A.example"}, "", "cors-origins (flag --cors-origins) must be origins"},
		{"an SMTP server without a sender", config.Serve, []string{"--smtp-url", "smtp://relay"}, "", "smtp-from (default) must be an email address"},
		{"a sender with a name", config.Serve, []string{"--smtp-url", "smtp://relay", "--smtp-from", "Ops <ops@a.example>"}, "", "smtp-from (flag --smtp-from) must be an email address"},
		{"a sender that is no address", config.Serve, []string{"--smtp-from", "ops"}, "", "smtp-from (flag --smtp-from) must be an email address"},
		{"an SMTP server of another scheme", config.Serve, []string{"--smtp-url", "http://u:hunter2@relay"}, "", "smtp-url (flag --smtp-url) must be a URL such as smtp://"},
		{"an SMTP server without TLS that has TLS", config.Serve, []string{"--smtp-url", "smtps://relay?tls=none"}, "", "smtp-url (flag --smtp-url) must be a URL such as smtp://"},
		{"an SMTP server with an unknown option", config.Serve, []string{"--smtp-url", "smtp://relay?tls=some"}, "", "smtp-url (flag --smtp-url) must be a URL such as smtp://"},
		{"a master key twice", config.Serve, []string{"--master-key", randomKey, "--master-key-file", write(t, "master.key", randomKey)}, "", `master-key (flag --master-key) must be empty if master-key-file is set, not "********"`},
		{"a short master key", config.Serve, []string{"--master-key", randomKey + ",aHVudGVyMg=="}, "", "master-key (flag --master-key) must be the base64 of 32 random bytes"},
		{"a master key that is no base64", config.Serve, []string{"--master-key", "hunter2!"}, "", "master-key (flag --master-key) must be the base64 of 32 random bytes"},
		{"a collector without a scheme", config.Serve, []string{"--trace-endpoint", "127.0.0.1:4318"}, "", "trace-endpoint (flag --trace-endpoint) must be an http or https URL"},
		{"a query stays secret", config.Serve, []string{"--trace-endpoint", "ftp://c?key=hunter2"}, "", `not "ftp://c?xxxxx"`},
		{"a query with a comma stays secret", config.Serve, []string{"--trace-endpoint", "ftp://c?key=12,hunter2"}, "", `not "********"`},
		{"a header without a value, which stays secret", config.Serve, []string{"--trace-headers", "a=b,hunter2"}, "", `trace-headers (flag --trace-headers) must be headers such as authorization=secret, comma-separated, not "********"`},
		{"more traces than there are", config.Serve, []string{"--trace-sample", "1.5"}, "", "trace-sample (flag --trace-sample) must be from 0 to 1"},
		{"less than no request", config.Worker, append(nats, "--trace-requests", "-1"), "", "trace-requests (flag --trace-requests) must be from 0 to 64"},
		{"no time to drain", config.Worker, append(nats, "--drain-timeout", "0s"), "", "drain-timeout (flag --drain-timeout) must be from 1s to 1h"},
		{"a truth that is none", config.Serve, []string{"--allow-private-destinations=perhaps"}, "", "allow-private-destinations (flag --allow-private-destinations) must be true or false"},
		{"a file that is no YAML", config.Serve, nil, "a: [", "config (flag --config) must name a YAML file"},
		{"a key twice", config.Serve, nil, "slices: 1\nslices: 2\n", "config (flag --config) must name a YAML file"},
		{"no config file", config.Serve, []string{"--config", missing}, "", "no such file or directory"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := load(t, test.role, test.args, nil, test.file)
			if got := mistakes(t, err); len(got) != 1 || !strings.Contains(got[0], test.want) {
				t.Errorf("got %q, want one with %q", got, test.want)
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error shows a secret: %v", err)
			}
		})
	}
}

// randomKey is a master key.
const randomKey = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="

// The forms that the documentation names are accepted, alone and together.
func TestLoad_Accepted(t *testing.T) {
	for _, args := range [][]string{
		{"--cors-origins", "https://a.example, http://127.0.0.1:3000"},
		{"--smtp-from", "ops@a.example"},
		{"--smtp-url", "smtp://u:p@relay:587", "--smtp-from", "ops@a.example"},
		{"--smtp-url", "smtp://relay:25?tls=none", "--smtp-from", "ops@a.example"},
		{"--smtp-url", "smtps://relay", "--smtp-from", "ops@a.example"},
		{"--master-key", randomKey + ", " + randomKey},
		{"--master-key-file", write(t, "master.key", randomKey+"\n"+randomKey+"\n")},
	} {
		if _, err := load(t, config.Serve, args, nil, ""); err != nil {
			t.Errorf("%q: %v", args, err)
		}
	}
}

// The secrets on a command line are those that other users of the machine could read: no
// secret of another source, no empty value, and no URL without user data.
func TestFlagSecrets(t *testing.T) {
	loaded, err := load(t, config.Serve, []string{
		"--master-key", randomKey, "--smtp-url", "smtp://u:p@relay", "--smtp-from", "ops@a.example",
		"--egress-proxy", "http://proxy:3128", "--trace-headers", "",
	}, []string{"GRIDHOOK_OPERATOR_KEY=hunter2hunter2hunter2"}, "")
	if err != nil {
		t.Fatal(err)
	}
	got := loaded.FlagSecrets()
	slices.Sort(got)
	if want := []string{"master-key", "smtp-url"}; !slices.Equal(got, want) {
		t.Errorf("the secrets are %q, want %q", got, want)
	}
}

func TestLoad_ErrorPerLine(t *testing.T) {
	_, err := load(t, config.Serve, []string{"--slices", "x"}, nil, "")
	if got := err.Error(); strings.Contains(got, "\n") || strings.Contains(got, "wrong:") {
		t.Errorf("one mistake is printed as %q", got)
	}
	_, err = load(t, config.Serve, []string{"--slices", "x", "--curves", "x"}, nil, "")
	if got := err.Error(); !strings.HasPrefix(got, "2 settings are wrong:\n  slices ") {
		t.Errorf("two mistakes are printed as %q", got)
	}
}
