package doctor

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/spf13/pflag"

	"github.com/gridhook/gridhook/config"
	"github.com/gridhook/gridhook/events/checkup"
	own "github.com/gridhook/gridhook/events/jetstream"
)

// external starts a NATS server like an operator.
func external(t *testing.T, change func(*server.Options)) *server.Server {
	t.Helper()
	o := &server.Options{
		ServerName: "n1", Host: "127.0.0.1", Port: server.RANDOM_PORT, HTTPHost: "127.0.0.1", HTTPPort: server.RANDOM_PORT, NoSigs: true, NoLog: true,
		JetStream: true, StoreDir: t.TempDir(), MaxPayload: 8 << 20, SyncAlways: true,
	}
	if change != nil {
		change(o)
	}
	s, err := server.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(20 * time.Second) {
		t.Fatal("NATS is not ready")
	}
	return s
}

func monitor(s *server.Server) string { return "http://" + s.MonitorAddr().String() }

// healthy is a machine without any problem.
var healthy = machine{
	space:     func(string) (free, size uint64, err error) { return 60 << 30, 100 << 30, nil },
	inMemory:  func(string) (string, bool) { return "", false },
	writable:  writable,
	modes:     true,
	openFiles: func() (uint64, error) { return 1 << 16, nil },
}

// examine runs every check on the settings of flags, on a healthy machine.
func examine(t *testing.T, role config.Role, monitors []string, args ...string) Report {
	t.Helper()
	return healthy.asked(t, role, monitors, args...)
}

func (m machine) asked(t *testing.T, role config.Role, monitors []string, args ...string) Report {
	t.Helper()
	flags := pflag.NewFlagSet("doctor", pflag.ContinueOnError)
	config.AddFlags(flags, config.Roles()...)
	if err := flags.Parse(append([]string{"--admin", "127.0.0.1:1", "--http", "127.0.0.1:0"}, args...)); err != nil {
		t.Fatal(err)
	}
	loaded, err := config.Load(role, flags, nil)
	return m.examine(t.Context(), loaded, err, monitors)
}

// of returns the findings of a check, one line each.
func (r *Report) of(check string) string {
	var lines []string
	for _, f := range r.Findings {
		if f.Check == check {
			lines = append(lines, fmt.Sprintf("%s: %s -> %s", f.Status, f.Message, f.Remedy))
		}
	}
	return strings.Join(lines, "\n")
}

func (r *Report) want(t *testing.T, check string, status Status, says string) {
	t.Helper()
	if got := r.of(check); !strings.HasPrefix(got, string(status)+": ") || !strings.Contains(got, says) {
		t.Errorf("%s is\n%s\nwant %s: ...%s", check, got, status, says)
	}
}

func TestNATS_Healthy(t *testing.T) {
	s := external(t, nil)
	args := []string{"--nats", s.ClientURL(), "--data", t.TempDir()}
	r := examine(t, config.Worker, []string{monitor(s)}, args...)
	for _, check := range []string{"nats version", "nats tls", "nats max_payload", "jetstream account", "streams", "nats sync", "clocks"} {
		r.want(t, check, OK, "")
	}
	// The latency depends on the disk. TestNATS_Findings tests its finding.
	if got := r.of("jetstream permissions"); !strings.Contains(got, "a write took") || strings.Contains(got, "took 0s") {
		t.Errorf("the finding of the trial write is\n%s", got)
	}
	for _, check := range []string{"nats store", "public listener", "operator key", "max-history"} { // of a full store, or of an api
		if got := r.of(check); got != "" {
			t.Errorf("a worker has the finding %s", got)
		}
	}
	wantNoStream(t, s)
}

// wantNoStream checks that a check has deleted its stream.
func wantNoStream(t *testing.T, s *server.Server) {
	t.Helper()
	nc, err := nats.Connect("", nats.InProcessServer(s), nats.UserInfo("admin", "admin"))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, _ := jetstream.New(nc)
	for name := range js.StreamNames(t.Context()).Name() {
		t.Errorf("the check left the stream %s", name)
	}
}

func TestNATS_CanLoseWrites(t *testing.T) {
	s := external(t, func(o *server.Options) { o.SyncAlways, o.MaxPayload = false, 1<<20 })
	r := examine(t, config.API, []string{monitor(s)}, "--nats", s.ClientURL())
	r.want(t, "nats sync", Problem, "can be lost in a power cut: n1 syncs every 2m0s -> set jetstream { sync_interval: always }")
	r.want(t, "nats max_payload", Problem, "1MiB is too small")
	r.want(t, "operator key", Warning, "its own key")
	if r.Status != Problem {
		t.Errorf("the status is %s", r.Status)
	}
}

