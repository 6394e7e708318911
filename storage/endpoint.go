package storage

import (
	"cmp"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"
)

// The event types that webhooks carry.
const (
	EventPriceSignalUpdated = "price_signal.updated"
	// EventOpenADRUpdated replaces EventPriceSignalUpdated at an endpoint with the format
	// FormatOpenADR3.
	EventOpenADRUpdated = "openadr.event.updated"
	// EventPriceSignalChanged replaces EventPriceSignalUpdated at an endpoint with the
	// format FormatThin.
	EventPriceSignalChanged = "price_signal.changed"
	EventTriggerCompleted   = "price_signal.trigger.completed"
	EventEndpointDisabled   = "endpoint.disabled"
	EventFlexAlert          = "flex_alert"
	EventWebhookTest        = "webhook.test"
)

// EventPriceSignalBatch is the type of a request that carries several
// EventPriceSignalUpdated events. Endpoints with a BatchSize above 1 receive batches.
// A batch has at most 64 homes, a slice of a walk, so a crash repeats no more than it would
// without batches. Endpoints cannot list this type in their event types.
const EventPriceSignalBatch = "price_signal.batch"

// EventTypes returns all event types.
func EventTypes() []string {
	return []string{EventPriceSignalUpdated, EventOpenADRUpdated, EventPriceSignalChanged, EventTriggerCompleted, EventEndpointDisabled, EventFlexAlert, EventWebhookTest}
}

// DeliveryMode decides which signals are sent.
type DeliveryMode string

// The delivery modes.
const (
	// DeliverAlways sends every signal.
	DeliverAlways DeliveryMode = "always"
	// DeliverOnChange skips a signal that equals the last delivered signal.
	DeliverOnChange DeliveryMode = "onChange"
)

// SignalFormat is the format of a price signal.
type SignalFormat string

// The formats.
const (
	// FormatSignal is the service's own format.
	FormatSignal SignalFormat = "signal"
	// FormatOpenADR3 sends events of OpenADR 3.
	FormatOpenADR3 SignalFormat = "openadr3"
	// FormatThin sends which signal is available, without its prices.
	FormatThin SignalFormat = "thin"
)

// SignalFormats returns all formats.
func SignalFormats() []SignalFormat { return []SignalFormat{FormatSignal, FormatOpenADR3, FormatThin} }

// signalEvents maps each format to the event type of its price signals.
var signalEvents = map[SignalFormat]string{FormatOpenADR3: EventOpenADRUpdated, FormatThin: EventPriceSignalChanged}

// SignalEvent returns the event type of price signals in the format.
func (f SignalFormat) SignalEvent() string { return cmp.Or(signalEvents[f], EventPriceSignalUpdated) }

// Compression is the compression of a webhook's body.
type Compression string

// The compressions.
const (
	// CompressionNone sends the JSON as it is.
	CompressionNone Compression = "none"
	// CompressionGzip sends the JSON with Content-Encoding: gzip (RFC 1952).
	CompressionGzip Compression = "gzip"
)

// Compressions returns all compressions.
func Compressions() []Compression { return []Compression{CompressionNone, CompressionGzip} }

// HTTPVersion is the version of HTTP that deliveries use over TLS.
type HTTPVersion string

// The versions of HTTP.
const (
	// HTTPVersionAuto uses HTTP/1.1, and HTTP/2 if the destination refuses HTTP/1.1.
	HTTPVersionAuto HTTPVersion = "auto"
	// HTTPVersion1 uses HTTP/1.1 only.
	HTTPVersion1 HTTPVersion = "1.1"
	// HTTPVersion2 uses HTTP/2, and HTTP/1.1 if the destination does not offer HTTP/2.
	HTTPVersion2 HTTPVersion = "2"
)

// HTTPVersions returns all versions.
func HTTPVersions() []HTTPVersion {
	return []HTTPVersion{HTTPVersionAuto, HTTPVersion1, HTTPVersion2}
}

