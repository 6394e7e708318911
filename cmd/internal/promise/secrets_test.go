package promise

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"filippo.io/age"

	"github.com/gridhook/gridhook/cmd/internal/blackbox"
)

// secrets are the values that must not be visible, by name: each as text, and as the
// bytes that the text encodes.
type secrets map[string][][]byte

func (s secrets) add(name, text string) {
	text = strings.TrimSpace(text)
	s[name] = append(s[name], []byte(text))
	_, tail, prefixed := strings.Cut(text, "_")
	if !prefixed {
		tail = text
	}
	const enough = 16 // fewer bytes occur by chance
	if raw, err := base64.StdEncoding.DecodeString(tail); err == nil && len(raw) >= enough {
		s[name] = append(s[name], raw)
	}
}

// find returns the names of the secrets in a text.
func (s secrets) find(t *testing.T, where string, text []byte) {
	t.Helper()
	for name, forms := range s {
		for _, form := range forms {
			if bytes.Contains(text, form) {
				t.Errorf("%s: the %s is in it", where, name)
			}
		}
	}
}

// whole is a process with its complete log.
func whole(t *testing.T, data string, env ...string) (*process, *bytes.Buffer) {
	t.Helper()
	logs := &bytes.Buffer{}
	running, err := blackbox.StartGridhook(blackbox.Run{
		Binary: binaries.Gridhook, Role: "serve", Data: data, Args: []string{"--log-level", "debug", "--profiles"}, Env: env, Log: logs, Patience: patience,
	})
	if err != nil {
		t.Fatalf("%v\n%s", err, logs)
	}
	t.Cleanup(running.Kill)
	return newProcess(t, running), logs
}

