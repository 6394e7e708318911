package api

import (
	"cmp"
	"context"
	"net/http"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// EndpointSettings are what a partner decides about an endpoint.
type EndpointSettings struct {
	URL         string `json:"url"`
	Description string `json:"description"`
	// EventTypes are the events sent; empty means all.
	EventTypes []string `json:"eventTypes"`
	// Enabled is whether anything is sent. While it is false, nothing is queued
	// for the endpoint either, and what waits for it is let go when it is due. A
	// test is sent all the same.
	Enabled bool `json:"enabled"`
	// Headers are sent with every delivery.
	Headers map[string]string `json:"headers"`
	// RateLimit is the most deliveries a second, 0 for no limit.
	RateLimit float64 `json:"rateLimit"`
	// TimeoutSeconds bounds one attempt.
	TimeoutSeconds float64              `json:"timeoutSeconds"`
	DeliveryMode   storage.DeliveryMode `json:"deliveryMode"`
	// Format is how signals are written.
	Format storage.SignalFormat `json:"format"`
	// Compression is how bodies are compressed: gzip is Content-Encoding: gzip, with
	// a signature for the bytes that are sent and one for the JSON in them.
	Compression storage.Compression `json:"compression"`
	RetryPolicy storage.RetryPolicy `json:"retryPolicy"`
	// BatchSize is how many homes' signals one request may carry. With 0 and 1 each is
	// sent on its own, and with more as price_signal.batch.
	BatchSize int `json:"batchSize"`
	// Authentication and clientCertificate are null where the signature is all that
	// the destination needs.
	Authentication    *Authentication    `json:"authentication"`
	ClientCertificate *ClientCertificate `json:"clientCertificate"`
}

func settingsOf(e *storage.WebhookEndpoint) EndpointSettings {
	return EndpointSettings{
		URL: e.URL, Description: e.Description, EventTypes: e.EventTypes, Enabled: e.Enabled, Headers: e.Headers,
		RateLimit: e.RateLimit, TimeoutSeconds: e.TimeoutSeconds, DeliveryMode: e.DeliveryMode, RetryPolicy: e.RetryPolicy,
		Format: cmp.Or(e.Format, storage.FormatSignal), Compression: cmp.Or(e.Compression, storage.CompressionNone),
		BatchSize: max(1, e.BatchSize), Authentication: authenticationOf(e), ClientCertificate: clientCertificateOf(e),
	}
}

func (in *EndpointSettings) setDefaults() {
	e := storage.NewWebhookEndpoint("")
	*in = settingsOf(&e)
}

// apply sets the settings on an endpoint, but for those that applySecrets seals.
func (in *EndpointSettings) apply(e *storage.WebhookEndpoint) {
	e.URL, e.Description, e.EventTypes, e.Headers = in.URL, in.Description, in.EventTypes, in.Headers
	e.SetEnabled(in.Enabled)
	e.RateLimit, e.TimeoutSeconds, e.DeliveryMode, e.RetryPolicy = in.RateLimit, in.TimeoutSeconds, in.DeliveryMode, in.RetryPolicy
	e.Format, e.Compression, e.BatchSize = in.Format, in.Compression, in.BatchSize
}

// checkEndpoint names every wrong field of an endpoint, what the operator's
// policy says of its destination included.
func (s *server) checkEndpoint(e *storage.WebhookEndpoint, p *problems) error {
	if err := p.addError(e.Validate()); err != nil {
		return err
	}
	return p.addError(s.Destinations(e.URL))
}

// Endpoint is a webhook endpoint as it is shown: without its secrets.
type Endpoint struct {
	ID string `json:"id"`
	EndpointSettings
	// PublicKey verifies the deliveries of an endpoint with ed25519 signatures,
	// whpk_ and base64; empty with hmac.
	PublicKey string `json:"publicKey"`
	// SecretRotatedAt is when the newest signing secret was made.
	SecretRotatedAt storage.Time `json:"secretRotatedAt"`
	// Disabled is why the service has disabled it; null where it has not, or it
	// was enabled again.
	Disabled *storage.Disabled `json:"disabled"`
	// Health is how it has done of late.
	Health events.Health `json:"health"`
	// Breaker is whether it is tried now.
	Breaker   events.Breaker `json:"breaker"`
	CreatedAt storage.Time   `json:"createdAt"`
	UpdatedAt storage.Time   `json:"updatedAt"`
}

func (s *server) showEndpoint(e *storage.WebhookEndpoint) (Endpoint, error) {
	shown := Endpoint{ID: e.ID, EndpointSettings: settingsOf(e), Disabled: e.Disabled, CreatedAt: e.CreatedAt, UpdatedAt: e.UpdatedAt}
	if len(e.Secrets) > 0 {
		shown.SecretRotatedAt, shown.PublicKey = e.Secrets[0].CreatedAt, e.Secrets[0].PublicKey
	}
	shown.Breaker.State = events.BreakerClosed
	if s.Breakers != nil {
		shown.Breaker = s.Breakers.Of(e.OrganizationID, e.ID, s.Now())
	}
	var err error
	shown.Health, err = s.Ledger.Health(e.OrganizationID, e.ID)
	return shown, err
}

// showSecret shows an endpoint that was stored, with its secret.
func (s *server) showSecret(e *storage.WebhookEndpoint, secret string, err error) (EndpointWithSecret, error) {
	if err != nil {
		return EndpointWithSecret{}, err
	}
	shown, err := s.showEndpoint(e)
	return EndpointWithSecret{shown, secret}, err
}

// EndpointWithSecret is an endpoint with its signing secret, shown this once.
type EndpointWithSecret struct {
	Endpoint
	// Secret is empty with ed25519: the public key is all that it takes to
	// verify.
	Secret string `json:"secret"`
}

type createEndpointInput struct {
	EndpointSettings
	SecretChoice
}

func (in *createEndpointInput) setDefaults() {
	in.EndpointSettings.setDefaults()
	in.SecretChoice.setDefaults()
}

func (in *createEndpointInput) check(s *server, c *call, p *problems) {
	in.SecretChoice.check(p)
	e := storage.WebhookEndpoint{ID: storage.NewID("ep_", c.now)}
	in.apply(&e)
	_ = s.applySecrets(&in.EndpointSettings, &e, &storage.WebhookEndpoint{}, p) // nothing was sealed that might not open
	_ = s.checkEndpoint(&e, p)                                                  // nothing but field errors
}

func (s *server) createEndpoint(ctx context.Context, c *call, in *createEndpointInput) (EndpointWithSecret, error) {
	e := storage.NewWebhookEndpoint(c.org)
	e.ID = storage.NewID("ep_", c.now)
	in.apply(&e)
	var p problems // which check has told
	if err := s.applySecrets(&in.EndpointSettings, &e, &storage.WebhookEndpoint{}, &p); err != nil {
		return EndpointWithSecret{}, err
	}
	secret := s.newSecret(&e, in.SecretChoice, c.now)
	return s.showSecret(&e, secret, s.Store.Create(ctx, &e))
}

func (s *server) listEndpoints(_ context.Context, c *call, in *pageInput) (Page[Endpoint], error) {
	list, err := storage.List[storage.WebhookEndpoint](s.Store, storage.KindWebhookEndpoint, c.org, in.After, in.Limit+1)
	if err != nil {
		return Page[Endpoint]{}, err
	}
	page := newPage(list, in.Limit, func(e *storage.WebhookEndpoint) string { return e.ID })
	return showEach(page, s.showEndpoint)
}

func (s *server) getEndpoint(_ context.Context, c *call, _ *struct{}) (Endpoint, error) {
	e, err := storage.Get[storage.WebhookEndpoint](s.Store, storage.WebhookEndpointRef(c.org, c.id))
	if err != nil {
		return Endpoint{}, err
	}
	return s.showEndpoint(&e)
}

// updateEndpointInput holds the settings to change; what is absent stays as it
// is.
type updateEndpointInput struct{ EndpointSettings }

// check judges the endpoint as it would become. One that does not exist is left
// to the operation itself.
func (in *updateEndpointInput) check(s *server, c *call, p *problems) {
	ref := storage.WebhookEndpointRef(c.org, c.id)
	if !ref.Valid() {
		return
	}
	if e, err := storage.Get[storage.WebhookEndpoint](s.Store, ref); err == nil {
		_ = s.changeEndpoint(&e, c, p) // nothing but field errors
	}
}

// changeEndpoint decodes the body onto an endpoint's settings.
func (s *server) changeEndpoint(e *storage.WebhookEndpoint, c *call, p *problems) error {
	before, settings := *e, settingsOf(e)
	p.add(decode(c.body, &settings, "body", s.options.MaxDepth))
	settings.apply(e)
	if err := s.applySecrets(&settings, e, &before, p); err != nil {
		return err
	}
	return s.checkEndpoint(e, p)
}

func (s *server) updateEndpoint(ctx context.Context, c *call, _ *updateEndpointInput) (Endpoint, error) {
	e, err := storage.Update(ctx, s.Store, storage.WebhookEndpointRef(c.org, c.id), func(e *storage.WebhookEndpoint) error {
		var p problems
		if err := s.changeEndpoint(e, c, &p); err != nil {
			return err
		}
		return p.Err()
	})
	if err != nil {
		return Endpoint{}, err
	}
	return s.showEndpoint(&e)
}

// Deleted says what was deleted.
type Deleted struct {
	ID      string `json:"id"`
	Deleted bool   `json:"deleted"`
}

func (s *server) deleteEndpoint(ctx context.Context, c *call, _ *struct{}) (Deleted, error) {
	return Deleted{c.id, true}, s.Store.Delete(ctx, storage.WebhookEndpointRef(c.org, c.id))
}

type rotateSecretInput struct {
	// Secret is by default made for you. One of your own is whsec_ and the
	// base64 of 24 to 64 random bytes; it is for hmac alone.
	Secret string `json:"secret" null:"no"`
	// Signature is hmac or ed25519, and by default as before. Both sign for a
	// day where it changes.
	Signature *storage.Signature `json:"signature"`
}

func (in *rotateSecretInput) check(s *server, c *call, p *problems) {
	choice := in.choice(storage.SignatureHMAC)
	ref := storage.WebhookEndpointRef(c.org, c.id)
	if !ref.Valid() {
		return
	}
	if e, err := storage.Get[storage.WebhookEndpoint](s.Store, ref); err == nil {
		choice = in.choice(signatureOf(&e))
	}
	choice.check(p)
}

// choice is what the input asks for, where before is how the endpoint signs.
func (in *rotateSecretInput) choice(before storage.Signature) SecretChoice {
	if in.Signature != nil {
		before = *in.Signature
	}
	return SecretChoice{Secret: in.Secret, Signature: before}
}

func signatureOf(e *storage.WebhookEndpoint) storage.Signature {
	if len(e.Secrets) > 0 && e.Secrets[0].PublicKey != "" {
		return storage.SignatureEd25519
	}
	return storage.SignatureHMAC
}

func (s *server) rotateSecret(ctx context.Context, c *call, in *rotateSecretInput) (EndpointWithSecret, error) {
	var secret string
	e, err := storage.Update(ctx, s.Store, storage.WebhookEndpointRef(c.org, c.id), func(e *storage.WebhookEndpoint) error {
		secret = s.newSecret(e, in.choice(signatureOf(e)), c.now)
		return nil
	})
	return s.showSecret(&e, secret, err)
}

var errNoTester = &Problem{
	Status: http.StatusServiceUnavailable, Code: CodeUnavailable, RetryAfter: unavailableSeconds,
	Message:  "This process cannot send test webhooks.",
	Recovery: "Send the request to one that can.",
}

func (s *server) testEndpoint(ctx context.Context, c *call, _ *struct{}) (events.Delivery, error) {
	e, err := storage.Get[storage.WebhookEndpoint](s.Store, storage.WebhookEndpointRef(c.org, c.id))
	if err != nil {
		return events.Delivery{}, err
	}
	if s.Tester == nil {
		return events.Delivery{}, errNoTester
	}
	return s.Tester.SendTest(ctx, e)
}
