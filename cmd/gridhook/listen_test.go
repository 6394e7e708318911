package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/cmd/internal/receiver"
)

// listening runs the listen command with flags until the test calls stop, which returns
// the output.
func listening(t *testing.T, args ...string) (url string, stop func() string) {
	t.Helper()
	var out strings.Builder
	url, end := listeningTo(t, &out, args...)
	return url, func() string {
		code, errs := end()
		if code != 0 {
			t.Errorf("exit %d", code)
		}
		return out.String() + errs
	}
}

// listeningTo is listening with an output. stop returns the exit code and what is on standard
// error after the first line.
func listeningTo(t *testing.T, out io.Writer, args ...string) (url string, stop func() (int, string)) {
	t.Helper()
	errs, to := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	g := &globals{out: out, err: to, environ: []string{contextsEnv + "=" + filepath.Join(t.TempDir(), "none"), operatorKeyEnv + "=" + testKey}}
	code := make(chan int, 1)
	go func() {
		code <- g.execute(ctx, append([]string{"listen", "--address", "127.0.0.1:0"}, args...))
		_ = to.Close()
	}()
	lines := bufio.NewReader(errs)
	first, err := lines.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	url = regexp.MustCompile(`http://[^;]+`).FindString(first)
	said := make(chan string, 1)
	go func() {
		rest, _ := io.ReadAll(lines) // a part fails the test
		said <- string(rest)
	}()
	return url, func() (int, string) {
		cancel()
		return <-code, <-said
	}
}

// fullOutput is the output on a full disk.
type fullOutput struct{}

func (fullOutput) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

// TestListen_OutputFull checks that a command that could not print a webhook fails at its end.
func TestListen_OutputFull(t *testing.T) {
	url, stop := listeningTo(t, fullOutput{}, "--secret", hookSecret)
	status := deliver(t, url)
	if code, said := stop(); status != 503 || code != exitFailure || !strings.Contains(said, "gridhook: 1 request not printed or saved") {
		t.Errorf("response %d, exit %d\n%s", status, code, said)
	}
}

func deliver(t *testing.T, url string) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(hookBody))
	if err != nil {
		t.Fatal(err)
	}
	if request.Header, err = receiver.ReadHeaders([]byte(signedHeaders(t, time.Now()))); err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	return response.StatusCode
}

func TestListen(t *testing.T) {
	tests := []struct {
		name   string
		args   []string
		status int
		says   string // of the delivery, and at the end
	}{
		{"verified", []string{"--secret", hookSecret}, 204, "msg_1 webhook.test  verified\n1 message, 0 repeated, 0 refused, 0 failed\n"},
		{"one of two secrets", []string{"--secret", otherSecret, "--secret", hookSecret}, 204, "verified\n1 message"},
		{"unverified", []string{"--unverified"}, 204, "unverified\n1 message"},
		{"without a secret", nil, 401, "REFUSED: no secret to verify with"},
		{"refused", []string{"--secret", otherSecret}, 401, "REFUSED: no signature matches this secret"},
		{"failing", []string{"--secret", hookSecret, "--fail", "100%", "--fail-status", "410"}, 410, "verified, response 410 (simulated fault)\n0 messages, 0 repeated, 0 refused, 1 failed\n"},
		{"JSON", []string{"--secret", hookSecret, "--json"}, 204, hookBody + "\n1 message"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			url, stop := listening(t, test.args...)
			status := deliver(t, url)
			if said := stop(); status != test.status || !strings.Contains(said, test.says) {
				t.Errorf("response %d, output\n%s", status, said)
			}
		})
	}
}

// JSON has only events, each in one line. Other deliveries go to standard error.
func TestListen_JSON(t *testing.T) {
	var out, errs strings.Builder
	g := &globals{out: &out, err: &errs, output: outputJSON}
	for _, e := range []receiver.Event{
		{ID: "msg_1", Body: []byte("{}"), Problem: "no signature matches"},
		{ID: "msg_2", Body: []byte("{\n}"), Verified: true},
		{ID: "msg_3", Body: []byte("text"), Verified: true, Problem: "the body is not an event"},
	} {
		if err := g.showEvent(e, e.ID != "msg_3"); err != nil {
			t.Error(err)
		}
	}
	said := errs.String()
	if out.String() != "{}\n" || !strings.Contains(said, "msg_1   REFUSED: no signature") || !strings.Contains(said, "msg_3   unverified, the body is not an event") {
		t.Errorf("it prints\n%sand on standard error\n%s", out.String(), said)
	}
}

