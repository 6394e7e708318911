package client

import (
	"context"
	"encoding/json"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// Endpoint is where an organization's webhooks go.
type Endpoint struct {
	ID          string            `json:"id"`
	URL         string            `json:"url"`
	Description string            `json:"description"`
	EventTypes  []string          `json:"eventTypes"`
	Enabled     bool              `json:"enabled"`
	Headers     map[string]string `json:"headers"`
	// RateLimit is the most deliveries a second, 0 for no limit.
	RateLimit      float64              `json:"rateLimit"`
	TimeoutSeconds float64              `json:"timeoutSeconds"`
	DeliveryMode   storage.DeliveryMode `json:"deliveryMode"`
	// Format is how signals are written.
	Format storage.SignalFormat `json:"format"`
	// Compression is how bodies are compressed.
	Compression storage.Compression `json:"compression"`
	RetryPolicy storage.RetryPolicy `json:"retryPolicy"`
	// BatchSize is how many homes' signals one request may carry.
	BatchSize int `json:"batchSize"`
	// Authentication and ClientCertificate are nil where there are none. What is
	// secret of them is masked.
	Authentication    *Authentication `json:"authentication"`
	ClientCertificate *Certificate    `json:"clientCertificate"`
	// Secret verifies the deliveries. It is there once, in the answer that made
	// it.
	Secret string `json:"secret,omitempty"`
	// PublicKey verifies the deliveries with ed25519 signatures; empty with
	// hmac.
	PublicKey       string       `json:"publicKey"`
	SecretRotatedAt storage.Time `json:"secretRotatedAt"`
	// Disabled says why the service has disabled it, nil where it has not.
	Disabled *storage.Disabled `json:"disabled"`
	// Health is how it has done of late.
	Health events.Health `json:"health"`
	// Breaker is whether it is tried now.
	Breaker   events.Breaker `json:"breaker"`
	CreatedAt storage.Time   `json:"createdAt"`
	UpdatedAt storage.Time   `json:"updatedAt"`
}

// EndpointFields are what may be said of an endpoint. What is nil keeps its
// value, or has its default on a new endpoint, which needs the URL alone.
type EndpointFields struct {
	URL         *string            `json:"url,omitempty"`
	Description *string            `json:"description,omitempty"`
	EventTypes  *[]string          `json:"eventTypes,omitempty"`
	Enabled     *bool              `json:"enabled,omitempty"`
	Headers     *map[string]string `json:"headers,omitempty"`
	// RateLimit is the most deliveries a second, 0 for no limit.
	RateLimit *float64 `json:"rateLimit,omitempty"`
	// TimeoutSeconds bounds one attempt, from 0.1 to 60.
	TimeoutSeconds *float64              `json:"timeoutSeconds,omitempty"`
	DeliveryMode   *storage.DeliveryMode `json:"deliveryMode,omitempty"`
	Format         *storage.SignalFormat `json:"format,omitempty"`
	Compression    *storage.Compression  `json:"compression,omitempty"`
	RetryPolicy    *storage.RetryPolicy  `json:"retryPolicy,omitempty"`
	// BatchSize is at most 64.
	BatchSize *int `json:"batchSize,omitempty"`
	// Authentication and ClientCertificate are replaced as a whole; None removes
	// them. A secret that is empty stays as it is.
	Authentication    Optional[Authentication] `json:"authentication,omitzero"`
	ClientCertificate Optional[Certificate]    `json:"clientCertificate,omitzero"`
}

// Authentication authorizes the requests to an endpoint.
type Authentication struct {
	Type storage.AuthenticationType `json:"type"`
	// Token is the bearer token.
	Token string `json:"token,omitempty"`
	// TokenURL and those after it are of OAuth 2.
	TokenURL     string   `json:"tokenUrl,omitempty"`
	ClientID     string   `json:"clientId,omitempty"`
	ClientSecret string   `json:"clientSecret,omitempty"`
	Scopes       []string `json:"scopes,omitempty"`
	Audience     string   `json:"audience,omitempty"`
}

// Certificate is shown to a destination that asks for one.
type Certificate struct {
	// Certificate is the chain, and PrivateKey the key, in PEM.
	Certificate string `json:"certificate"`
	PrivateKey  string `json:"privateKey,omitempty"`
	// ExpiresAt is when the certificate ends, as answered.
	ExpiresAt storage.Time `json:"expiresAt,omitzero"`
}

// Optional is a field that is left alone, set, or removed.
type Optional[T any] struct {
	value *T
	said  bool
}

// Some sets a field.
func Some[T any](value T) Optional[T] { return Optional[T]{&value, true} }

// None removes what a field has.
func None[T any]() Optional[T] { return Optional[T]{nil, true} }

// IsZero reports whether the field is left alone.
func (o Optional[T]) IsZero() bool { return !o.said }

// MarshalJSON writes the value, or null.
func (o Optional[T]) MarshalJSON() ([]byte, error) { return json.Marshal(o.value) }

// NewEndpoint is what an endpoint is made of.
type NewEndpoint struct {
	EndpointFields
	// Secret is made by the server when it is empty. One of your own is whsec_
	// and the base64 of 24 to 64 random bytes.
	Secret string `json:"secret,omitempty"`
	// Signature is hmac when it is empty.
	Signature storage.Signature `json:"signature,omitempty"`
}

// CreateEndpoint registers an endpoint. The answer has its secret, once.
func (c *Client) CreateEndpoint(ctx context.Context, e NewEndpoint) (Endpoint, error) {
	return call[Endpoint](ctx, c, "/v1/webhook/endpoints/create", e)
}

// Endpoints lists the organization's endpoints.
func (c *Client) Endpoints(ctx context.Context, p Page) (items []Endpoint, next string, err error) {
	return list[Endpoint](ctx, c, "/v1/webhook/endpoints/list", p)
}

// GetEndpoint reads one endpoint.
func (c *Client) GetEndpoint(ctx context.Context, id string) (Endpoint, error) {
	return call[Endpoint](ctx, c, endpointPath(id, "get"), nothing)
}

// UpdateEndpoint changes the fields that are not nil.
func (c *Client) UpdateEndpoint(ctx context.Context, id string, f EndpointFields) (Endpoint, error) {
	return call[Endpoint](ctx, c, endpointPath(id, "update"), f)
}

// DeleteEndpoint removes an endpoint; what waits for it is dropped.
func (c *Client) DeleteEndpoint(ctx context.Context, id string) error {
	_, err := call[struct{}](ctx, c, endpointPath(id, "delete"), nothing)
	return err
}

// RotateSecret makes a new secret. The old one goes on signing beside it for a
// day.
func (c *Client) RotateSecret(ctx context.Context, id string) (Endpoint, error) {
	return call[Endpoint](ctx, c, endpointPath(id, "rotate_secret"), nothing)
}

// TestEndpoint sends a webhook.test to the endpoint, once, and says what came of
// it.
func (c *Client) TestEndpoint(ctx context.Context, id string) (events.Delivery, error) {
	return call[events.Delivery](ctx, c, endpointPath(id, "test"), nothing)
}

func endpointPath(id, operation string) string {
	return "/v1/webhook/endpoints/" + segment(id) + "/" + operation
}
