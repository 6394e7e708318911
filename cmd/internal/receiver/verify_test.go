package receiver

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"pgregory.net/rapid"
)

const (
	mine   = "whsec_bWluZW1pbmVtaW5lbWluZW1pbmVtaW5lbWluZTE="
	theirs = "whsec_dGhlaXJzdGhlaXJzdGhlaXJzdGhlaXJzdGhlaXI="
	event  = `{"type":"price_signal.updated","data":{"homeId":"home-1","sequence":3,"prices":[0.25]}}`
)

var arrival = time.Unix(1782907200, 0)

// pair is a public key as partners have it, and its private key.
func pair(seed byte) (public string, private ed25519.PrivateKey) {
	private = ed25519.NewKeyFromSeed([]byte(strings.Repeat(string(rune(seed)), ed25519.SeedSize)))
	return publicKeyPrefix + base64.StdEncoding.EncodeToString(private.Public().(ed25519.PublicKey)), private
}

// signed returns the headers of a delivery that the secrets signed. A private key stands
// for Ed25519.
func signed(t interface {
	Helper()
	Fatal(args ...any)
}, id string, at time.Time, body string, by ...any) http.Header {
	t.Helper()
	var all []string
	for _, key := range by {
		switch key := key.(type) {
		case string:
			w, err := standardwebhooks.NewWebhook(key)
			if err != nil {
				t.Fatal(err)
			}
			s, err := w.Sign(id, at, []byte(body))
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, s)
		case ed25519.PrivateKey:
			content := id + "." + strconv.FormatInt(at.Unix(), 10) + "." + body
			all = append(all, "v1a,"+base64.StdEncoding.EncodeToString(ed25519.Sign(key, []byte(content))))
		}
	}
	h := http.Header{}
	h.Set("webhook-id", id)
	h.Set("webhook-timestamp", strconv.FormatInt(at.Unix(), 10))
	h.Set("webhook-signature", strings.Join(all, " "))
	return h
}

func newTestVerifier(t testing.TB, secrets ...string) *Verifier {
	t.Helper()
	v, err := NewVerifier(secrets...)
	if err != nil {
		t.Fatal(err)
	}
	v.Now = func() time.Time { return arrival }
	return v
}

// changed returns a delivery with changed headers.
func changed(h http.Header, name, value string) http.Header {
	h = h.Clone()
	if h.Del(name); value != "" {
		h.Set(name, value)
	}
	return h
}

