package webhook

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

func newTestSigner(t testing.TB, secret string, expires time.Time) *Signer {
	t.Helper()
	s, err := NewSigner(secret, expires)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func secretOf(text string) string {
	return SecretPrefix + base64.StdEncoding.EncodeToString([]byte(text))
}

// verify checks a signature like a partner, with the standard webhooks library.
func verify(t testing.TB, secret, id, timestamp, signature string, body []byte) error {
	t.Helper()
	hook, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	return hook.VerifyIgnoringTimestamp(body, http.Header{
		"Webhook-Id": {id}, "Webhook-Timestamp": {timestamp}, "Webhook-Signature": {signature},
	})
}

func TestSign_Verifies(t *testing.T) {
	now := time.Unix(1782907200, 999_999_999)
	secret, old := secretOf(strings.Repeat("n", 24)), secretOf(strings.Repeat("o", 64))
	signers := []*Signer{newTestSigner(t, secret, time.Time{}), newTestSigner(t, old, now.Add(time.Second))}
	for _, body := range []string{`{"type":"price_signal.updated"}`, "", strings.Repeat("x", 100_000), "\x00\xff"} {
		timestamp, signed := Sign(signers, &Payload{ID: "msg_1", text: []byte(body)}, now)
		if timestamp != "1782907200" || len(strings.Fields(signed)) != 2 {
			t.Fatalf("signed at %s as %q", timestamp, signed)
		}
		for _, s := range []string{secret, old} { // both are valid during a rotation
			if err := verify(t, s, "msg_1", timestamp, signed, []byte(body)); err != nil {
				t.Errorf("body of %d bytes: %v", len(body), err)
			}
		}
		for what, err := range map[string]error{
			"another secret":    verify(t, secretOf(strings.Repeat("x", 24)), "msg_1", timestamp, signed, []byte(body)),
			"another id":        verify(t, secret, "msg_2", timestamp, signed, []byte(body)),
			"another timestamp": verify(t, secret, "msg_1", "1782907201", signed, []byte(body)),
			"another body":      verify(t, secret, "msg_1", timestamp, signed, []byte(body+" ")),
		} {
			if err == nil {
				t.Errorf("signature verifies with %s", what)
			}
		}
	}
}

func TestSign_ExpiredSecrets(t *testing.T) {
	now := time.Unix(1000, 0)
	secret, old := secretOf("new"), secretOf("old")
	for after, want := range map[time.Duration]int{-1: 2, 0: 2, 1: 1} {
		signers := []*Signer{newTestSigner(t, secret, time.Time{}), newTestSigner(t, old, now)}
		timestamp, signed := Sign(signers, &Payload{ID: "msg_1"}, now.Add(after))
		if n := len(strings.Fields(signed)); n != want {
			t.Errorf("%s after its expiry there are %d signatures, want %d", after, n, want)
		}
		if err := verify(t, secret, "msg_1", timestamp, signed, nil); err != nil {
			t.Errorf("new secret %s after the expiry: %v", after, err)
		}
	}
	if _, signed := Sign(nil, &Payload{ID: "msg_1"}, now); signed != "" {
		t.Errorf("header without secrets is %q", signed)
	}
}

func TestSign_WrongSecret(t *testing.T) {
	for _, secret := range []string{"", "whsec", "c2VjcmV0", "whsec_*", "whsec_c2VjcmV", "WHSEC_c2VjcmV0"} {
		if _, err := NewSigner(secret, time.Time{}); err == nil || secret != "" && strings.Contains(err.Error(), secret+" ") {
			t.Errorf("%q: %v", secret, err)
		}
	}
}

// Many goroutines use one signer.
func TestSigners_Shared(t *testing.T) {
	s := newTestSigner(t, secretOf("secret"), time.Time{})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			body := []byte(strings.Repeat(strconv.Itoa(i), 1000))
			want := string(s.appendSignature(nil, &Payload{ID: "msg"}, "1", body))
			p := Payload{ID: "msg", signing: make([]byte, 0, 64)}
			for range 200 {
				if got := string(s.appendSignature(nil, &p, "1", body)); got != want {
					t.Errorf("%q and %q sign the same", got, want)
				}
			}
		})
	}
	wg.Wait()
}

// These are the vectors of Project Wycheproof: a signer's keyed hash makes the given
// tags.
func TestSign_Wycheproof(t *testing.T) {
	dir := os.Getenv("GRIDHOOK_TESTDATA")
	if dir == "" {
		t.Skip("GRIDHOOK_TESTDATA is not set: no vectors")
	}
	text, err := os.ReadFile(filepath.Join(dir, "corpora", "wycheproof", "hmac_sha256_test.json"))
	if err != nil {
		t.Fatal(err)
	}
	var vectors struct {
		TestGroups []struct {
			Tests []struct{ Key, Msg, Tag, Result string }
		}
	}
	if err := json.Unmarshal(text, &vectors); err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, g := range vectors.TestGroups {
		for _, v := range g.Tests {
			key, err1 := hex.DecodeString(v.Key)
			msg, err2 := hex.DecodeString(v.Msg)
			tag, err3 := hex.DecodeString(v.Tag)
			if err := errors.Join(err1, err2, err3); err != nil {
				t.Fatal(err)
			}
			h := newTestSigner(t, secretOf(string(key)), time.Time{}).pool.Get().(hash.Hash)
			h.Write(msg)
			if same := bytes.Equal(h.Sum(nil)[:len(tag)], tag); same != (v.Result == "valid") {
				t.Errorf("the tag %s of %s with %s is %s, and ours is equal: %v", v.Tag, v.Msg, v.Key, v.Result, same)
			}
			tried++
		}
	}
	if tried < 100 {
		t.Errorf("only %d vectors", tried)
	}
}
