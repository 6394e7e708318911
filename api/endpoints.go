package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// configure applies the settings to an endpoint and checks the whole endpoint. The check
// includes the operator's policy on destinations. configure also seals the endpoint's
// secrets. before is the endpoint before the change, empty for a new endpoint.
func (s *server) configure(in *wire.EndpointSettings, e, before *storage.WebhookEndpoint, p *rest.FieldErrors) error {
	had := *before
	if err := s.Vault.OpenEndpoint(&had); err != nil {
		return err
	}
	e.EndpointSettings = in.EndpointSettings
	e.SetEnabled(in.Enabled)
	unmask(e, &had, p)
	if err := s.applyAuthentication(in.Authentication, e, &had, p); err != nil {
		return err
	}
	if err := s.applyClientCertificate(in.ClientCertificate, e, &had, p); err != nil {
		return err
	}
	checkHeaderCase(e.Headers, p)
	e.Check(p)
	if !e.IsRelay() {
		if err := s.checkDestination("url", e.URL, p); err != nil {
			return err
		}
	}
	return s.Vault.SealEndpoint(e, before)
}

// verifyURL sends the challenge to a URL that must be verified and is new. before is the
// endpoint before the change, empty for a new endpoint.
func (s *server) verifyURL(ctx context.Context, c *rest.Call, e, before *storage.WebhookEndpoint, p *rest.FieldErrors) error {
	now, had := *e, *before
	if err := errors.Join(s.Vault.OpenEndpoint(&now), s.Vault.OpenEndpoint(&had)); err != nil {
		return err
	}
	if !e.VerifyURL || had.VerifyURL && had.URL == now.URL || len(p.List()) > 0 {
		return nil
	}
	return s.verify(ctx, &c.Caller, now.URL, "url", p)
}

// verify sends the challenge to a URL in a field, and adds the field to p if the URL does not
// pass. Errors: errTests.
func (s *server) verify(ctx context.Context, c *rest.Caller, rawURL, field string, p *rest.FieldErrors) error {
	release, err := s.testing.TakeOne(c.Payer(), maxTests, errTests)
	if err != nil {
		return err
	}
	defer release()
	if err := s.Tester.Verify(ctx, rawURL); err != nil {
		p.Addf(field, "%s", err)
	}
	return nil
}

// unmask replaces masked values in an endpoint's URL and headers with the stored values.
// had is the endpoint before the change, with its values opened. Stored values stay with
// their host. Otherwise, a caller who may change the endpoint could redirect the values
// to another host.
func unmask(e, had *storage.WebhookEndpoint, p *rest.FieldErrors) {
	rest.UnmaskURL(&e.URL, had.URL, "url", p)
	headers := maps.Clone(e.Headers)
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		if headers[name] != storage.Masked {
			continue
		}
		value, stored := had.Headers[name]
		p.Check(stored, "headers."+name, "requires the value: %s keeps only a stored value", storage.Masked)
		p.Check(!stored || origin(had.URL) == origin(e.URL), "headers."+name, "is required because the host of url changes")
		headers[name] = value
	}
	e.Headers = headers
}

// checkHeaderCase refuses headers whose names differ only in case. HTTP treats the names
// as one header, so either value could be sent.
func checkHeaderCase(headers map[string]string, p *rest.FieldErrors) {
	first := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		other, twice := first[strings.ToLower(name)]
		if twice {
			p.Addf("headers", "%q and %q differ only in case: send one of them", other, name)
		}
		first[strings.ToLower(name)] = name
	}
}

func (s *server) showEndpoint(e *storage.WebhookEndpoint) (wire.Endpoint, error) {
	shown := wire.Endpoint{ID: e.ID, EndpointSettings: wire.SettingsOf(e), Disabled: e.Disabled, CreatedAt: e.CreatedAt, UpdatedAt: e.UpdatedAt}
	if len(e.Secrets) > 0 {
		shown.SecretRotatedAt, shown.PublicKey = e.Secrets[0].CreatedAt, e.Secrets[0].PublicKey
	}
	shown.Breaker = s.Breakers.State(e.OrganizationID, e.BreakerID(), s.Store.Now())
	var err error
	shown.Health, err = s.Ledger.Health(e.OrganizationID, e.ID)
	return shown, err
}

// showSecret returns the response for a stored endpoint, including its secret.
func (s *server) showSecret(e *storage.WebhookEndpoint, secret string, err error) (wire.EndpointWithSecret, error) {
	if err != nil {
		return wire.EndpointWithSecret{}, err
	}
	shown, err := s.showEndpoint(e)
	return wire.EndpointWithSecret{Endpoint: shown, Secret: secret}, err
}

type createEndpointInput struct {
	_ struct{} `required:"url"`

	wire.EndpointSettings
	wire.SecretChoice
}

func (in *createEndpointInput) setDefaults() {
	in.EndpointSettings = wire.NewEndpointSettings()
	in.Signature = storage.SignatureHMAC
}

// madeEndpoint is the first response to a request, as it is stored with its idempotency key.
type madeEndpoint struct {
	wire.Endpoint
	// SealedSecret is empty for a key pair.
	SealedSecret string
}

