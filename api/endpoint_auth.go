package api

import (
	"cmp"
	"crypto/tls"
	"errors"
	"net/url"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/storage"
)

// keepsStored reports whether an input keeps the stored secret.
func keepsStored(secret string) bool { return secret == "" || secret == storage.Masked }

// applyAuthentication sets an endpoint's authentication and seals its secret. was is the
// endpoint before the change, empty for a new endpoint.
func (s *server) applyAuthentication(in *wire.Authentication, e, was *storage.WebhookEndpoint, p *rest.FieldErrors) (err error) {
	e.Authentication = nil
	if in == nil {
		return nil
	}
	before := cmp.Or(was.Authentication, &storage.Authentication{})
	a := storage.Authentication{Type: in.Type, TokenURL: in.TokenURL, ClientID: in.ClientID, Scopes: in.Scopes, Audience: in.Audience}
	e.Authentication = &a
	field, secret := "authentication.token", *in.Secret()
	if in.Type == storage.AuthenticationOAuth2 {
		field = "authentication.clientSecret"
		p.Check(in.Token == "", "authentication.token", "is for bearer only")
		rest.UnmaskURL(&a.TokenURL, before.TokenURL, "authentication.tokenUrl", p)
		if err := s.checkDestination("authentication.tokenUrl", a.TokenURL, p); err != nil {
			return err
		}
	} else {
		p.Check(in.ClientSecret == "", "authentication.clientSecret", "is for oauth2 only")
	}
	if keepsStored(secret) {
		switch {
		case was.Authentication == nil || before.Type != in.Type:
			p.Addf(field, "is required")
		case origin(was.URL) != origin(e.URL) || before.TokenURL != a.TokenURL:
			// Otherwise, a caller who may change the endpoint could redirect the stored
			// secret to a host of the caller's choice.
			p.Addf(field, "is required because the host of url or tokenUrl changes")
		default:
			a.Sealed = before.Sealed
		}
		return nil
	}
	const most = 4096
	ok := len(secret) <= most && httpguts.ValidHeaderFieldValue(secret) && (in.Type == storage.AuthenticationOAuth2 || !strings.ContainsAny(secret, " \t"))
	p.Check(ok, field, "must be at most %d characters without line breaks, and a token without spaces", most)
	a.Sealed, err = s.Vault.Reseal(e.OrganizationID, e.ID, before.Sealed, secret)
	return err
}

// checkDestination checks an address against the operator's policy on destinations. Another
// check reports a missing address.
func (s *server) checkDestination(field, address string, p *rest.FieldErrors) error {
	if address == "" {
		return nil
	}
	err := s.Destinations(address)
	if wrong, ok := errors.AsType[*storage.InvalidError](err); ok {
		p.Addf(field, "%s", wrong.Fields[0].Message)
		return nil
	}
	return err
}

// applyClientCertificate sets an endpoint's client certificate like applyAuthentication. A
// stored certificate that has expired stays valid here. Otherwise, the owner could not
// change anything else, such as pause the endpoint.
func (s *server) applyClientCertificate(in *wire.ClientCertificate, e, was *storage.WebhookEndpoint, p *rest.FieldErrors) (err error) {
	e.ClientCertificate = nil
	if in == nil {
		return nil
	}
	c := storage.ClientCertificate{Certificate: in.Certificate}
	e.ClientCertificate = &c
	before := cmp.Or(was.ClientCertificate, &storage.ClientCertificate{})
	key, had := in.PrivateKey, before.SealedKey
	if keepsStored(key) {
		if had == "" {
			p.Addf("clientCertificate.privateKey", "is required")
			return nil
		}
		if key, err = s.Vault.Open(e.OrganizationID, e.ID, had); err != nil {
			return err
		}
	}
	if leaf, err := c.Leaf(); err == nil { // another check reports an invalid certificate
		if _, err := tls.X509KeyPair([]byte(c.Certificate), []byte(key)); err != nil {
			p.Addf("clientCertificate.privateKey", "must be the key of the certificate, in PEM and not encrypted")
		}
		p.Check(c.Certificate == before.Certificate || leaf.NotAfter.After(s.Store.Now()), "clientCertificate.certificate", "expired on %s", leaf.NotAfter.UTC().Format("2 January 2006"))
	}
	c.SealedKey, err = s.Vault.Reseal(e.OrganizationID, e.ID, had, key)
	return err
}

// origin returns the scheme and host of a URL.
func origin(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host
}