// ask sends a request and ignores errors.
func ask(t *testing.T, method, url, key, body string) []byte {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("x-ws-api-key", key)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// The test does everything once, with valid and invalid input. Then no secret may be in
// logs, responses, output, metrics, stored data or backups.
func TestSecrets_NeverShown(t *testing.T) {
	t.Parallel()
	const homes = 60
	master := base64.StdEncoding.EncodeToString([]byte("a master key of exactly 32 bytes"))
	keyFile, recipient := keygen(t)
	data := t.TempDir()
	spans := newSpans(t)
	collectorKey := "collector-key-of-an-operator-0123456789"
	smtpPassword := "smtp-password-of-an-operator-0123456789"
	smtpURL := "smtp://gridhook:" + smtpPassword + "@127.0.0.1:1" // nothing listens there
	p, logs := whole(t, data, "GRIDHOOK_MASTER_KEY="+master, "GRIDHOOK_TRACE_ENDPOINT="+spans.url, "GRIDHOOK_TRACE_HEADERS=authorization="+collectorKey,
		"GRIDHOOK_SMTP_URL="+smtpURL, "GRIDHOOK_SMTP_FROM=gridhook@operator.example",
		"GRIDHOOK_OPENADR=true", "GRIDHOOK_OPENADR_VERIFY_CALLBACKS=false")
	acme := furnish(t, p, homes)
	hidden := secrets{}
	hidden.add("master key", master)
	hidden.add("collector's key", collectorKey)
	hidden.add("SMTP server's password", smtpPassword)
	hidden.add("operator's key", readFile(t, filepath.Join(data, "operator.key")))
	hidden.add("API key's secret", acme.key[strings.LastIndex(acme.key, "_")+1:])
	identity := readFile(t, keyFile)
	hidden.add("key to backups", identity[strings.Index(identity, "AGE-SECRET-KEY"):])

	r := newReceiver(t)
	r.answer = flaky
	acme.register(r, map[string]any{"initialSeconds": 1, "multiplier": 2, "maxSeconds": 2, "giveUpSeconds": 600})
	own := "whsec_" + base64.StdEncoding.EncodeToString([]byte("a partner's own secret, 32 bytes"))
	made := decode[struct{ ID, Secret string }](t, string(acme.call("/v1/webhook/endpoints/create", map[string]any{"url": r.url, "eventTypes": []string{"webhook.test"}, "secret": own})))
	hidden.add("endpoint's own secret", own)
	rotated := decode[struct{ Secret string }](t, string(acme.call("/v1/webhook/endpoints/"+made.ID+"/rotate_secret", map[string]any{})))
	hidden.add("endpoint's new secret", rotated.Secret)
	ed25519 := acme.call("/v1/webhook/endpoints/create", map[string]any{"url": r.url, "eventTypes": []string{"webhook.test"}, "signature": "ed25519"})
	if bytes.Contains(ed25519, []byte("whsk_")) {
		t.Errorf("a response has a private key: %s", ed25519)
	}
	echo := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = fmt.Fprintln(w, r.URL, r.Header)
	}))
	t.Cleanup(echo.Close)
	bearer, clientSecret := "bearer-token-of-a-partner-0123456789", "client-secret-of-a-partner-0123456789"
	hidden.add("bearer token", bearer)
	hidden.add("client secret of OAuth", clientSecret)
	for _, authentication := range []map[string]any{
		{"type": "bearer", "token": bearer},
		{"type": "oauth2", "tokenUrl": r.url + "/token", "clientId": "gridhook", "clientSecret": clientSecret},
	} {
		answer := acme.call("/v1/webhook/endpoints/create", map[string]any{"url": echo.URL, "eventTypes": []string{"webhook.test"}, "authentication": authentication})
		hidden.find(t, "the answer to creating an endpoint", answer)
		hidden.find(t, "its test", acme.call("/v1/webhook/endpoints/"+decode[struct{ ID string }](t, string(answer)).ID+"/test", map[string]any{}))
	}
	headerValue, query := "header-value-of-a-partner-0123456789", "query-of-a-partner-0123456789"
	hidden.add("custom header's value", headerValue)
	hidden.add("URL's query", query)
	custom := acme.call("/v1/webhook/endpoints/create", map[string]any{"url": echo.URL + "/?sig=" + query, "eventTypes": []string{"price_signal.trigger.completed"}, "headers": map[string]string{"X-Token": headerValue}})
	hidden.find(t, "the answer to creating an endpoint", custom)
	hidden.find(t, "its test", acme.call("/v1/webhook/endpoints/"+decode[struct{ ID string }](t, string(custom)).ID+"/test", map[string]any{}))
	chat := "path-of-a-chat-of-a-partner-0123456789"
	hidden.add("channel's URL", chat)
	for kind, address := range map[string]string{"SLACK": r.url + "/" + chat, "TEAMS": "http://127.0.0.1:1/" + chat, "EMAIL": "ops@acme.example"} {
		answer := acme.call("/v1/channels/create", map[string]any{"kind": kind, "address": address})
		hidden.find(t, "the answer to creating a channel", answer)
		hidden.find(t, "its test", acme.call("/v1/channels/"+decode[struct{ ID string }](t, string(answer)).ID+"/test", map[string]any{}))
	}
	importSecrets(t, p, hidden)
	subscribe(t, p, readFile(t, filepath.Join(data, "operator.key")), hidden)
	acme.delivered(acme.trigger(), homes)

	// These requests are invalid, and have secrets in wrong places.
	for _, place := range []string{"/v1/homes/" + acme.key + "/price_signal", "/v1/webhook/endpoints/create", "/v1/feedback", "/nowhere/" + rotated.Secret} {
		for _, body := range []string{`{"url":"` + own + `"}`, `{"secret":"` + own + `x"}`, own, `{"url":1,"secret":{}}`} {
			_ = ask(t, http.MethodPost, p.api+place, acme.key, body)
			_ = ask(t, http.MethodPost, p.api+place, acme.key+"x", body)
			_ = ask(t, http.MethodPost, p.admin+place, readFile(t, filepath.Join(data, "operator.key"))[:10], body)
		}
	}

	// These are responses, output and metrics.
	operator := strings.TrimSpace(readFile(t, filepath.Join(data, "operator.key")))
	for _, path := range []string{"/", "/metrics", "/readyz", "/openapi.json", "/debug/pprof/goroutine?debug=2"} {
		hidden.find(t, "GET "+path, ask(t, http.MethodGet, p.admin+path, operator, ""))
		hidden.find(t, "GET "+path+" for partners", ask(t, http.MethodGet, p.api+path, acme.key, ""))
	}
	for _, path := range []string{
		"/v1/webhook/endpoints/list", "/v1/webhook/endpoints/" + made.ID + "/get", "/v1/webhook/deliveries/list", "/v1/webhook/price_signal/trigger/list",
		"/v1/webhook/endpoints/" + made.ID + "/test", "/v1/channels/list",
	} {
		hidden.find(t, path, ask(t, http.MethodPost, p.api+path, acme.key, ""))
	}
	hidden.find(t, "the operator's list of keys", ask(t, http.MethodPost, p.admin+"/v1/admin/keys/list", operator, `{"organizationId":"`+organization+`"}`))
	for _, args := range []string{"org list --json", "key list --org acme --json", "endpoint list --org acme --json", "org export acme", "delivery list --org acme --json"} {
		hidden.find(t, "gridhook "+args, []byte(p.command(strings.Fields(args)...)))
	}
	settings, err := command(t, []string{"GRIDHOOK_MASTER_KEY=" + master, "GRIDHOOK_OPERATOR_KEY=" + operator, "GRIDHOOK_TRACE_HEADERS=authorization=" + collectorKey, "GRIDHOOK_SMTP_URL=" + smtpURL, "GRIDHOOK_SMTP_FROM=gridhook@operator.example"}, "serve", "--print-config")
	if err != nil {
		t.Error(settings)
	}
	hidden.find(t, "--print-config", []byte(settings))
	said, _ := command(t, []string{"GRIDHOOK_MASTER_KEY=" + master, "GRIDHOOK_OPERATOR_KEY=" + operator, "GRIDHOOK_DATA=" + data}, "doctor", "--json", "--admin", "127.0.0.1:1")
	hidden.find(t, "gridhook doctor", []byte(said))

	// These are backups, also as their recipients can read them.
	file := filepath.Join(t.TempDir(), "gridhook.backup")
	p.command("backup", file, "--recipient", recipient)
	hidden.find(t, "the backup", []byte(readFile(t, file)))
	inside := 0
	readBackup(t, file, identity, func(name string, text []byte) {
		inside++
		hidden.find(t, "in the backup "+name, text)
		for line := range bytes.Lines(text) {
			var m struct{ Data []byte }
			if json.Unmarshal(line, &m) == nil {
				hidden.find(t, "in a message of the backup, "+name, m.Data)
			}
		}
	})
	if inside < 5 {
		t.Errorf("%d files are in the backup", inside)
	}
	p.stop()
	hidden.find(t, "what was logged", logs.Bytes())
	hidden.find(t, "the spans", spans.received())
	atRest(t, hidden, data)
	if logs.Len() < 1000 {
		t.Errorf("the log has %d bytes", logs.Len())
	}
}

