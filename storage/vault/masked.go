package vault

import (
	"fmt"
	"maps"
	"slices"

	"github.com/gridhook/gridhook/storage"
)

// masked is a value that is stored masked, with its sealed form beside it. The sealed form
// is empty if the mask hides nothing.
type masked struct {
	field         string
	shown, sealed *string
	mask          func(string) string
}

// seal seals the values of an entity in the clear. before has the stored values. An
// unchanged value keeps its sealed form, so that storing the same entity again writes
// nothing.
func (v *Vault) seal(of storage.Ref, values, before []masked) (err error) {
	for _, m := range values {
		clear := *m.shown
		*m.sealed = ""
		if *m.shown = m.mask(clear); *m.shown == clear {
			continue
		}
		had := ""
		if i := slices.IndexFunc(before, func(b masked) bool { return b.field == m.field }); i >= 0 {
			had = *before[i].sealed
		}
		if *m.sealed, err = v.Reseal(of.Org, of.ID, had, clear); err != nil {
			return err
		}
	}
	return nil
}

// open replaces masked values with their values in the clear.
func (v *Vault) open(of storage.Ref, values []masked) error {
	for _, m := range values {
		if *m.sealed == "" {
			continue
		}
		clear, err := v.Open(of.Org, of.ID, *m.sealed)
		if err != nil {
			return fmt.Errorf("%s: %w", m.field, err)
		}
		*m.shown, *m.sealed = clear, ""
	}
	return nil
}

func maskedOfChannel(c *storage.Channel) []masked {
	return []masked{{"address", &c.Address, &c.SealedAddress, func(clear string) string { return storage.MaskAddress(c.Kind, clear) }}}
}

// SealChannel seals the address of a notification channel in the clear. before is the
// stored channel.
func (v *Vault) SealChannel(c, before *storage.Channel) error {
	return v.seal(c.Ref(), maskedOfChannel(c), maskedOfChannel(before))
}

// OpenChannel replaces the masked address with the address in the clear.
func (v *Vault) OpenChannel(c *storage.Channel) error { return v.open(c.Ref(), maskedOfChannel(c)) }

func maskedOfSource(s *storage.Source) []masked {
	return []masked{{"url", &s.URL, &s.SealedURL, storage.MaskURL}, {"secret", &s.Secret, &s.SealedSecret, maskAll}}
}

func maskAll(clear string) string {
	if clear == "" {
		return ""
	}
	return storage.Masked
}

// SealSource seals the secret and the query of the URL of a source in the clear. before is
// the stored source.
func (v *Vault) SealSource(s, before *storage.Source) error {
	return v.seal(s.Ref(), maskedOfSource(s), maskedOfSource(before))
}

// OpenSource replaces the masked secret and URL with their values in the clear.
func (v *Vault) OpenSource(s *storage.Source) error { return v.open(s.Ref(), maskedOfSource(s)) }

func maskedOfEndpoint(e *storage.WebhookEndpoint) []masked {
	values := []masked{{"url", &e.URL, &e.SealedURL, storage.MaskURL}}
	if e.Authentication != nil {
		a := *e.Authentication // other copies of the endpoint share it
		e.Authentication = &a
		values = append(values, masked{"authentication.tokenUrl", &a.TokenURL, &a.SealedTokenURL, storage.MaskURL})
	}
	return values
}

// SealEndpoint seals the header values and the queries of the URLs of an endpoint in the
// clear. before is the stored endpoint.
func (v *Vault) SealEndpoint(e, before *storage.WebhookEndpoint) (err error) {
	if err := v.seal(e.Ref(), maskedOfEndpoint(e), maskedOfEndpoint(before)); err != nil {
		return err
	}
	headers := e.Headers
	e.Headers, e.SealedHeaders = map[string]string{}, make(map[string]string, len(headers))
	for name, value := range headers {
		if e.SealedHeaders[name], err = v.Reseal(e.OrganizationID, e.ID, before.SealedHeaders[name], value); err != nil {
			return err
		}
	}
	return nil
}

// OpenEndpoint replaces the masked URLs and the sealed headers with their values in the
// clear.
func (v *Vault) OpenEndpoint(e *storage.WebhookEndpoint) error {
	if err := v.open(e.Ref(), maskedOfEndpoint(e)); err != nil {
		return err
	}
	headers := make(map[string]string, len(e.Headers)+len(e.SealedHeaders))
	maps.Copy(headers, e.Headers)
	for name, sealed := range e.SealedHeaders {
		value, err := v.Open(e.OrganizationID, e.ID, sealed)
		if err != nil {
			return fmt.Errorf("header %s: %w", name, err)
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
