package receiver

import (
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// Tolerance is the maximum distance of a timestamp from now, as in Standard Webhooks.
const Tolerance = 5 * time.Minute

// These prefixes identify a secret of HMAC-SHA256 and a public key of an endpoint that
// signs with Ed25519. The base64 of the bytes follows.
const (
	secretPrefix    = "whsec_"
	publicKeyPrefix = "whpk_"
)

// Verifier verifies deliveries with one or more secrets. During a rotation, the old and
// the new secret are valid.
type Verifier struct {
	keys []key
	// Now returns the time to compare timestamps with. If nil, time.Now is used.
	Now func() time.Time
	// AnyAge disables the check of timestamps.
	AnyAge bool
}

// key is one secret or public key.
type key struct {
	hmac   *standardwebhooks.Webhook
	public ed25519.PublicKey // set if hmac is nil
}

// NewVerifier returns a verifier of secrets (whsec_...) and public keys (whpk_...).
func NewVerifier(secrets ...string) (*Verifier, error) {
	v := &Verifier{}
	for _, s := range secrets {
		k, err := newKey(strings.TrimSpace(s))
		if err != nil {
			return nil, err
		}
		v.keys = append(v.keys, k)
	}
	return v, nil
}

// newKey parses a secret or public key. Its errors never contain the text, because even a
// wrong text may be a secret.
func newKey(text string) (key, error) {
	if encoded, ok := strings.CutPrefix(text, publicKeyPrefix); ok {
		raw, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil || len(raw) != ed25519.PublicKeySize {
			return key{}, fmt.Errorf("a public key is %s followed by the base64 of %d bytes", publicKeyPrefix, ed25519.PublicKeySize)
		}
		return key{public: raw}, nil
	}
	encoded, ok := strings.CutPrefix(text, secretPrefix)
	if raw, err := base64.StdEncoding.DecodeString(encoded); !ok || err != nil || len(raw) == 0 {
		return key{}, fmt.Errorf("a signing secret is %s followed by base64, a public key %s followed by base64", secretPrefix, publicKeyPrefix)
	}
	hmac, err := standardwebhooks.NewWebhook(text)
	return key{hmac: hmac}, err
}

// version returns the prefix of the key's signatures.
func (k key) version() string {
	if k.hmac == nil {
		return "v1a"
	}
	return "v1"
}

// Delivered holds the headers of a verified delivery.
type Delivered struct {
	// ID is the webhook-id. SignedAt is the webhook-timestamp.
	ID       string    `json:"id"`
	SignedAt time.Time `json:"signedAt"`
	// Version is the version of the matching signature: v1 or v1a. Secret is the number
	// of the matching secret, counted from 1.
	Version string `json:"version,omitempty"`
	Secret  int    `json:"secret,omitempty"`
}

// Verify verifies a delivery with the secrets. Its error is a *Problem.
func (v *Verifier) Verify(header http.Header, body []byte) (Delivered, error) {
	d, signatures, problem := readHeaders(header)
	if problem != nil {
		return d, problem
	}
	for i, k := range v.keys {
		if k.signed(header, body, signatures) {
			d.Version, d.Secret = k.version(), i+1
			break
		}
	}
	if d.Secret == 0 {
		return d, v.diagnose(header, body, signatures)
	}
	if problem := v.checkAge(d.SignedAt); problem != nil {
		return d, problem
	}
	return d, nil
}

// readHeaders parses the three headers of a delivery.
func readHeaders(header http.Header) (d Delivered, signatures []string, problem *Problem) {
	var missing []string
	for _, name := range []string{"webhook-id", "webhook-timestamp", "webhook-signature"} {
		if header.Get(name) == "" {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return d, nil, problemf(ProblemHeaders, "%s: missing; the request is not from Gridhook, or was captured without its headers", strings.Join(missing, ", "))
	}
	d.ID = header.Get("webhook-id")
	seconds, err := strconv.ParseInt(header.Get("webhook-timestamp"), 10, 64)
	signedAt := time.Unix(seconds, 0).UTC()
	if year := signedAt.Year(); err != nil || year < 1 || year > 9999 { // JSON has no other years
		return d, nil, problemf(ProblemHeaders, "webhook-timestamp: %q is not a time in whole seconds since 1970", header.Get("webhook-timestamp"))
	}
	d.SignedAt = signedAt
	signatures = strings.Fields(header.Get("webhook-signature"))
	for _, s := range signatures {
		version, encoded, ok := strings.Cut(s, ",")
		if _, err := base64.StdEncoding.DecodeString(encoded); !ok || version == "" || err != nil {
			return d, nil, problemf(ProblemHeaders, "webhook-signature: %q is not a version, a comma and base64", s)
		}
	}
	return d, signatures, nil
}

// signed reports whether one of the signatures matches the key.
func (k key) signed(header http.Header, body []byte, signatures []string) bool {
	if k.hmac != nil {
		return k.hmac.VerifyIgnoringTimestamp(body, header) == nil
	}
	content := append([]byte(header.Get("webhook-id")+"."+header.Get("webhook-timestamp")+"."), body...)
	for _, s := range signatures {
		encoded, ok := strings.CutPrefix(s, "v1a,")
		if raw, err := base64.StdEncoding.DecodeString(encoded); ok && err == nil && ed25519.Verify(k.public, content, raw) {
			return true
		}
	}
	return false
}

func (v *Verifier) checkAge(signed time.Time) *Problem {
	now := time.Now()
	if v.Now != nil {
		now = v.Now()
	}
	age := now.Sub(signed).Round(time.Second)
	switch {
	case v.AnyAge:
		return nil
	case age > Tolerance:
		return problemf(ProblemTooOld, "the signature is valid, but webhook-timestamp is %s old, more than %s: the delivery is replayed, or the receiver's clock is fast", age, Tolerance)
	case age < -Tolerance:
		return problemf(ProblemTooNew, "the signature is valid, but webhook-timestamp is %s ahead, more than %s: the receiver's clock is slow", -age, Tolerance)
	}
	return nil
}