// TestNATS_SyncUnknown checks that a setting that cannot be read over the wire is
// reported as unknown.
func TestNATS_SyncUnknown(t *testing.T) {
	s := external(t, nil)
	r := examine(t, config.Worker, nil, "--nats", s.ClientURL())
	r.want(t, "nats sync", Unknown, "does not show whether NATS syncs writes before it acknowledges them; by default it does not -> name the servers' monitoring with --nats-monitor")
	r = examine(t, config.Worker, []string{"http://127.0.0.1:1"}, "--nats", s.ClientURL())
	r.want(t, "nats sync", Unknown, "read the monitoring address http://127.0.0.1:1")
}

// TestNATS_SystemAccount checks that a user of the system account gets the servers'
// settings over the connection.
func TestNATS_SystemAccount(t *testing.T) {
	system := server.NewAccount("SYS")
	s := external(t, func(o *server.Options) {
		o.Accounts, o.SystemAccount = []*server.Account{system}, "SYS"
		o.Users = []*server.User{{Username: "sys", Password: "secret", Account: system}}
	})
	u, _ := url.Parse(s.ClientURL())
	u.User = url.UserPassword("sys", "secret")
	f, err := checkup.Look(t.Context(), checkup.Options{URL: u.String(), Streams: own.Options{Replicas: 1}})
	if err != nil || len(f.Servers) != 1 || !f.Servers[0].JetStream.Config.SyncAlways || f.Silent != nil {
		t.Errorf("the facts are %+v, %v", f.Servers, errorsOf(err, f.Silent))
	}
}

func errorsOf(errs ...error) string { return fmt.Sprint(errs) }

func TestNATS_NoPermissions(t *testing.T) {
	s := external(t, func(o *server.Options) {
		o.Users = []*server.User{{Username: "u", Password: "secret-of-nats", Permissions: &server.Permissions{
			Publish: &server.SubjectPermission{Allow: []string{"$JS.API.INFO", "$JS.API.STREAM.INFO.>"}},
		}}}
	})
	address := strings.Replace(s.ClientURL(), "nats://", "nats://u:secret-of-nats@", 1)
	r := examine(t, config.Worker, []string{monitor(s)}, "--nats", address)
	r.want(t, "jetstream permissions", Problem, `a stream like Gridhook's could not be used: nats: permissions violation: Permissions Violation for Publish to "$JS.API.STREAM.CREATE`)
	r.want(t, "settings", Warning, "nats is on the command line")
	if text := fmt.Sprint(r); strings.Contains(text, "secret-of-nats") {
		t.Errorf("the report has the password: %s", text)
	}
	r = examine(t, config.Worker, nil, "--nats", strings.Replace(address, "secret-of-nats", "wrong-secret", 1))
	r.want(t, "nats", Problem, "refuses the credentials")
	if text := fmt.Sprint(r); strings.Contains(text, "wrong-secret") {
		t.Errorf("the report has the password: %s", text)
	}
}

// TestNATS_MissingPermission checks that the trial stream is used like Gridhook's, and deleted
// if its use fails.
func TestNATS_MissingPermission(t *testing.T) {
	for subject, check := range map[string]string{"$JS.API.INFO": "jetstream", "$JS.API.CONSUMER.>": "jetstream permissions", "$JS.ACK.>": "jetstream permissions"} {
		t.Run(subject, func(t *testing.T) {
			s := external(t, func(o *server.Options) {
				o.Users = []*server.User{{Username: "admin", Password: "admin"}, {Username: "u", Password: "p", Permissions: &server.Permissions{
					Publish: &server.SubjectPermission{Deny: []string{subject}},
				}}}
			})
			r := examine(t, config.Worker, nil, "--nats", strings.Replace(s.ClientURL(), "nats://", "nats://u:p@", 1))
			r.want(t, check, Problem, `Permissions Violation for Publish to "`+strings.TrimSuffix(subject, ">"))
			wantNoStream(t, s)
		})
	}
}

