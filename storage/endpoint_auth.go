package storage

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"net/http"
	"regexp"
)

// AuthenticationType is the scheme that authorizes requests to an endpoint, beside their
// signature.
type AuthenticationType string

// The types.
const (
	// AuthenticationBearer is a fixed bearer token (RFC 6750).
	AuthenticationBearer AuthenticationType = "bearer"
	// AuthenticationOAuth2 obtains a token with client credentials (RFC 6749, 4.4).
	AuthenticationOAuth2 AuthenticationType = "oauth2"
)

// AuthenticationTypes returns all types.
func AuthenticationTypes() []AuthenticationType {
	return []AuthenticationType{AuthenticationBearer, AuthenticationOAuth2}
}

// Authentication authorizes requests to an endpoint.
type Authentication struct {
	Type AuthenticationType `json:"type"`
	// Sealed is the bearer token or the client secret: see package vault.
	Sealed string `json:"sealed"`
	// TokenURL, ClientID, Scopes and Audience are for OAuth 2. TokenURL has its query
	// masked. SealedTokenURL is the whole URL, empty if it has no query.
	TokenURL       string   `json:"tokenUrl,omitempty"`
	SealedTokenURL string   `json:"sealedTokenUrl,omitempty"`
	ClientID       string   `json:"clientId,omitempty"`
	Scopes         []string `json:"scopes,omitempty"`
	Audience       string   `json:"audience,omitempty"`
}

// ClientCertificate is presented to a destination that uses mutual TLS.
type ClientCertificate struct {
	// Certificate is the chain in PEM, the client's own certificate first.
	Certificate string `json:"certificate"`
	// SealedKey is the private key in PEM: see package vault.
	SealedKey string `json:"sealedKey"`
}

// Leaf returns the client's own certificate. Errors: the PEM has no certificate.
func (c *ClientCertificate) Leaf() (*x509.Certificate, error) {
	block, _ := pem.Decode([]byte(c.Certificate))
	if block == nil || block.Type != "CERTIFICATE" {
		return nil, errors.New("is not a certificate in PEM")
	}
	leaf, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, errors.New("is a certificate that does not parse")
	}
	return leaf, nil
}

// scopeToken matches one scope (RFC 6749, 3.3).
var scopeToken = regexp.MustCompile(`^[\x21\x23-\x5B\x5D-\x7E]{1,128}$`)

// printable matches the names of clients and audiences (RFC 6749, A.1).
var printable = regexp.MustCompile(`^[\x20-\x7E]*$`)

func (a *Authentication) check(p *Problems, e *WebhookEndpoint) {
	const field = "authentication"
	checkEnum(p, field+".type", a.Type, AuthenticationTypes()...)
	for name := range e.Headers {
		p.Check(http.CanonicalHeaderKey(name) != "Authorization", "headers."+name, "cannot be combined with authentication, which sets it")
	}
	if a.Type == AuthenticationOAuth2 {
		checkURL(p, field+".tokenUrl", a.TokenURL)
		p.Check(a.ClientID != "", field+".clientId", "is required")
	}
	p.Check(a.Type == AuthenticationOAuth2 || a.TokenURL == "", field+".tokenUrl", "is for oauth2 only")
	p.Check(a.Type == AuthenticationOAuth2 || a.ClientID == "", field+".clientId", "is for oauth2 only")
	p.Check(a.Type == AuthenticationOAuth2 || len(a.Scopes) == 0, field+".scopes", "are for oauth2 only")
	p.Check(a.Type == AuthenticationOAuth2 || a.Audience == "", field+".audience", "is for oauth2 only")
	p.Check(printable.MatchString(a.ClientID), field+".clientId", "must be printable ASCII characters")
	for i, s := range a.Scopes {
		p.Check(scopeToken.MatchString(s), index(field+".scopes", i), "must be 1 to 128 printable ASCII characters without spaces, quotes and backslashes")
	}
	p.Check(printable.MatchString(a.Audience), field+".audience", "must be printable ASCII characters")
}

func (c *ClientCertificate) check(p *Problems, e *WebhookEndpoint) {
	const field = "clientCertificate.certificate"
	p.Check(e.usesTLS(), "clientCertificate", "requires an https url")
	rest := []byte(c.Certificate)
	for n := 0; n == 0 || len(bytes.TrimSpace(rest)) > 0; n++ {
		var block *pem.Block
		block, rest = pem.Decode(rest)
		if block == nil || block.Type != "CERTIFICATE" {
			p.Addf(field, "must be a chain of certificates in PEM, the client's own first")
			return
		}
		if _, err := x509.ParseCertificate(block.Bytes); err != nil {
			p.Addf(field, "has a certificate that does not parse")
			return
		}
	}
}
