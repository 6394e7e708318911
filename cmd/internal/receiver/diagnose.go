package receiver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// Problem is the reason why a delivery does not verify.
type Problem struct {
	// Code is for programs, Message for people.
	Code    string
	Message string
}

func (p *Problem) Error() string { return p.Message }

func problemf(code, format string, args ...any) *Problem {
	return &Problem{code, fmt.Sprintf(format, args...)}
}

// These are the codes of problems.
const (
	// ProblemHeaders: a header is missing or malformed.
	ProblemHeaders = "BAD_HEADERS"
	// ProblemTooOld and ProblemTooNew: the timestamp is outside the tolerance.
	ProblemTooOld = "TIMESTAMP_TOO_OLD"
	ProblemTooNew = "TIMESTAMP_TOO_NEW"
	// ProblemKind: the signature's kind differs from the secret's kind.
	ProblemKind = "WRONG_KIND_OF_SECRET"
	// ProblemBody: the body differs from the signed body.
	ProblemBody = "BODY_CHANGED"
	// ProblemSecret: the body looks complete, but its signature is not from the secret.
	ProblemSecret = "WRONG_SECRET"
)

// diagnose returns the reason why no signature matches a key. A mismatch alone cannot
// distinguish a wrong secret from a changed body. diagnose therefore undoes typical
// changes of tools and verifies the body again.
func (v *Verifier) diagnose(header http.Header, body []byte, signatures []string) *Problem {
	if problem := v.checkKind(signatures); problem != nil {
		return problem
	}
	for _, u := range undone(body) {
		if slices.ContainsFunc(v.keys, func(k key) bool { return k.signed(header, u.body, signatures) }) {
			return problemf(ProblemBody, "the body was changed after it was signed: %s; verify the received bytes before any other code reads them", u.how)
		}
	}
	// A framework that decompresses a body leaves the headers as they were.
	decompressed := header.Get("Content-Encoding") == "gzip" && !compressed(body)
	if length, err := strconv.Atoi(header.Get("Content-Length")); err == nil && length != len(body) && !decompressed {
		return problemf(ProblemBody, "the body was changed or cut: it has %d bytes, but Content-Length is %d", len(body), length)
	}
	if text, err := inflate(body); err != nil || !json.Valid(text) {
		return problemf(ProblemBody, "the body was changed or cut: it is not complete JSON")
	}
	return problemf(ProblemSecret, "no signature matches this secret: it belongs to another endpoint or was rotated; "+
		"if the secret is right, the webhook-id, the webhook-timestamp or a value in the body was changed after signing")
}

// checkKind returns a problem if no signature is of a key's kind.
func (v *Verifier) checkKind(signatures []string) *Problem {
	var signed []string
	for _, s := range signatures {
		version, _, _ := strings.Cut(s, ",")
		if slices.ContainsFunc(v.keys, func(k key) bool { return k.version() == version }) {
			return nil
		}
		signed = append(signed, version)
	}
	if slices.Contains(signed, "v1a") {
		return problemf(ProblemKind, "the endpoint signs with Ed25519 (v1a): verify with its publicKey, %s..., not with a secret", publicKeyPrefix)
	}
	return problemf(ProblemKind, "the endpoint signs with HMAC (%s): verify with its secret, %s..., not with a public key", strings.Join(signed, ", "), secretPrefix)
}

// undoing is a body with one typical change undone, and a description of the change.
type undoing struct {
	body []byte
	how  string
}

// undone returns the possible original bodies.
func undone(body []byte) []undoing {
	var out []undoing
	try := func(was []byte, how string) {
		if !bytes.Equal(was, body) {
			out = append(out, undoing{was, how})
		}
	}
	try(bytes.TrimRight(body, "\r\n"), "a line end was added at its end")
	try(append(bytes.Clone(body), '\n'), "the line end at its end was removed")
	try(bytes.ReplaceAll(body, []byte("\r\n"), []byte("\n")), "its line ends were changed")
	try(bytes.TrimPrefix(body, []byte("\ufeff")), "a byte order mark was added at its start")
	try(bytes.TrimSpace(body), "white space was added around it")
	var compact bytes.Buffer
	if json.Compact(&compact, body) == nil {
		try(compact.Bytes(), "its JSON was reformatted")
	}
	return out
}
