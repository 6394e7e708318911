package vault

import (
	"fmt"
	"maps"

	"github.com/gridhook/gridhook/storage"
)

// SealEndpoint seals the header values and the URL's query of an endpoint in the clear.
// before is the stored endpoint. An unchanged value keeps its sealed form, so that
// storing the same endpoint again writes nothing.
func (v *Vault) SealEndpoint(e, before *storage.WebhookEndpoint) error {
	clear := e.URL
	if e.URL, e.SealedURL = storage.MaskURL(clear), ""; e.URL != clear {
		var err error
		if e.SealedURL, err = v.Reseal(e.OrganizationID, e.ID, before.SealedURL, clear); err != nil {
			return err
		}
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

// OpenEndpoint replaces the masked URL and the sealed headers with their values in the
// clear.
func (v *Vault) OpenEndpoint(e *storage.WebhookEndpoint) error {
	if e.SealedURL != "" {
		clear, err := v.Open(e.OrganizationID, e.ID, e.SealedURL)
		if err != nil {
			return fmt.Errorf("url: %w", err)
		}
		e.URL, e.SealedURL = clear, ""
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
