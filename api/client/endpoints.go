package client

import (
	"context"
	"encoding/json"

	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// Endpoint is a webhook endpoint of an organization. Only the response that sets the
// signing secret contains it.
type Endpoint = wire.EndpointWithSecret

// EndpointFields are the settings of an endpoint. In an update, a nil field keeps its
// value. In a new endpoint, a nil field has its default. A new endpoint requires only
// URL.
type EndpointFields struct {
	URL         *string            `json:"url,omitempty"`
	Description *string            `json:"description,omitempty"`
	EventTypes  *[]string          `json:"eventTypes,omitempty"`
	Enabled     *bool              `json:"enabled,omitempty"`
	Headers     *map[string]string `json:"headers,omitempty"`
	// VerifyURL sends a challenge to a new URL before the endpoint is stored.
	VerifyURL *bool `json:"verifyUrl,omitempty"`
	// RateLimit is the maximum number of deliveries a second, or 0 for no limit.
	RateLimit *float64 `json:"rateLimit,omitempty"`
	// TimeoutSeconds is the timeout of one attempt, from 0.1 to 60.
	TimeoutSeconds *float64              `json:"timeoutSeconds,omitempty"`
	DeliveryMode   *storage.DeliveryMode `json:"deliveryMode,omitempty"`
	// MinPriceChange is the least change of a price in $/kWh that onChange sends.
	MinPriceChange *float64 `json:"minPriceChange,omitempty"`
	// HomeIDs and RatePlanIDs choose the homes. Empty lists choose all.
	HomeIDs     *[]string             `json:"homeIds,omitempty"`
	RatePlanIDs *[]string             `json:"ratePlanIds,omitempty"`
	Format      *storage.SignalFormat `json:"format,omitempty"`
	Compression *storage.Compression  `json:"compression,omitempty"`
	HTTPVersion *storage.HTTPVersion  `json:"httpVersion,omitempty"`
	RetryPolicy *storage.RetryPolicy  `json:"retryPolicy,omitempty"`
	// BatchSize is the maximum number of signals in one message, up to 64.
	BatchSize *int `json:"batchSize,omitempty"`
	// Authentication and ClientCertificate are replaced as a whole. None removes them. An
	// empty secret keeps the stored secret.
	Authentication    Optional[Authentication] `json:"authentication,omitzero"`
	ClientCertificate Optional[Certificate]    `json:"clientCertificate,omitzero"`
}

// Authentication authorizes requests to an endpoint.
type Authentication = wire.Authentication

// Certificate is the client certificate for destinations with mutual TLS.
type Certificate = wire.ClientCertificate

// Optional is a field to keep, set or remove. The zero value keeps the field.
type Optional[T any] struct {
	value *T
	said  bool
}

// Some sets a field to a value.
func Some[T any](value T) Optional[T] { return Optional[T]{&value, true} }

// None removes a field's value.
func None[T any]() Optional[T] { return Optional[T]{nil, true} }

// IsZero reports whether the field keeps its value.
func (o Optional[T]) IsZero() bool { return !o.said }

// MarshalJSON writes the value, or null.
func (o Optional[T]) MarshalJSON() ([]byte, error) { return json.Marshal(o.value) }

// NewEndpoint has the settings of a new endpoint.
type NewEndpoint struct {
	EndpointFields
	// Secret is the signing secret. If empty, the server generates a secret. A caller's
	// own secret is whsec_ followed by the base64 of 24 to 64 random bytes.
	Secret string `json:"secret,omitempty"`
	// Signature is the signature scheme. The default is hmac.
	Signature storage.Signature `json:"signature,omitempty"`
}

// CreateEndpoint registers an endpoint. Only this response contains the secret.
func (c *Client) CreateEndpoint(ctx context.Context, e NewEndpoint) (Endpoint, error) {
	return Call[Endpoint](ctx, c, "/v1/webhook/endpoints/create", e)
}

// Endpoints lists the organization's endpoints.
func (c *Client) Endpoints(ctx context.Context, p Page) (items []Endpoint, next string, err error) {
	return List[Endpoint](ctx, c, "/v1/webhook/endpoints/list", p)
}

// GetEndpoint reads one endpoint.
func (c *Client) GetEndpoint(ctx context.Context, id string) (Endpoint, error) {
	return Call[Endpoint](ctx, c, at("/v1/webhook/endpoints/{id}/get", id), nothing)
}

// UpdateEndpoint changes the fields that are not nil.
func (c *Client) UpdateEndpoint(ctx context.Context, id string, f EndpointFields) (Endpoint, error) {
	return Call[Endpoint](ctx, c, at("/v1/webhook/endpoints/{id}/update", id), f)
}

// DeleteEndpoint removes an endpoint. Its waiting deliveries are dropped.
func (c *Client) DeleteEndpoint(ctx context.Context, id string) error {
	_, err := Call[struct{}](ctx, c, at("/v1/webhook/endpoints/{id}/delete", id), nothing)
	return err
}

// RotateSecret generates a new secret. The old secret also signs for one more day.
func (c *Client) RotateSecret(ctx context.Context, id string) (Endpoint, error) {
	return Call[Endpoint](ctx, c, at("/v1/webhook/endpoints/{id}/rotate_secret", id), nothing)
}

// TestEndpoint sends a single webhook.test to the endpoint and returns the outcome.
func (c *Client) TestEndpoint(ctx context.Context, id string) (events.Delivery, error) {
	return Call[events.Delivery](ctx, c, at("/v1/webhook/endpoints/{id}/test", id), nothing)
}