// EndpointSettings are the settings of an endpoint that a partner controls, except its
// authentication. Format, Compression and HTTPVersion may be empty in older records: the
// defaults apply.
type EndpointSettings struct {
	URL            string            `json:"url" format:"uri" maxLength:"2048" doc:"The destination of the webhooks: https, port 443 or 8443, and a public address, unless the operator allows others. relay:listen has the webhooks received by a client that listens at the endpoint. The query is stored encrypted and shown as ********. Sending the URL as it is shown keeps the stored query." example:"https://partner.example/hooks/gridhook"`
	Description    string            `json:"description" maxLength:"500" example:"production"`
	EventTypes     []string          `json:"eventTypes" maxItems:"20" itemsEnum:"price_signal.updated,openadr.event.updated,price_signal.changed,price_signal.trigger.completed,endpoint.disabled,flex_alert,webhook.test" doc:"The event types to send. An empty list means all. A test is sent whatever the list says, and a list with only webhook.test receives only tests." example:"[\"price_signal.updated\"]"`
	VerifyURL      bool              `json:"verifyUrl" doc:"Whether a new URL must prove that it wants webhooks. It must respond to a GET with the parameter echo with 200 and the parameter's value, or the request is refused." example:"false"`
	Enabled        bool              `json:"enabled" doc:"Whether the endpoint receives events. While it is false, no event is queued and waiting deliveries are dropped when they are due. A test is sent anyway." example:"true"`
	Headers        map[string]string `json:"headers" itemsMaxLength:"1024" maxProperties:"20" doc:"Headers of every delivery. Values are stored encrypted and shown as ********. Sending ******** keeps the stored value, unless the URL's host changes." example:"{\"X-Site\":\"eu-1\"}"`
	RateLimit      float64           `json:"rateLimit" minimum:"0" maximum:"1000000" doc:"The maximum number of deliveries a second from each worker process, 0 for no limit. Three workers send up to three times as many." example:"50"`
	TimeoutSeconds float64           `json:"timeoutSeconds" minimum:"0.1" maximum:"60" doc:"The timeout of one attempt, connection included." example:"10"`
	DeliveryMode   DeliveryMode      `json:"deliveryMode" doc:"always sends every signal. onChange skips a signal that equals the last signal delivered to the same URL in the same format."`
	MinPriceChange float64           `json:"minPriceChange" minimum:"0" maximum:"50" doc:"With onChange, the least change of a price of any interval that is sent, in $/kWh, 0 for any change. Prices count as changed when they round to another multiple of it, so a smaller change may be sent too." example:"0"`
	HomeIDs        []string          `json:"homeIds" itemsPattern:"id" maxItems:"1000" doc:"The homes whose signals to send. An empty list means all." example:"[]"`
	RatePlanIDs    []string          `json:"ratePlanIds" itemsPattern:"id" maxItems:"100" doc:"The rate plans whose homes' signals to send. An empty list means all. With homeIds, a home must be in both." example:"[]"`
	Format         SignalFormat      `json:"format" doc:"The format of signals: signal, openadr3 for OpenADR 3 events, or thin for the identity of the signal without its prices."`
	Compression    Compression       `json:"compression" doc:"The compression of bodies. gzip sends Content-Encoding: gzip, with one signature for the sent bytes and one for the JSON." example:"gzip"`
	HTTPVersion    HTTPVersion       `json:"httpVersion" doc:"The version of HTTP over TLS. auto uses HTTP/1.1, and HTTP/2 if the destination refuses HTTP/1.1. 1.1 uses HTTP/1.1 only. 2 uses HTTP/2, and HTTP/1.1 if the destination does not offer HTTP/2." example:"auto"`
	RetryPolicy    RetryPolicy       `json:"retryPolicy" doc:"When a failed delivery is retried."`
	BatchSize      int               `json:"batchSize" minimum:"0" maximum:"64" doc:"The maximum number of homes whose signals one request carries. 0 and 1 send each signal in its own request. More sends price_signal.batch." example:"1"`
}

// WebhookEndpoint is a destination of an organization's webhooks. The query of URL is
// masked and the values of Headers are sealed: see package vault.
type WebhookEndpoint struct {
	ID string `json:"id"`
	EndpointSettings
	// SealedURL is the whole URL, empty if the URL has no query.
	SealedURL string `json:"sealedUrl,omitempty"`
	// Disabled is set while the service has disabled the endpoint.
	Disabled      *Disabled         `json:"disabled,omitempty"`
	SealedHeaders map[string]string `json:"sealedHeaders,omitempty"`
	// Secrets sign the deliveries, the newest first. They are sealed.
	Secrets []SealedSecret `json:"secrets"`
	// Authentication authorizes the requests, if set. ClientCertificate is presented to
	// the destination, if set.
	Authentication    *Authentication    `json:"authentication,omitempty"`
	ClientCertificate *ClientCertificate `json:"clientCertificate,omitempty"`
	Base
}

// RetryPolicy configures the retries of a failed delivery: exponential backoff with full
// jitter.
type RetryPolicy struct {
	InitialSeconds      float64 `json:"initialSeconds" minimum:"1" maximum:"3600" doc:"The maximum of the first delay." example:"5"`
	Multiplier          float64 `json:"multiplier" minimum:"1" maximum:"10" doc:"The growth of the maximum delay from one attempt to the next." example:"2"`
	MaxSeconds          float64 `json:"maxSeconds" minimum:"1" maximum:"86400" doc:"The longest delay." example:"900"`
	GiveUpSeconds       float64 `json:"giveUpSeconds" minimum:"0" maximum:"86400" doc:"How long after the trigger a delivery is retried, and waits for an endpoint that is down, at most 24 h. Retries end earlier at the end of the signal's window." example:"86400"`
	DisableAfterSeconds float64 `json:"disableAfterSeconds" minimum:"0" maximum:"2592000" doc:"How long every attempt must fail, and at least 10 attempts, before the endpoint is disabled: 60 to 2592000, or 0 for never." example:"432000"`
}