func TestVerify(t *testing.T) {
	public, private := pair('a')
	otherPublic, _ := pair('b')
	good := signed(t, "msg_1", arrival, event, mine)
	both := signed(t, "msg_1", arrival, event, private, mine)
	tests := []struct {
		name    string
		secrets []string
		header  http.Header
		body    string
		problem string // "" if it verifies
		says    string
	}{
		{"right", []string{mine}, good, event, "", ""},
		{"the second secret", []string{theirs, mine}, good, event, "", ""},
		{"the second signature", []string{mine}, signed(t, "msg_1", arrival, event, theirs, mine), event, "", ""},
		{"Ed25519", []string{public}, both, event, "", ""},
		{"HMAC beside Ed25519", []string{mine}, both, event, "", ""},
		{"300 s old", []string{mine}, signed(t, "msg_1", arrival.Add(-Tolerance), event, mine), event, "", ""},
		{"301 s old", []string{mine}, signed(t, "msg_1", arrival.Add(-Tolerance-time.Second), event, mine), event, ProblemTooOld, "5m1s old"},
		{"301 s ahead", []string{mine}, signed(t, "msg_1", arrival.Add(Tolerance+time.Second), event, mine), event, ProblemTooNew, "5m1s ahead"},
		{"two headers missing", []string{mine}, changed(changed(good, "webhook-id", ""), "webhook-signature", ""), event, ProblemHeaders, "webhook-id, webhook-signature"},
		{"a timestamp in words", []string{mine}, changed(good, "webhook-timestamp", "now"), event, ProblemHeaders, `"now" is not a time`},
		{"a timestamp beyond the year 9999", []string{mine}, changed(good, "webhook-timestamp", "99999999999999999"), event, ProblemHeaders, `"99999999999999999" is not a time`},
		{"no signature", []string{mine}, changed(good, "webhook-signature", "v1"), event, ProblemHeaders, `"v1" is not a version`},
		{"another's secret", []string{theirs}, good, event, ProblemSecret, "no signature matches this secret"},
		{"another's public key", []string{otherPublic}, both, event, ProblemSecret, "no signature"},
		{"another's secret, decompressed by a framework", []string{theirs}, changed(changed(good, "Content-Encoding", "gzip"), "Content-Length", "9"), event, ProblemSecret, "no signature"},
		{"another id", []string{mine}, changed(good, "webhook-id", "msg_2"), event, ProblemSecret, "webhook-id"},
		{"a secret for Ed25519", []string{mine}, signed(t, "msg_1", arrival, event, private), event, ProblemKind, "publicKey"},
		{"a public key for HMAC", []string{public}, good, event, ProblemKind, "whsec_"},
		{"a line end behind", []string{mine}, good, event + "\n", ProblemBody, "a line end was added"},
		{"a line end less", []string{mine}, signed(t, "msg_1", arrival, event+"\n", mine), event, ProblemBody, "removed"},
		{"reformatted", []string{mine}, good, strings.ReplaceAll(event, ",", ", "), ProblemBody, "reformatted"},
		{"formatted anew, Ed25519", []string{public}, both, strings.ReplaceAll(event, ":", ": "), ProblemBody, "reformatted"},
		{"a byte order mark", []string{mine}, good, "\ufeff" + event, ProblemBody, "byte order mark"},
		{"cut", []string{mine}, good, event[:20], ProblemBody, "not complete JSON"},
		{"shorter than said", []string{mine}, changed(good, "Content-Length", "999"), strings.ReplaceAll(event, "0.25", "0.2"), ProblemBody, "Content-Length is 999"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d, err := newTestVerifier(t, test.secrets...).Verify(test.header, []byte(test.body))
			if test.problem == "" {
				if err != nil || d.ID != "msg_1" || d.Secret != len(test.secrets) {
					t.Fatalf("%+v, %v", d, err)
				}
				return
			}
			var problem *Problem
			if !errors.As(err, &problem) || problem.Code != test.problem || !strings.Contains(problem.Message, test.says) {
				t.Errorf("it is %v, want %s: %s", err, test.problem, test.says)
			}
			if strings.Contains(problem.Message, mine) || strings.Contains(problem.Message, theirs) {
				t.Errorf("the error has a secret: %s", problem.Message)
			}
		})
	}
}

func TestVerify_AnyAge(t *testing.T) {
	v := newTestVerifier(t, mine)
	v.AnyAge = true
	if _, err := v.Verify(signed(t, "msg_1", arrival.AddDate(-1, 0, 0), event, mine), []byte(event)); err != nil {
		t.Error(err)
	}
}

func TestWrongSecrets(t *testing.T) {
	for _, secret := range []string{"", "secret", "whsec_", "whsec_?", "whpk_", "whpk_AAAA", "whsk_" + strings.Repeat("A", 88), "bWluZQ=="} {
		if _, err := NewVerifier(secret); err == nil || len(secret) > 6 && strings.Contains(err.Error(), secret) {
			t.Errorf("the result of %q is %v", secret, err)
		}
	}
}

// A change of any single byte of the signed content does not verify.
func TestVerify_Tampered(t *testing.T) {
	public, private := pair('a')
	v := newTestVerifier(t, mine, public)
	v.AnyAge = true
	rapid.Check(t, func(t *rapid.T) {
		body := rapid.SliceOfN(rapid.Byte(), 1, 100).Draw(t, "body")
		h := signed(t, "msg_1", arrival, string(body), mine, private)
		if _, err := v.Verify(h, body); err != nil {
			t.Fatalf("unchanged: %v", err)
		}
		switch rapid.IntRange(0, 2).Draw(t, "what") {
		case 0:
			body[rapid.IntRange(0, len(body)-1).Draw(t, "at")] ^= byte(rapid.IntRange(1, 255).Draw(t, "by"))
		case 1:
			h.Set("webhook-id", "msg_"+rapid.StringMatching(`[02-9][0-9]{0,5}`).Draw(t, "id"))
		default:
			h.Set("webhook-timestamp", strconv.FormatInt(arrival.Unix()+rapid.Int64Range(1, 1e6).Draw(t, "later"), 10))
		}
		if _, err := v.Verify(h, body); err == nil {
			t.Fatal("the changed delivery verifies")
		}
	})
}