func (s *server) createEndpoint(ctx context.Context, c *rest.Call, in *createEndpointInput) (wire.EndpointWithSecret, error) {
	in.SecretChoice.Check(&c.Wrong)
	var e, none storage.WebhookEndpoint
	configure := func(id string) error {
		e = storage.NewWebhookEndpoint(c.Org)
		e.ID = id
		return cmp.Or(s.configure(&in.EndpointSettings, &e, &none, &c.Wrong), c.Wrong.Err())
	}
	if err := configure(storage.NewID("ep_", c.Now)); err != nil {
		return wire.EndpointWithSecret{}, err
	}
	made, err := rest.Idempotent(ctx, s.rest, c, e.ID, in, func(id string) (made madeEndpoint, err error) {
		if e.ID != id { // sealed values belong to an identifier
			err = configure(id)
		}
		if err == nil {
			err = cmp.Or(s.verifyURL(ctx, c, &e, &none, &c.Wrong), c.Wrong.Err())
		}
		if err != nil {
			return made, err
		}
		s.newSecret(&e, in.SecretChoice, c.Now)
		if err := createOnce(ctx, s.Store, &e); err != nil {
			return made, err
		}
		if e.Secrets[0].PublicKey == "" {
			made.SealedSecret = e.Secrets[0].Sealed
		}
		made.Endpoint, err = s.showEndpoint(&e)
		return made, err
	})
	secret := ""
	if err == nil && made.SealedSecret != "" {
		secret, err = s.Vault.Open(c.Org, made.ID, made.SealedSecret)
	}
	return wire.EndpointWithSecret{Endpoint: made.Endpoint, Secret: secret}, err
}

func (s *server) listEndpoints(ctx context.Context, c *rest.Call, in *wire.PageInput) (wire.Page[wire.Endpoint], error) {
	var list []storage.WebhookEndpoint
	err := s.rest.Scan(ctx, c, func(v storage.View) (err error) {
		list, err = storage.ListEndpoints(v, c.Org, in.After, in.Limit+1, s.rest.LeftOut)
		return err
	})
	if err != nil {
		return wire.Page[wire.Endpoint]{}, err
	}
	page := rest.NewPage(list, in.Limit, func(e *storage.WebhookEndpoint) string { return e.ID })
	return rest.Show(page, s.showEndpoint)
}

func (s *server) getEndpoint(_ context.Context, c *rest.Call, _ *struct{}) (wire.Endpoint, error) {
	e, err := storage.GetEndpoint(s.Store, c.Org, c.ID)
	if err != nil {
		return wire.Endpoint{}, err
	}
	return s.showEndpoint(&e)
}

// updateEndpointInput has the settings to change. An absent field keeps its value.
type updateEndpointInput struct{ wire.EndpointSettings }

func (s *server) updateEndpoint(ctx context.Context, c *rest.Call, _ *updateEndpointInput) (wire.Endpoint, error) {
	e, err := update(ctx, s, c, storage.KindWebhookEndpoint.Ref(c.Org, c.ID), func(e *storage.WebhookEndpoint, p *rest.FieldErrors) error {
		before, settings := *e, over(s, c, wire.SettingsOf(e))
		if err := s.configure(&settings, e, &before, p); err != nil {
			return err
		}
		return s.verifyURL(ctx, c, e, &before, p)
	})
	if err != nil {
		return wire.Endpoint{}, err
	}
	return s.showEndpoint(&e)
}

type rotateSecretInput struct {
	Secret    string             `json:"secret" pattern:"secret" nullable:"false" doc:"Your own signing secret, for hmac only: whsec_ and the base64 of 24 to 64 random bytes. By default the service generates a secret."`
	Signature *storage.Signature `json:"signature" doc:"The signature scheme: hmac or ed25519, by default the current scheme. After a change, both schemes sign for 24 hours."`
}

func (s *server) rotateSecret(ctx context.Context, c *rest.Call, in *rotateSecretInput) (wire.EndpointWithSecret, error) {
	var secret string
	e, err := update(ctx, s, c, storage.KindWebhookEndpoint.Ref(c.Org, c.ID), func(e *storage.WebhookEndpoint, p *rest.FieldErrors) error {
		current := storage.SignatureHMAC
		if len(e.Secrets) > 0 && e.Secrets[0].PublicKey != "" {
			current = storage.SignatureEd25519
		}
		choice := wire.SecretChoice{Secret: in.Secret, Signature: valueOr(in.Signature, current)}
		choice.Check(p)
		secret = s.newSecret(e, choice, c.Now)
		return nil
	})
	return s.showSecret(&e, secret, err)
}

// testTimeout is the timeout of an endpoint's test: the maximum timeoutSeconds plus an
// allowance for the rest of the operation.
const testTimeout = 65 * time.Second

// maxTests is the maximum number of tests of endpoints and verifications of URLs of a payer
// that run at once at this process. Each holds a connection for up to testTimeout.
const maxTests = 8

// errTests refuses a test or a verification beside maxTests others.
var errTests = rest.NewProblem(rest.CodeRateLimited, fmt.Sprintf("The organization has %d tests of endpoints and verifications of URLs running, which is the limit.", maxTests),
	"Retry after retry_after_seconds, when one of them has ended.").After(1)

func (s *server) testEndpoint(ctx context.Context, c *rest.Call, _ *struct{}) (events.Delivery, error) {
	e, err := storage.Get[storage.WebhookEndpoint](s.Store, storage.KindWebhookEndpoint.Ref(c.Org, c.ID))
	if err != nil {
		return events.Delivery{}, err
	}
	release, err := s.testing.TakeOne(c.Payer(), maxTests, errTests)
	if err != nil {
		return events.Delivery{}, err
	}
	defer release()
	return s.Tester.SendTest(ctx, e)
}
