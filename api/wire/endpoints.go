package wire

import (
	"cmp"
	"encoding/base64"
	"strings"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// EndpointSettings are the settings of an endpoint that a partner controls.
type EndpointSettings struct {
	storage.EndpointSettings
	Authentication    *Authentication    `json:"authentication" doc:"Authorizes the requests, beside their signature. null for none."`
	ClientCertificate *ClientCertificate `json:"clientCertificate" doc:"The client certificate for mutual TLS. null for none." example:"null"`
}

// Endpoint is a webhook endpoint in a response, without its secrets.
type Endpoint struct {
	ID string `json:"id" example:"ep_01JZ2E6K8M0000000000000000"`
	EndpointSettings
	PublicKey       string            `json:"publicKey" doc:"The key that verifies ed25519 signatures: whpk_ and base64. Empty for hmac."`
	SecretRotatedAt storage.Time      `json:"secretRotatedAt" nullable:"true" doc:"When the newest signing secret was created. null for a callback of an OpenADR subscription, which has no secret."`
	Disabled        *storage.Disabled `json:"disabled" doc:"Why the service disabled the endpoint. null if it did not, or if the endpoint was enabled again." example:"null"`
	Health          events.Health     `json:"health" doc:"The results of recent deliveries."`
	Breaker         events.Breaker    `json:"breaker" doc:"The state of the circuit breaker."`
	CreatedAt       storage.Time      `json:"createdAt"`
	UpdatedAt       storage.Time      `json:"updatedAt"`
}

// EndpointWithSecret is an endpoint with its signing secret. Only the response that sets
// the secret contains it.
type EndpointWithSecret struct {
	Endpoint
	Secret string `json:"secret" doc:"The signing secret." example:"whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="`
}

// Relayed confirms the response to a webhook that was received by listening.
type Relayed struct {
	ID string `json:"id" doc:"The identifier of the request." example:"Rk4LzQyMjZ1RkZ3bXhQ"`
}

// SecretChoice selects the signature scheme and the secret of future deliveries.
type SecretChoice struct {
	Secret    string            `json:"secret" pattern:"secret" nullable:"false" doc:"Your own signing secret, for hmac only: whsec_ and the base64 of 24 to 64 random bytes. By default the service generates a secret."`
	Signature storage.Signature `json:"signature" nullable:"false" doc:"The signature scheme: hmac, verified with the secret, or ed25519, verified with a public key."`
}

// Prefix and sizes in bytes of a signing secret, as in Standard Webhooks
// (github.com/standard-webhooks/standard-webhooks, spec, "Signature scheme"): the prefix
// and base64.
const (
	SecretPrefix = "whsec_"
	minSecretLen = 24
	maxSecretLen = 64
)

// Check checks the signature scheme and the caller's own secret. An empty secret is valid.
func (c *SecretChoice) Check(p *storage.Problems) {
	known := c.Signature == storage.SignatureHMAC || c.Signature == storage.SignatureEd25519
	p.Check(known, "signature", "must be one of %s, %s", storage.SignatureHMAC, storage.SignatureEd25519)
	if c.Secret == "" {
		return
	}
	if c.Signature == storage.SignatureEd25519 {
		p.Addf("secret", "is for hmac only: the service generates the key pair of ed25519")
		return
	}
	text, ok := strings.CutPrefix(c.Secret, SecretPrefix)
	raw, err := base64.StdEncoding.Strict().DecodeString(text)
	ok = ok && err == nil && !strings.ContainsAny(text, "\r\n") && len(raw) >= minSecretLen && len(raw) <= maxSecretLen
	p.Check(ok, "secret", "must be %s and the base64 of %d to %d bytes", SecretPrefix, minSecretLen, maxSecretLen)
}

// Authentication authorizes requests to an endpoint with a token in the Authorization
// header. Responses never contain its secret.
type Authentication struct {
	_ struct{} `required:"type"`

	Type         storage.AuthenticationType `json:"type" nullable:"false" doc:"bearer sends a fixed token. oauth2 requests a token with client credentials, reuses it until it expires, and requests a new token when the endpoint refuses it." example:"oauth2"`
	Token        string                     `json:"token,omitempty" maxLength:"4096" nullable:"false" doc:"The bearer token, shown as ********. Omit it or send ******** to keep the stored token."`
	TokenURL     string                     `json:"tokenUrl,omitempty" format:"uri" maxLength:"2048" nullable:"false" doc:"The URL of the token endpoint. The rules for the endpoint's url apply." example:"https://auth.partner.example/token"`
	ClientID     string                     `json:"clientId,omitempty" maxLength:"255" nullable:"false" example:"gridhook"`
	ClientSecret string                     `json:"clientSecret,omitempty" maxLength:"4096" nullable:"false" doc:"Shown as ********. Omit it or send ******** to keep the stored secret." example:"********"`
	Scopes       []string                   `json:"scopes,omitempty" maxItems:"20" itemsMinLength:"1" itemsMaxLength:"128" nullable:"false" example:"[\"webhooks\"]"`
	Audience     string                     `json:"audience,omitempty" maxLength:"512" nullable:"false" doc:"The audience, if the token endpoint requires one."`
}

// ClientCertificate is the client certificate for destinations with mutual TLS. Requests
// with a client certificate use HTTP/1.1.
type ClientCertificate struct {
	_ struct{} `required:"certificate"`

	Certificate string       `json:"certificate" maxLength:"16384" nullable:"false" doc:"The chain in PEM, the client's own certificate first."`
	PrivateKey  string       `json:"privateKey" maxLength:"16384" nullable:"false" doc:"The client's private key in PEM, not encrypted, shown as ********. Omit it or send ******** to keep the stored key."`
	ExpiresAt   storage.Time `json:"expiresAt" readOnly:"true" doc:"When the client's own certificate expires."`
}

// Secret returns a pointer to the authentication's secret.
func (a *Authentication) Secret() *string {
	if a.Type == storage.AuthenticationOAuth2 {
		return &a.ClientSecret
	}
	return &a.Token
}

// SettingsOf returns the settings of an endpoint for a response. Their secrets are masked.
func SettingsOf(e *storage.WebhookEndpoint) EndpointSettings {
	s := EndpointSettings{
		EndpointSettings: e.EndpointSettings, Authentication: authenticationOf(e), ClientCertificate: clientCertificateOf(e),
	}
	s.URL, s.Headers, s.BatchSize = storage.MaskURL(e.URL), MaskedHeaders(e), max(1, e.BatchSize)
	s.Format, s.Compression = cmp.Or(e.Format, storage.FormatSignal), cmp.Or(e.Compression, storage.CompressionNone)
	s.HTTPVersion = cmp.Or(e.HTTPVersion, storage.HTTPVersionAuto)
	s.HomeIDs, s.RatePlanIDs = append([]string{}, e.HomeIDs...), append([]string{}, e.RatePlanIDs...) // older records have none
	return s
}

// NewEndpointSettings returns the default settings of an endpoint.
func NewEndpointSettings() EndpointSettings {
	e := storage.NewWebhookEndpoint("")
	return SettingsOf(&e)
}

// MaskedHeaders returns the names of an endpoint's headers, each with a masked value.
func MaskedHeaders(e *storage.WebhookEndpoint) map[string]string {
	shown := make(map[string]string, len(e.Headers)+len(e.SealedHeaders))
	for _, headers := range []map[string]string{e.Headers, e.SealedHeaders} {
		for name := range headers {
			shown[name] = storage.Masked
		}
	}
	return shown
}

func authenticationOf(e *storage.WebhookEndpoint) *Authentication {
	a := e.Authentication
	if a == nil {
		return nil
	}
	out := &Authentication{Type: a.Type, TokenURL: storage.MaskURL(a.TokenURL), ClientID: a.ClientID, Scopes: a.Scopes, Audience: a.Audience}
	*out.Secret() = storage.Masked
	return out
}

func clientCertificateOf(e *storage.WebhookEndpoint) *ClientCertificate {
	c := e.ClientCertificate
	if c == nil {
		return nil
	}
	out := &ClientCertificate{Certificate: c.Certificate, PrivateKey: storage.Masked}
	if leaf, err := c.Leaf(); err == nil {
		out.ExpiresAt = storage.Time{Time: leaf.NotAfter}
	}
	return out
}