// With a public URL the command registers an endpoint, and deletes it at the end.
func TestListen_PublicURL(t *testing.T) {
	f := newFake(t)
	f.on("/v1/webhook/endpoints/create", ok(strings.Replace(endpointJSON, "{", `{"secret":"`+hookSecret+`",`, 1)))
	f.on("/v1/webhook/endpoints/ep_1/delete", ok(`{"id":"ep_1","deleted":true}`))
	url, stop := listening(t, "--org", "acme", "--admin-url", f.URL, "--public-url", "https://tunnel.example/")
	if r := f.last(); r.org != "acme" || !sameJSON(t, r.body, `{"url":"https://tunnel.example/","description":"gridhook listen (temporary)"}`) {
		t.Errorf("it sent %+v", r)
	}
	if status := deliver(t, url); status != 204 {
		t.Errorf("response %d", status)
	}
	if said := stop(); !strings.Contains(said, "1 message") || !strings.HasSuffix(said, "temporary endpoint ep_1 removed\n") || f.last().path != "/v1/webhook/endpoints/ep_1/delete" {
		t.Errorf("output\n%s and last request %s", said, f.last().path)
	}
}

// One listener forwards to another, and both verify the webhook.
func TestListen_Forward(t *testing.T) {
	inner, stopInner := listening(t, "--secret", hookSecret, "--fail", "1")
	outer, stopOuter := listening(t, "--secret", hookSecret, "--forward", inner+"/hooks")
	if status := deliver(t, outer); status != 500 {
		t.Errorf("response %d", status)
	}
	if said := stopOuter(); !strings.Contains(said, "verified, forwarded, response 500\n") {
		t.Errorf("the outer listener printed\n%s", said)
	}
	if said := stopInner(); !strings.Contains(said, "verified, response 500 (simulated fault)\n") {
		t.Errorf("the inner listener printed\n%s", said)
	}
}

// A saved delivery verifies, and a name outside the folder saves no file.
func TestListen_Save(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "requests")
	url, stop := listening(t, "--secret", hookSecret, "--save", folder)
	deliver(t, url)
	stop()
	got := run(t, nil, "", []string{"verify", filepath.Join(folder, "msg_1.http"), "--secret", hookSecret})
	if got.code != 0 || !strings.Contains(got.out, "verified") {
		t.Errorf("exit %d\n%s%s", got.code, got.out, got.err)
	}
	if err := saveEvent(folder, receiver.Event{ID: "../msg_2", Header: http.Header{}}); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(folder, "unnamed.http")); err != nil {
		t.Error(err)
	}
}

func TestListen_Usage(t *testing.T) {
	tests := []struct{ args, says string }{
		{"--secret hush", "--secret: a signing secret is whsec_ followed by base64"},
		{"--fail 2", `must be a fraction such as 0.2 or a percentage such as 20%, not "2"`},
		{"--fail 60% --hang 0.5", "must be at most 1 together"},
		{"--fail-status 200", "from 300 to 599, not 200"},
		{"--forward localhost:3000", "--forward must be a URL such as http://127.0.0.1:3000/hooks"},
		{"--slow -1s", "must not be negative"},
		{"--address x --public-url https://tunnel.example --secret " + hookSecret, "--public-url has a secret of its own: omit --unverified, --secret, --secret-file and GRIDHOOK_WEBHOOK_SECRET"},
		{"--address 127.0.0.1:9000 --org acme --admin-url http://127.0.0.1:1", "--address needs a secret, --public-url or --unverified"},
		{"--address x --public-url https://tunnel.example --unverified", "--public-url has a secret of its own"},
	}
	for _, test := range tests {
		got := run(t, nil, "", append([]string{"listen"}, strings.Fields(test.args)...))
		if got.code != exitUsage || !strings.Contains(got.err, test.says) || strings.Contains(got.err, "hush") {
			t.Errorf("%s: exit %d, %s", test.args, got.code, got.err)
		}
	}
}

// Terminals get colors. Other outputs get the same text without them.
func TestListen_Colors(t *testing.T) {
	e := receiver.Event{Verified: true, Status: 500, Fault: true}
	if got := (painter{}).verdict(e, true); got != "verified, response 500 (simulated fault)" {
		t.Errorf("without colors %q", got)
	}
	if got := (painter{on: true}).verdict(e, true); got != "\x1b[32mverified\x1b[0m, \x1b[31mresponse 500 (simulated fault)\x1b[0m" {
		t.Errorf("with colors %q", got)
	}
	if (&globals{}).painter(&strings.Builder{}).on {
		t.Error("a file has colors")
	}
}
