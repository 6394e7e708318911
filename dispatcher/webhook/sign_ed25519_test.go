package webhook

import (
	"crypto/ed25519"
	"encoding/base64"
	"strings"
	"testing"
	"time"
)

// During a change from HMAC to Ed25519 a webhook has both signatures. Each signature
// verifies alone.
func TestSign_Ed25519(t *testing.T) {
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Unix(1782907200, 0)
	old := secretOf(strings.Repeat("o", 32))
	key := PrivateKeyPrefix + base64.StdEncoding.EncodeToString(private)
	signers := []*Signer{newTestSigner(t, key, time.Time{}), newTestSigner(t, old, now.Add(time.Hour))}
	body := []byte(`{"type":"price_signal.updated"}`)
	timestamp, signed := Sign(signers, &Payload{ID: "msg_1", text: body}, now)
	both := strings.Fields(signed)
	if len(both) != 2 {
		t.Fatalf("signed as %q", signed)
	}
	text, ok := strings.CutPrefix(both[0], "v1a,")
	raw, err := base64.StdEncoding.DecodeString(text)
	if !ok || err != nil {
		t.Fatalf("%q is not a v1a signature: %v", both[0], err)
	}
	if !ed25519.Verify(public, []byte("msg_1."+timestamp+"."+string(body)), raw) {
		t.Error("signature does not verify with the public key")
	}
	if ed25519.Verify(public, []byte("msg_2."+timestamp+"."+string(body)), raw) {
		t.Error("signature verifies for another message")
	}
	if err := verify(t, old, "msg_1", timestamp, signed, body); err != nil {
		t.Errorf("signature of the old secret: %v", err)
	}
	for _, wrong := range []string{PrivateKeyPrefix, PrivateKeyPrefix + "AAAA", PrivateKeyPrefix + "?"} {
		if _, err := NewSigner(wrong, time.Time{}); err == nil || strings.Contains(err.Error(), "AAAA") {
			t.Errorf("the result of %q is %v", wrong, err)
		}
	}
}
