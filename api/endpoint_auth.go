package api

import (
	"crypto/tls"
	"net/url"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/gridhook/gridhook/storage"
)

// masked stands for a secret that is stored. Whoever sends it back leaves the secret
// as it is.
const masked = "********"

// Authentication authorizes the requests to an endpoint with a token, in the header
// Authorization. What is secret of it is never shown again.
type Authentication struct {
	// Type is bearer, a token that does not change, or oauth2, a token that is
	// asked for with client credentials, kept while it is good, and asked for again
	// when it is refused.
	Type storage.AuthenticationType `json:"type" null:"no"`
	// Token is the bearer token. It is shown as ********; to leave it out, or to send
	// that, keeps it.
	Token string `json:"token,omitempty" null:"no"`
	// TokenURL is where tokens are asked for. It is bound as the endpoint's url is.
	TokenURL string `json:"tokenUrl,omitempty" null:"no"`
	ClientID string `json:"clientId,omitempty" null:"no"`
	// ClientSecret is shown as ********; to leave it out, or to send that, keeps it.
	ClientSecret string   `json:"clientSecret,omitempty" null:"no"`
	Scopes       []string `json:"scopes,omitempty" null:"no"`
	// Audience is sent along where the token endpoint needs it.
	Audience string `json:"audience,omitempty" null:"no"`
}

// ClientCertificate is shown to a destination that asks for one: mutual TLS. Its
// requests go over HTTP/1.1.
type ClientCertificate struct {
	// Certificate is the chain in PEM, the client's own certificate first.
	Certificate string `json:"certificate" null:"no"`
	// PrivateKey is the client's key in PEM, not encrypted. It is shown as ********;
	// to leave it out, or to send that, keeps it.
	PrivateKey string `json:"privateKey" null:"no"`
	// ExpiresAt is when the client's own certificate ends.
	ExpiresAt storage.Time `json:"expiresAt"`
}

func authenticationOf(e *storage.WebhookEndpoint) *Authentication {
	a := e.Authentication
	if a == nil {
		return nil
	}
	out := &Authentication{Type: a.Type, TokenURL: a.TokenURL, ClientID: a.ClientID, Scopes: a.Scopes, Audience: a.Audience}
	*out.secret() = masked
	return out
}

func clientCertificateOf(e *storage.WebhookEndpoint) *ClientCertificate {
	c := e.ClientCertificate
	if c == nil {
		return nil
	}
	out := &ClientCertificate{Certificate: c.Certificate, PrivateKey: masked}
	if leaf, err := c.Leaf(); err == nil {
		out.ExpiresAt = storage.Time{Time: leaf.NotAfter}
	}
	return out
}

// secret is what is secret of the authentication.
func (a *Authentication) secret() *string {
	if a.Type == storage.AuthenticationOAuth2 {
		return &a.ClientSecret
	}
	return &a.Token
}

func (a *Authentication) secretField() string {
	if a.Type == storage.AuthenticationOAuth2 {
		return "authentication.clientSecret"
	}
	return "authentication.token"
}

// kept reports whether an input leaves a secret as it is.
func kept(secret string) bool { return secret == "" || secret == masked }

// applySecrets sets on an endpoint what authorizes its requests, sealed. Before is
// the endpoint as it was, a new one without any.
func (s *server) applySecrets(in *EndpointSettings, e, before *storage.WebhookEndpoint, p *problems) error {
	if err := s.applyAuthentication(in.Authentication, e, before, p); err != nil {
		return err
	}
	return s.applyClientCertificate(in.ClientCertificate, e, before, p)
}

func (s *server) applyAuthentication(in *Authentication, e, was *storage.WebhookEndpoint, p *problems) error {
	e.Authentication = nil
	if in == nil {
		return nil
	}
	a := storage.Authentication{Type: in.Type, TokenURL: in.TokenURL, ClientID: in.ClientID, Scopes: in.Scopes, Audience: in.Audience}
	e.Authentication = &a
	field, secret := in.secretField(), *in.secret()
	if in.Type == storage.AuthenticationOAuth2 {
		p.Check(in.Token == "", "authentication.token", "is for bearer alone")
		s.checkTokenURL(in.TokenURL, p)
	} else {
		p.Check(in.ClientSecret == "", "authentication.clientSecret", "is for oauth2 alone")
	}
	if kept(secret) {
		before := was.Authentication
		switch {
		case before == nil || before.Type != in.Type:
			p.Addf(field, "is required")
		case origin(was.URL) != origin(e.URL) || before.TokenURL != a.TokenURL:
			// Else whoever may change the endpoint could have it sent to himself.
			p.Addf(field, "must be given again where the url's host or the tokenUrl changes")
		default:
			a.Sealed = before.Sealed
		}
		return nil
	}
	const most = 4096
	ok := len(secret) <= most && httpguts.ValidHeaderFieldValue(secret) && (in.Type == storage.AuthenticationOAuth2 || !strings.ContainsAny(secret, " \t"))
	p.Check(ok, field, "must be at most %d characters without line breaks, and a token without spaces", most)
	had := ""
	if was.Authentication != nil {
		had = was.Authentication.Sealed
	}
	var err error
	a.Sealed, err = s.seal(e, had, secret)
	return err
}

// checkTokenURL holds a token endpoint against the operator's policy on destinations.
func (s *server) checkTokenURL(raw string, p *problems) {
	if raw == "" {
		return // which is told elsewhere
	}
	var found problems
	if found.addError(s.Destinations(raw)) != nil {
		return
	}
	for _, f := range found.fields() {
		p.add([]storage.FieldError{{Field: "authentication.tokenUrl", Message: f.Message}})
	}
}

func (s *server) applyClientCertificate(in *ClientCertificate, e, was *storage.WebhookEndpoint, p *problems) error {
	e.ClientCertificate = nil
	if in == nil {
		return nil
	}
	c := storage.ClientCertificate{Certificate: in.Certificate}
	e.ClientCertificate = &c
	key, had := in.PrivateKey, ""
	if was.ClientCertificate != nil {
		had = was.ClientCertificate.SealedKey
	}
	if kept(key) {
		if had == "" {
			p.Addf("clientCertificate.privateKey", "is required")
			return nil
		}
		var err error
		if key, err = s.Vault.Open(e.OrganizationID, e.ID, had); err != nil {
			return err
		}
	}
	if len(key) > storage.MaxPEM {
		p.Addf("clientCertificate.privateKey", "must have at most %d bytes", storage.MaxPEM)
		return nil
	}
	if leaf, err := c.Leaf(); err == nil { // what is no certificate is told elsewhere
		if _, err := tls.X509KeyPair([]byte(c.Certificate), []byte(key)); err != nil {
			p.Addf("clientCertificate.privateKey", "must be the key of the certificate, in PEM and not encrypted")
		}
		p.Check(leaf.NotAfter.After(s.Now()), "clientCertificate.certificate", "has ended on %s", leaf.NotAfter.UTC().Format("2 January 2006"))
	}
	var err error
	c.SealedKey, err = s.seal(e, had, key)
	return err
}

// seal seals a secret, unless what is sealed already is the same.
func (s *server) seal(e *storage.WebhookEndpoint, had, secret string) (string, error) {
	if had != "" {
		current, err := s.Vault.Open(e.OrganizationID, e.ID, had)
		if err != nil || current == secret {
			return had, err
		}
	}
	return s.Vault.Seal(e.OrganizationID, e.ID, secret), nil
}

// origin is a URL's scheme and host.
func origin(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host
}
