package vault

import (
	"fmt"
	"maps"

	"github.com/gridhook/gridhook/storage"
)

// SealEndpoint seals the header values and the queries of the URLs of an endpoint in the
// clear. before is the stored endpoint. An unchanged value keeps its sealed form, so that
// storing the same endpoint again writes nothing.
func (v *Vault) SealEndpoint(e, before *storage.WebhookEndpoint) error {
	var err error
	if e.URL, e.SealedURL, err = v.sealURL(e.OrganizationID, e.ID, e.URL, before.SealedURL); err != nil {
		return err
	}
	if e.Authentication != nil {
		a, had := *e.Authentication, ""
		if before.Authentication != nil {
			had = before.Authentication.SealedTokenURL
		}
		if a.TokenURL, a.SealedTokenURL, err = v.sealURL(e.OrganizationID, e.ID, a.TokenURL, had); err != nil {
			return err
		}
		e.Authentication = &a
	}
	values := e.Headers
	e.Headers, e.SealedHeaders = map[string]string{}, nil
	for name, value := range values {
		sealed, err := v.Reseal(e.OrganizationID, e.ID, before.SealedHeaders[name], value)
		if err != nil {
			return err
		}
		if e.SealedHeaders == nil {
			e.SealedHeaders = map[string]string{}
		}
		e.SealedHeaders[name] = sealed
	}
	return nil
}

// sealURL returns the masked form of a URL of an endpoint or a source, and the sealed form
// if the URL has a query. had is the stored sealed form.
func (v *Vault) sealURL(org, id, clear, had string) (masked, sealed string, err error) {
	if masked = storage.MaskURL(clear); masked != clear {
		sealed, err = v.Reseal(org, id, had, clear)
	}
	return masked, sealed, err
}

// OpenEndpoint replaces the masked URLs and the sealed headers with their values in the
// clear.
func (v *Vault) OpenEndpoint(e *storage.WebhookEndpoint) error {
	if e.SealedURL != "" {
		clear, err := v.Open(e.OrganizationID, e.ID, e.SealedURL)
		if err != nil {
			return fmt.Errorf("url: %w", err)
		}
		e.URL, e.SealedURL = clear, ""
	}
	if e.Authentication != nil && e.Authentication.SealedTokenURL != "" {
		clear, err := v.Open(e.OrganizationID, e.ID, e.Authentication.SealedTokenURL)
		if err != nil {
			return fmt.Errorf("authentication.tokenUrl: %w", err)
		}
		a := *e.Authentication
		a.TokenURL, a.SealedTokenURL = clear, ""
		e.Authentication = &a
	}
	headers := maps.Clone(e.Headers)
	for name, sealed := range e.SealedHeaders {
		value, err := v.Open(e.OrganizationID, e.ID, sealed)
		if err != nil {
			return fmt.Errorf("header %s: %w", name, err)
		}
		if headers == nil {
			headers = map[string]string{}
		}
		headers[name] = value
	}
	e.Headers, e.SealedHeaders = headers, nil
	return nil
}

// Reseal is like Seal, but returns sealed if it already opens to the same secret.
func (v *Vault) Reseal(org, endpointID, sealed, secret string) (string, error) {
	if sealed != "" {
		if current, err := v.Open(org, endpointID, sealed); err != nil || current == secret {
			return sealed, err
		}
	}
	return v.Seal(org, endpointID, secret), nil
}
