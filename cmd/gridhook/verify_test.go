package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

const (
	hookSecret  = "whsec_bWluZW1pbmVtaW5lbWluZW1pbmVtaW5lbWluZTE="
	otherSecret = "whsec_dGhlaXJzdGhlaXJzdGhlaXJzdGhlaXJzdGhlaXI="
	hookBody    = `{"type":"webhook.test","data":{}}`
)

// signedHeaders are the headers of a webhook that was signed at a time.
func signedHeaders(t *testing.T, at time.Time) string {
	t.Helper()
	w, err := standardwebhooks.NewWebhook(hookSecret)
	if err != nil {
		t.Fatal(err)
	}
	signature, err := w.Sign("msg_1", at, []byte(hookBody))
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("webhook-id: msg_1\r\nwebhook-timestamp: %d\r\nwebhook-signature: %s\r\n", at.Unix(), signature)
}

func TestVerify(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	signed := time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)
	head := signedHeaders(t, signed)
	raw := "POST /hooks HTTP/1.1\r\n" + head + "\r\n" + hookBody
	request, headers, body := write("request.http", raw), write("headers.txt", head), write("body.json", hookBody)
	secret, empty := write("secret.txt", otherSecret+"\n"+hookSecret+"\n"), write("empty", "\n")
	at := "--at=2026-07-01T00:01:00Z"
	tests := []struct {
		name      string
		args      []string
		stdin     string
		env       string
		code      int
		out, says string
	}{
		{"a raw request", []string{request, at, "--secret", hookSecret}, "", "", 0, "verdict    verified\nmessage    msg_1\nsigned     2026-07-01T00:00:00Z\nsignature  v1, by secret 1\nbody       33 bytes\n", ""},
		{"standard input, the environment", []string{"-", "--any-age"}, raw, hookSecret, 0, "verified", ""},
		{"two files, a file of secrets", []string{"--headers", headers, "--body", body, at, "--secret-file", secret}, "", "", 0, "by secret 2", ""},
		{"JSON", []string{at, "--json"}, raw, hookSecret, 0, `"verified": true`, ""},
		{"too old", []string{"--secret", hookSecret}, raw, "", 1, "TIMESTAMP_TOO_OLD", "gridhook: the webhook does not verify: the signature is valid, but webhook-timestamp is"},
		{"a wrong secret", []string{"--secret", otherSecret, at}, raw, "", 1, "WRONG_SECRET", "no signature matches this secret"},
		{"a changed body", []string{"--secret", hookSecret, at}, raw + "\n", "", 1, "BODY_CHANGED", "a line end was added at its end"},
		{"a changed body, JSON", []string{"--secret", hookSecret, at, "--json"}, raw + "\n", "", 1, `"problem": "BODY_CHANGED"`, ""},
		{"no secret", []string{request}, "", "", 2, "", "give the secret with --secret-file, --secret or GRIDHOOK_WEBHOOK_SECRET"},
		{"no secret in the file", []string{request, "--secret-file", empty}, "", "", 2, "", "no secret in"},
		{"a secret that is none", []string{request}, "", "hush", 2, "", "GRIDHOOK_WEBHOOK_SECRET: a signing secret is whsec_ followed by base64"},
		{"half of two files", []string{"--headers", headers}, "", hookSecret, 2, "", "give both --headers and --body"},
		{"both forms", []string{"--headers", headers, "--body", body, request}, "", hookSecret, 2, "", "give either --headers and --body"},
		{"two requests", []string{request, request}, "", hookSecret, 2, "", "unexpected argument"},
		{"no such file", []string{request + "x"}, "", hookSecret, 1, "", "no such file"},
		{"no request", nil, "{}", hookSecret, 1, "", "no empty line"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := run(t, nil, test.stdin, append([]string{"verify"}, test.args...), "GRIDHOOK_WEBHOOK_SECRET="+test.env)
			if got.code != test.code || !strings.Contains(got.out, test.out) || !strings.Contains(got.err, test.says) {
				t.Errorf("exit %d\n%s%s", got.code, got.out, got.err)
			}
			if strings.Contains(got.err+got.out, "hush") || strings.Contains(got.err+got.out, otherSecret) {
				t.Error("the output has a secret")
			}
		})
	}
}
