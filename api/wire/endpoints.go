package wire

import (
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// EndpointSettings are the settings of an endpoint that a partner controls.
type EndpointSettings struct {
	URL               string               `json:"url" format:"uri" maxLength:"2048" doc:"Where the webhooks go: https, on port 443 or 8443, and to a public address, unless the operator allows others. Its query is stored encrypted and shown as ********; the url as it is shown keeps it." example:"https://partner.example/hooks/gridhook"`
	Description       string               `json:"description" maxLength:"500" example:"production"`
	EventTypes        []string             `json:"eventTypes" itemsEnum:"price_signal.updated,openadr.event.updated,price_signal.trigger.completed,endpoint.disabled,webhook.test" doc:"The events sent; empty means all." example:"[\"price_signal.updated\"]"`
	Enabled           bool                 `json:"enabled" doc:"Whether anything is sent. While it is false, nothing is queued for the endpoint either, and what waits for it is let go when it is due. A test is sent all the same." example:"true"`
	Headers           map[string]string    `json:"headers" itemsMaxLength:"1024" maxProperties:"20" doc:"Sent with every delivery. Values are stored encrypted and shown as ********, which keeps the stored value when it is sent back, unless the url's host changes." example:"{\"X-Site\":\"eu-1\"}"`
	RateLimit         float64              `json:"rateLimit" minimum:"0" maximum:"1000000" doc:"The most deliveries a second from each worker process, 0 for no limit. A fleet of three workers sends up to three times as many." example:"50"`
	TimeoutSeconds    float64              `json:"timeoutSeconds" minimum:"0.1" maximum:"60" doc:"Bounds one attempt, connection included." example:"10"`
	DeliveryMode      storage.DeliveryMode `json:"deliveryMode" doc:"onChange skips a signal that is the same as the last delivered to the same url in the same format."`
	Format            storage.SignalFormat `json:"format" doc:"How signals are written."`
	Compression       storage.Compression  `json:"compression" doc:"How bodies are compressed: gzip is Content-Encoding: gzip, with a signature for the bytes that are sent and one for the JSON in them." example:"gzip"`
	HTTPVersion       storage.HTTPVersion  `json:"httpVersion" doc:"The version of HTTP over TLS: auto is HTTP/1.1, and HTTP/2 where the destination refuses HTTP/1.1; 1.1 is HTTP/1.1 only; 2 is HTTP/2, and HTTP/1.1 where the destination does not offer HTTP/2." example:"auto"`
	RetryPolicy       storage.RetryPolicy  `json:"retryPolicy" doc:"When a failed delivery is tried again."`
	BatchSize         int                  `json:"batchSize" minimum:"0" maximum:"64" doc:"How many homes' signals one request may carry. With 0 and 1 each is sent on its own, and with more as price_signal.batch." example:"1"`
	Authentication    *Authentication      `json:"authentication" doc:"authentication and clientCertificate are null where the signature is all that the destination needs."`
	ClientCertificate *ClientCertificate   `json:"clientCertificate" example:"null"`
}

// Endpoint is a webhook endpoint in a response, without its secrets.
type Endpoint struct {
	ID string `json:"id" example:"ep_01JZ2E6K8M0000000000000000"`
	EndpointSettings
	PublicKey       string            `json:"publicKey" doc:"publicKey verifies the deliveries of an endpoint with ed25519 signatures, whpk_ and base64; empty with hmac."`
	SecretRotatedAt storage.Time      `json:"secretRotatedAt" doc:"When the newest signing secret was made."`
	Disabled        *storage.Disabled `json:"disabled" doc:"Why the service has disabled it; null where it has not, or it was enabled again." example:"null"`
	Health          events.Health     `json:"health" doc:"How it has done of late."`
	Breaker         events.Breaker    `json:"breaker" doc:"Whether it is tried now."`
	CreatedAt       storage.Time      `json:"createdAt"`
	UpdatedAt       storage.Time      `json:"updatedAt"`
}

// EndpointWithSecret is an endpoint with its signing secret. Only the response that sets
// the secret contains it.
type EndpointWithSecret struct {
	Endpoint
	Secret string `json:"secret" doc:"The signing secret." example:"whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="`
}

// SecretChoice selects the signature scheme and the secret of future deliveries.
type SecretChoice struct {
	Secret    string            `json:"secret" pattern:"secret" nullable:"false" doc:"secret is by default made for you. One of your own is whsec_ and the base64 of 24 to 64 random bytes; it is for hmac alone."`
	Signature storage.Signature `json:"signature" nullable:"false" doc:"Hmac, verified with the secret, or ed25519, verified with a public key."`
}

// Authentication authorizes requests to an endpoint with a token in the Authorization
// header. Responses never contain its secret.
type Authentication struct {
	_ struct{} `required:"type"`

	Type         storage.AuthenticationType `json:"type" nullable:"false" doc:"Bearer, a token that does not change, or oauth2, a token that is asked for with client credentials, kept while it is good, and asked for again when it is refused." example:"oauth2"`
	Token        string                     `json:"token,omitempty" maxLength:"4096" nullable:"false" doc:"The bearer token. It is shown as ********; to leave it out, or to send that, keeps it."`
	TokenURL     string                     `json:"tokenUrl,omitempty" format:"uri" maxLength:"2048" nullable:"false" doc:"Where tokens are asked for. It is bound as the endpoint's url is." example:"https://auth.partner.example/token"`
	ClientID     string                     `json:"clientId,omitempty" maxLength:"255" nullable:"false" example:"gridhook"`
	ClientSecret string                     `json:"clientSecret,omitempty" maxLength:"4096" nullable:"false" doc:"Shown as ********; to leave it out, or to send that, keeps it." example:"********"`
	Scopes       []string                   `json:"scopes,omitempty" maxItems:"20" itemsMinLength:"1" itemsMaxLength:"128" nullable:"false" example:"[\"webhooks\"]"`
	Audience     string                     `json:"audience,omitempty" maxLength:"512" nullable:"false" doc:"Sent along where the token endpoint needs it."`
}

// ClientCertificate is the client certificate for destinations with mutual TLS. Requests
// with a client certificate use HTTP/1.1.
type ClientCertificate struct {
	_ struct{} `required:"certificate"`

	Certificate string       `json:"certificate" maxLength:"16384" nullable:"false" doc:"The chain in PEM, the client's own certificate first."`
	PrivateKey  string       `json:"privateKey" maxLength:"16384" nullable:"false" doc:"The client's key in PEM, not encrypted. It is shown as ********; to leave it out, or to send that, keeps it."`
	ExpiresAt   storage.Time `json:"expiresAt" readOnly:"true" doc:"When the client's own certificate ends."`
}

// Secret returns a pointer to the authentication's secret.
func (a *Authentication) Secret() *string {
	if a.Type == storage.AuthenticationOAuth2 {
		return &a.ClientSecret
	}
	return &a.Token
}