// TestNATS_Monitors checks the facts of the servers' monitoring: a clock that is wrong, a full
// store, and an address that does not describe a server.
func TestNATS_Monitors(t *testing.T) {
	s := external(t, nil)
	m := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/varz" {
			http.Error(w, "none", http.StatusForbidden)
			return
		}
		_, _ = fmt.Fprintf(w, `{"server_name": "n9", "version": "2.15.2", "now": %q, "jetstream": {"config": {"max_storage": 100, "sync_always": true}, "stats": {"storage": 90}}}`,
			time.Now().Add(time.Hour).Format(time.RFC3339Nano))
	}))
	defer m.Close()
	r := examine(t, config.Worker, []string{m.URL + "/", m.URL + "/none"}, "--nats", s.ClientURL())
	r.want(t, "clocks", Problem, "n9 is 1h0m0")
	r.want(t, "nats store", Warning, "n9 uses 90 of 100")
	r.want(t, "nats sync", Unknown, "read the monitoring address "+m.URL+"/none: 403 Forbidden")
}

// TestNATS_Tiers checks that an account with limits for each number of replicas is judged by
// the limits that apply to Gridhook's streams.
func TestNATS_Tiers(t *testing.T) {
	account := server.NewAccount("A")
	s := external(t, func(o *server.Options) {
		o.Accounts, o.JetStreamMaxStore = []*server.Account{account}, 1<<40
		o.Users = []*server.User{{Username: "u", Password: "p", Account: account}}
	})
	account, err := s.LookupAccount("A")
	if err == nil {
		err = account.EnableJetStream(map[string]server.JetStreamAccountLimits{
			"R1": {MaxStore: 100 << 30, MaxStreams: -1, MaxConsumers: -1}, "R3": {MaxStore: 50 << 30, MaxStreams: 2, MaxConsumers: -1},
		}, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	url := strings.Replace(s.ClientURL(), "nats://", "nats://u:p@", 1)
	r := examine(t, config.API, nil, "--nats", url)
	r.want(t, "jetstream account", OK, "of 100GiB")
	r.want(t, "max-history", Warning, "fill the store's 100GiB")
	r = examine(t, config.API, nil, "--nats", url, "--nats-replicas", "3")
	r.want(t, "jetstream account", Problem, "only 2 streams")
	r = examine(t, config.API, nil, "--nats", url, "--nats-replicas", "5")
	r.want(t, "jetstream account", Problem, "may not store files")
}

func TestNATS_WithoutTLS(t *testing.T) {
	s := external(t, func(*server.Options) {})
	r := examine(t, config.Worker, nil, "--nats", strings.Replace(s.ClientURL(), "nats://", "tls://", 1))
	r.want(t, "nats", Problem, "has no TLS: configure TLS in the server")
}

func TestNATS_Unreachable(t *testing.T) {
	r := examine(t, config.Worker, nil, "--nats", "nats://user:hidden@127.0.0.1:1")
	r.want(t, "nats", Problem, "no NATS server responds at nats://xxxxx@127.0.0.1:1")
	if got := r.of("nats"); strings.Count(got, "correct --nats") != 1 {
		t.Errorf("%s\nwant the remedy once", got)
	}
}

// TestNATS_Findings checks the findings that a real single NATS server cannot cause.
func TestNATS_Findings(t *testing.T) {
	peer := func(offline bool) *jetstream.ClusterInfo {
		return &jetstream.ClusterInfo{Leader: "n1", Replicas: []*jetstream.PeerInfo{{Name: "n2", Current: !offline, Offline: offline}, {Name: "n3", Current: true}}}
	}
	stream := func(is jetstream.StreamConfig, cluster *jetstream.ClusterInfo) checkup.Facts {
		is.Name = "S"
		return checkup.Facts{Streams: []checkup.Stream{{Is: jetstream.StreamInfo{Config: is, Cluster: cluster}, Want: jetstream.StreamConfig{Name: "S", Replicas: 3, DenyDelete: true}}}}
	}
	clock := func(ahead time.Duration) checkup.Facts {
		return checkup.Facts{Clocks: []checkup.Clock{{Server: "n1", Ahead: ahead, Within: 10 * time.Millisecond}}}
	}
	account := func(limit int64, servers ...int64) checkup.Facts {
		f := checkup.Facts{Account: &jetstream.AccountInfo{}}
		f.Account.Limits.MaxStore = limit
		for _, size := range servers {
			var s checkup.Server
			s.JetStream.Config = &struct {
				MaxStore     int64         `json:"max_storage"`
				SyncInterval time.Duration `json:"sync_interval"`
				SyncAlways   bool          `json:"sync_always"`
			}{MaxStore: size}
			f.Servers = append(f.Servers, s)
		}
		return f
	}
	synced := func(names ...string) (list []checkup.Server) {
		for _, name := range names {
			var s checkup.Server
			s.Name, s.Version = name, "2.15.2"
			s.JetStream.Config = &struct {
				MaxStore     int64         `json:"max_storage"`
				SyncInterval time.Duration `json:"sync_interval"`
				SyncAlways   bool          `json:"sync_always"`
			}{SyncAlways: true}
			list = append(list, s)
		}
		return list
	}
	used := func(bytes uint64, limit int64) (s checkup.Server) {
		text := fmt.Sprintf(`{"server_name": "n1", "jetstream": {"config": {"max_storage": %d}, "stats": {"storage": %d}}}`, limit, bytes)
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			t.Fatal(err)
		}
		return s
	}
	accountUse := func(limit int64, store uint64, streams int) *checkup.Facts {
		f := account(limit)
		f.Account.Store, f.Account.Limits.MaxStreams = store, streams
		return &f
	}
	wide := stream(jetstream.StreamConfig{Replicas: 1, DenyDelete: true}, nil)
	wide.Streams[0].Want.Replicas, wide.Servers = 1, synced("n1", "n2", "n3")
	partly := stream(jetstream.StreamConfig{Replicas: 3, DenyDelete: true}, peer(false))
	partly.Servers = synced("n1", "n2")
	tests := []struct {
		check string
		facts checkup.Facts
		judge func(*Report, *checkup.Facts)
		want  Status
		says  string
	}{
		{"nats version", checkup.Facts{Version: "2.15.1"}, (*Report).version, Problem, "the server has 2.15.1"},
		{"nats version", checkup.Facts{Version: "2.9.30"}, (*Report).version, Problem, "2.9.30"},
		{"nats version", checkup.Facts{Version: "2.15"}, (*Report).version, Problem, "the server has 2.15"},
		{"nats version", checkup.Facts{}, (*Report).version, Problem, "the server has "},
		{"nats version", checkup.Facts{Version: "2.15.2-RC.1"}, (*Report).version, OK, ""},
		{"nats version", checkup.Facts{Version: "2.16.0-preview.1"}, (*Report).version, OK, ""},
		{"nats version", checkup.Facts{Version: "3.0.0"}, (*Report).version, OK, ""},
		{"nats version", checkup.Facts{Version: "2.15.2", Servers: []checkup.Server{{Name: "n2", Version: "2.12.1"}}}, (*Report).version, Problem, "n2 has 2.12.1"},
		{"clocks", clock(900 * time.Millisecond), (*Report).clocks, OK, ""},
		{"clocks", clock(-5 * time.Second), (*Report).clocks, Warning, "n1 is -5s off"},
		{"clocks", clock(time.Hour), (*Report).clocks, Problem, "n1 is 1h0m0s off"},
		{"clocks", checkup.Facts{}, (*Report).clocks, Unknown, ""},
		{"max-history", account(100 << 30), judgeHistory, Warning, "16GiB for each organization: 7 organizations fill the store's 100GiB -> lower max-history to 12800MiB, or"},
		{"max-history", account(6372004993 * 2), judgeHistory, Warning, "16GiB for each organization: 1 organization fills the store's 11.9GiB -> lower max-history to 1519MiB, or"},
		{"max-history", account(200 << 30), judgeHistory, OK, "refused from 16GiB on; the store has 200GiB"},
		{"max-history", account(-1, 64<<30), judgeHistory, Warning, "4 organizations fill the store's 64GiB"},
		{"max-history", account(-1), judgeHistory, OK, "not known"},
		{"max-history", account(100<<30, 80<<30, 64<<30, 90<<30), judgeHistory, Warning, "fill the store's 64GiB"},
		{"max-history", account(64<<30, 100<<30), judgeHistory, Warning, "fill the store's 64GiB"},
		{"jetstream account", *accountUse(100, 86, -1), judgeAccount, Warning, "86 of 100 are used"},
		{"jetstream account", *accountUse(100, 85, -1), judgeAccount, OK, "85 used, of 100"},
		{"jetstream account", *accountUse(-1, 86, 1), judgeAccount, Problem, "only 1 stream"},
		{"jetstream account", *accountUse(-1, 86, len(wanted)), judgeAccount, OK, "86 used, no limit"},
		{"nats tls", checkup.Facts{}, judgeEncryption("nats://127.0.0.1:4222, nats://[::1]:4222"), OK, "stays on this machine"},
		{"nats tls", checkup.Facts{}, judgeEncryption("nats://10.0.0.5:4222,nats://127.0.0.1:4222"), Warning, "the connection is not encrypted"},
		{"nats tls", checkup.Facts{Encrypted: true}, judgeEncryption("nats://10.0.0.5:4222"), OK, "is encrypted"},
		{"nats sync", partly, (*Report).sync, Unknown, "each write is synced at n1, n2, but n3 did not report"},
		{"nats sync", checkup.Facts{Servers: synced("n1")}, (*Report).sync, OK, "n1"},
		{"nats sync", checkup.Facts{Servers: []checkup.Server{{}}}, (*Report).sync, Unknown, "does not show whether NATS syncs writes"},
		{"nats store", checkup.Facts{Servers: []checkup.Server{used(90, 100)}}, (*Report).space, Warning, "n1 uses 90 of 100 -> raise max_file_store"},
		{"jetstream permissions", checkup.Facts{Trial: errors.New("insufficient resources")}, (*Report).trial, Problem, "-> raise max_file_store of the NATS servers or the account's limit"},
		{"jetstream permissions", checkup.Facts{Ack: 200 * time.Millisecond}, (*Report).trial, OK, "a write took 200ms"},
		{"jetstream permissions", checkup.Facts{Ack: time.Second}, (*Report).trial, Warning, "a write took 1s"},
		{"streams", stream(jetstream.StreamConfig{Replicas: 3, DenyDelete: true}, peer(false)), judgeStreams, OK, ""},
		{"streams", stream(jetstream.StreamConfig{Replicas: 3, DenyDelete: true}, peer(true)), judgeStreams, Warning, "not up to date on n2"},
		{"streams", stream(jetstream.StreamConfig{Replicas: 3}, nil), judgeStreams, Problem, "allows the deletion of messages"},
		{"streams", stream(jetstream.StreamConfig{Replicas: 3, DenyDelete: true, Storage: jetstream.MemoryStorage}, nil), judgeStreams, Problem, "is in memory"},
		{"streams", stream(jetstream.StreamConfig{Replicas: 3, DenyDelete: true, PersistMode: jetstream.AsyncPersistMode}, nil), judgeStreams, Problem, "before they are on disk"},
		{"streams", stream(jetstream.StreamConfig{Replicas: 1, DenyDelete: true}, peer(false)), judgeStreams, Warning, "1 replica instead of 3"},
		{"streams", stream(jetstream.StreamConfig{Replicas: 3, DenyDelete: true}, &jetstream.ClusterInfo{}), judgeStreams, Problem, "no leader"},
		{"streams", wide, judgeStreams, Warning, "each stream is on only one of 3 servers"},
		{"streams", stream(jetstream.StreamConfig{Replicas: 3, DenyDelete: true, MaxMsgSize: 1 << 20}, nil), judgeStreams, Problem, "refuses messages above 1MiB"},
	}
	for _, test := range tests {
		r := Report{Status: OK}
		test.judge(&r, &test.facts)
		r.want(t, test.check, test.want, test.says)
		if r.Status != test.want {
			t.Errorf("%s: the status is %s, want %s", test.says, r.Status, test.want)
		}
	}
}

// TestNATS_Refused checks that an account without JetStream is a problem, and that the streams
// are judged nevertheless.
func TestNATS_Refused(t *testing.T) {
	r, c := Report{}, config.Default(config.Worker)
	dead := checkup.Stream{Want: jetstream.StreamConfig{Name: "GRIDHOOK_DEAD"}}
	dead.Is.State.Msgs = 2
	r.nats(&c, &checkup.Facts{Refused: errors.New("not enabled"), Streams: []checkup.Stream{dead}})
	r.want(t, "jetstream", Problem, "no information on this account: not enabled")
	r.want(t, "dead letters", Warning, "2 messages could not be processed")
}

func judgeHistory(r *Report, f *checkup.Facts) {
	c := config.Default(config.API)
	r.history(&c, storeOf(f, &f.Account.Tier))
}

func judgeAccount(r *Report, f *checkup.Facts) { r.account(&f.Account.Tier) }

func judgeEncryption(url string) func(*Report, *checkup.Facts) {
	return func(r *Report, f *checkup.Facts) {
		c := config.Default(config.Worker)
		c.NATS.URL = url
		r.encryption(&c, f)
	}
}