// LeastFailures is the number of consecutive failed attempts, over any time, before an
// endpoint is disabled. It protects an endpoint with few deliveries from being disabled
// after two errors.
const LeastFailures = 10

// DefaultRetryPolicy retries after 5 s, growing to 15 min, for 24 h. It disables an
// endpoint after five days of failures.
func DefaultRetryPolicy() RetryPolicy {
	return RetryPolicy{InitialSeconds: 5, Multiplier: 2, MaxSeconds: 900, GiveUpSeconds: 86400, DisableAfterSeconds: 5 * 86400}
}

// Tolerated returns how long an endpoint may fail before it is disabled. For an endpoint
// that is never disabled it is the default.
func (p RetryPolicy) Tolerated() time.Duration {
	if p.DisableAfterSeconds == 0 {
		p = DefaultRetryPolicy()
	}
	return time.Duration(p.DisableAfterSeconds * float64(time.Second))
}

// DisabledReason is the reason why the service disabled an endpoint.
type DisabledReason string

// The reasons.
const (
	// DisabledGone means that the endpoint responded 410 Gone.
	DisabledGone DisabledReason = "GONE"
	// DisabledFailing means that every attempt failed for DisableAfterSeconds of the
	// retry policy.
	DisabledFailing DisabledReason = "FAILING"
)

// DisabledReasons returns all reasons.
func DisabledReasons() []DisabledReason { return []DisabledReason{DisabledGone, DisabledFailing} }

// Disabled records why and when the service disabled an endpoint.
type Disabled struct {
	Reason DisabledReason `json:"reason" doc:"GONE if the endpoint responded with 410. FAILING if every attempt failed for disableAfterSeconds of its retry policy."`
	Detail string         `json:"detail" doc:"The reason in words."`
	At     Time           `json:"at" doc:"The time at which the service disabled the endpoint."`
}

// Disable disables the endpoint for a reason.
func (e *WebhookEndpoint) Disable(reason DisabledReason, detail string, now time.Time) {
	e.Enabled, e.Disabled = false, &Disabled{Reason: reason, Detail: detail, At: Time{Time: now}}
}

// SetEnabled enables or pauses the endpoint on behalf of its owner. Enabling clears
// Disabled.
func (e *WebhookEndpoint) SetEnabled(on bool) {
	if e.Enabled = on; on {
		e.Disabled = nil
	}
}

// Signature is the algorithm that signs deliveries.
type Signature string

// The signatures.
const (
	// SignatureHMAC is HMAC-SHA256 with a shared secret.
	SignatureHMAC Signature = "hmac"
	// SignatureEd25519 is Ed25519. Partners verify it with a public key.
	SignatureEd25519 Signature = "ed25519"
)

// SealedSecret is an encrypted signing secret.
type SealedSecret struct {
	Sealed string `json:"sealed"`
	// PublicKey verifies the signatures of an Ed25519 secret. It is whpk_ and base64,
	// empty for HMAC.
	PublicKey string `json:"publicKey,omitempty"`
	CreatedAt Time   `json:"createdAt"`
	// ExpiresAt is the time at which a replaced secret stops signing, zero for the
	// newest.
	ExpiresAt Time `json:"expiresAt"`
}

// SecretOverlap is how long a replaced secret continues to sign.
const SecretOverlap = 24 * time.Hour

// NewWebhookEndpoint returns an endpoint with the default values and without a secret.
func NewWebhookEndpoint(org string) WebhookEndpoint {
	return WebhookEndpoint{Base: Base{OrganizationID: org}, EndpointSettings: EndpointSettings{
		EventTypes: []string{}, HomeIDs: []string{}, RatePlanIDs: []string{}, Enabled: true, Headers: map[string]string{}, TimeoutSeconds: 10,
		DeliveryMode: DeliverAlways, Format: FormatSignal, Compression: CompressionNone, HTTPVersion: HTTPVersionAuto, RetryPolicy: DefaultRetryPolicy(),
	}}
}

// Wants reports whether the endpoint receives events of the type. An endpoint receives
// price signals by the name EventPriceSignalUpdated, or by the name of its format.
func (e *WebhookEndpoint) Wants(eventType string) bool {
	return e.Enabled && (len(e.EventTypes) == 0 || slices.Contains(e.EventTypes, eventType) ||
		eventType == EventPriceSignalUpdated && slices.Contains(e.EventTypes, e.Format.SignalEvent()))
}