// importSecrets imports a key and a channel. Only the response shows the key's new secret.
func importSecrets(t *testing.T, p *process, hidden secrets) {
	t.Helper()
	chat := "path-of-an-imported-chat-0123456789"
	hidden.add("imported channel's URL", chat)
	file := filepath.Join(t.TempDir(), "import.ndjson")
	lines := `{"resource":"key","organizationId":"acme","keyId":"key_imported","scopes":["read"]}
{"resource":"channel","organizationId":"acme","id":"imported","kind":"TEAMS","address":"http://127.0.0.1:1/` + chat + `"}`
	if err := os.WriteFile(file, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	made := p.command("import", file)
	hidden.find(t, "the report of an import", []byte(made))
	_, secret, _ := strings.Cut(made, "ghk_key_imported_")
	secret, _, _ = strings.Cut(secret, ";")
	if len(secret) < 32 {
		t.Fatalf("the import made no secret: %s", made)
	}
	hidden.add("imported key's secret", secret)
}

// readBackup passes each file of a backup to a function.
func readBackup(t *testing.T, path, key string, take func(name string, data []byte)) {
	t.Helper()
	identities, err := age.ParseIdentities(strings.NewReader(key))
	if err != nil {
		t.Fatal(err)
	}
	opened, err := age.Decrypt(strings.NewReader(readFile(t, path)), identities...)
	if err != nil {
		t.Fatal(err)
	}
	unpacked, err := gzip.NewReader(opened)
	if err != nil {
		t.Fatal(err)
	}
	for in := tar.NewReader(unpacked); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		take(h.Name, data)
	}
}

// spans is a collector of traces that stores the spans.
type spans struct {
	t   *testing.T
	url string

	mu   sync.Mutex
	text []byte
}

func newSpans(t *testing.T) *spans {
	s := &spans{t: t}
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		unpacked, err := gzip.NewReader(r.Body)
		if err != nil {
			t.Error(err)
			return
		}
		text, err := io.ReadAll(unpacked)
		if err != nil {
			t.Error(err)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.text = append(s.text, text...)
	}))
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

// received returns the spans, as protocol buffers.
func (s *spans) received() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !bytes.Contains(s.text, []byte("walk slice")) || !bytes.Contains(s.text, []byte("/v1/webhook/endpoints/create")) {
		s.t.Errorf("%d bytes of spans arrived, without a span of the walk or of a request", len(s.text))
	}
	return s.text
}

// atRest checks every file of a data folder except the operator's key.
func atRest(t *testing.T, hidden secrets, data string) {
	t.Helper()
	looked := 0
	err := filepath.WalkDir(data, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || entry.Name() == "operator.key" {
			return err
		}
		looked++
		hidden.find(t, strings.TrimPrefix(path, data), []byte(readFile(t, path)))
		if info, err := entry.Info(); err == nil && info.Mode().Perm()&0o007 != 0 {
			t.Errorf("%s can be read by everybody (mode %#o)", path, info.Mode().Perm())
		}
		return nil
	})
	if err != nil || looked < 5 {
		t.Errorf("%d files were checked, %v", looked, err)
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A missing or wrong master key stops the start with one sentence.
func TestSecrets_LockedVault(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	key := func(text string) string {
		return "GRIDHOOK_MASTER_KEY=" + base64.StdEncoding.EncodeToString([]byte(text))
	}
	p, _ := whole(t, data, key("a master key of exactly 32 bytes"))
	p.stop()
	for says, env := range map[string][]string{
		"give it by GRIDHOOK_MASTER_KEY or --master-key-file": nil,
		"not among the given keys: give it by":                {key("another one of exactly 32 bytes!")},
		"must be the base64 of 32 random":                     {"GRIDHOOK_MASTER_KEY=secret-and-short"},
	} {
		cmd := exec.CommandContext(t.Context(), binaries.Gridhook, "serve", "--data", data, "--http", "127.0.0.1:0", "--admin", "127.0.0.1:0")
		cmd.Env = append(blackbox.Environ(), env...)
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), says) || strings.Contains(string(out), "secret-and-short") {
			t.Errorf("%v: %s", err, out)
		}
	}
	p, _ = whole(t, data, key("a master key of exactly 32 bytes"))
	p.stop()
}