// Selects reports whether the endpoint receives the signals of a home on a rate plan.
func (e *WebhookEndpoint) Selects(homeID, ratePlanID string) bool {
	return (len(e.HomeIDs) == 0 || slices.Contains(e.HomeIDs, homeID)) &&
		(len(e.RatePlanIDs) == 0 || slices.Contains(e.RatePlanIDs, ratePlanID))
}

// Ref names the endpoint.
func (e *WebhookEndpoint) Ref() Ref { return KindWebhookEndpoint.Ref(e.OrganizationID, e.ID) }

// usesTLS reports whether the URL is https. The case of a scheme does not matter.
func (e *EndpointSettings) usesTLS() bool {
	return strings.HasPrefix(strings.ToLower(e.URL), "https:")
}

// Check adds every wrong field. The dispatcher's guard checks the destination's
// scheme, port and address against the operator's policy.
func (e *WebhookEndpoint) Check(p *Problems) {
	if !e.IsRelay() {
		checkURL(p, "url", e.URL)
	}
	p.Check(!e.VerifyURL || !e.IsRelay(), "verifyUrl", "must be false for relay:listen, which nothing requests")
	checkHeaders(p, e.Headers)
	checkEnum(p, "deliveryMode", e.DeliveryMode, DeliverAlways, DeliverOnChange)
	p.Check(e.MinPriceChange == 0 || e.MinPriceChange >= 1e-6, "minPriceChange", "must be 0 or at least 0.000001, the precision of prices")
	p.Check(e.MinPriceChange == 0 || e.DeliveryMode == DeliverOnChange, "minPriceChange", "must be 0 unless deliveryMode is onChange")
	if e.HTTPVersion == HTTPVersion2 {
		p.Check(e.usesTLS(), "httpVersion", "must be auto or 1.1 unless the url is https")
	}
	if e.Authentication != nil {
		e.Authentication.check(p, e)
	}
	if e.ClientCertificate != nil {
		e.ClientCertificate.check(p, e)
	}
	r := e.RetryPolicy
	p.Check(r.MaxSeconds >= r.InitialSeconds, "retryPolicy.maxSeconds", "must be at least initialSeconds")
	p.Check(r.DisableAfterSeconds == 0 || r.DisableAfterSeconds >= 60, "retryPolicy.disableAfterSeconds", "must be at least 60, or 0 for never")
}

// Masked replaces a secret in a response. A request with it keeps the stored secret.
const Masked = "********"

// MaskURL returns a URL with its query masked.
func MaskURL(raw string) string {
	if i := strings.IndexByte(raw, '?'); i >= 0 {
		return raw[:i+1] + Masked
	}
	return raw
}

func checkURL(p *Problems, field, text string) {
	u, err := url.Parse(text)
	switch {
	case text == "":
		p.Addf(field, "is required")
	case err != nil || u.Host == "" || u.Hostname() == "" || u.Opaque != "":
		p.Addf(field, "must be an absolute URL such as https://example.com/hooks")
	case u.Scheme != "https" && u.Scheme != "http":
		p.Addf(field, "must be an https URL, not %s", u.Scheme)
	case u.User != nil:
		p.Addf(field, "must not contain a user or password")
	case u.Fragment != "":
		p.Addf(field, "must not have a fragment")
	}
}

// reservedHeaders lists the headers that Gridhook or HTTP itself sets.
var reservedHeaders = []string{
	"Webhook-Id", "Webhook-Timestamp", "Webhook-Signature", "Content-Type", "Content-Length",
	"Content-Encoding", "Transfer-Encoding", "Connection", "Host", "User-Agent", "Te", "Trailer", "Upgrade",
	"Keep-Alive", "Expect", "Traceparent",
}

func checkHeaders(p *Problems, headers map[string]string) {
	var invalid []string // reported last, because an error of headers hides those of its parts
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		field, value := "headers."+name, headers[name]
		switch {
		case !httpguts.ValidHeaderFieldName(name) || len(name) > 128:
			invalid = append(invalid, strconv.Quote(name))
		case slices.Contains(reservedHeaders, http.CanonicalHeaderKey(name)) || strings.HasPrefix(strings.ToLower(name), "proxy-"):
			p.Addf(field, "is set by Gridhook and cannot be replaced")
		case !httpguts.ValidHeaderFieldValue(value) || len(value) > 1024:
			p.Addf(field, "must be a valid header value of at most 1024 characters")
		}
	}
	p.Check(invalid == nil, "headers", "must have valid names of at most 128 characters, not %s", strings.Join(invalid, ", "))
}
