package storage

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"
)

// The event types that webhooks carry.
const (
	EventPriceSignalUpdated = "price_signal.updated"
	EventTriggerCompleted   = "price_signal.trigger.completed"
	EventEndpointDisabled   = "endpoint.disabled"
	EventWebhookTest        = "webhook.test"
)

// EventPriceSignalBatch is the type of a request with several events, all of
// EventPriceSignalUpdated, which endpoints that ask for batches are sent in their
// place. No endpoint chooses it by its event types.
const EventPriceSignalBatch = "price_signal.batch"

// MaxBatchSize bounds a batch: no work is handed out in larger pieces, so that a
// crash repeats no more than it would without batches.
const MaxBatchSize = 64

// EventTypes are all event types.
func EventTypes() []string {
	return []string{EventPriceSignalUpdated, EventTriggerCompleted, EventEndpointDisabled, EventWebhookTest}
}

// DeliveryMode is when a signal is sent.
type DeliveryMode string

// The delivery modes.
const (
	// DeliverAlways sends every signal.
	DeliverAlways DeliveryMode = "always"
	// DeliverOnChange skips a signal that is the same as the last delivered.
	DeliverOnChange DeliveryMode = "onChange"
)

// SignalFormat is how a price signal is written.
type SignalFormat string

// The formats.
const (
	// FormatSignal is the service's own.
	FormatSignal SignalFormat = "signal"
	// FormatOpenADR3 are events of OpenADR 3.
	FormatOpenADR3 SignalFormat = "openadr3"
)

// SignalFormats are all formats.
func SignalFormats() []SignalFormat { return []SignalFormat{FormatSignal, FormatOpenADR3} }

// Compression is how the body of a webhook is compressed.
type Compression string

// The compressions.
const (
	// CompressionNone sends the JSON as it is.
	CompressionNone Compression = "none"
	// CompressionGzip sends it with Content-Encoding: gzip (RFC 1952).
	CompressionGzip Compression = "gzip"
)

// Compressions are all compressions.
func Compressions() []Compression { return []Compression{CompressionNone, CompressionGzip} }

// WebhookEndpoint is where an organization's webhooks go.
type WebhookEndpoint struct {
	ID          string `json:"id"`
	URL         string `json:"url"`
	Description string `json:"description"`
	// EventTypes are the events sent; empty means all.
	EventTypes []string `json:"eventTypes"`
	// Enabled is false while the endpoint is paused: nothing is sent to it or
	// queued for it, and what waits for it is let go when it is due.
	Enabled bool `json:"enabled"`
	// Disabled is set where the service has disabled it, until it is enabled again.
	Disabled *Disabled         `json:"disabled,omitempty"`
	Headers  map[string]string `json:"headers"`
	// RateLimit is the most deliveries a second, 0 for no limit.
	RateLimit float64 `json:"rateLimit"`
	// TimeoutSeconds bounds one attempt, connection included.
	TimeoutSeconds float64      `json:"timeoutSeconds"`
	DeliveryMode   DeliveryMode `json:"deliveryMode"`
	// Format is how signals are written, FormatSignal where nothing is said.
	Format SignalFormat `json:"format,omitempty"`
	// Compression of the bodies, CompressionNone where nothing is said.
	Compression Compression `json:"compression,omitempty"`
	RetryPolicy RetryPolicy `json:"retryPolicy"`
	// BatchSize is how many homes' signals one request may carry; 0 and 1 send each
	// on its own.
	BatchSize int `json:"batchSize,omitempty"`
	// Secrets sign the deliveries, the newest first. They are sealed: see
	// package vault.
	Secrets []SealedSecret `json:"secrets"`
	// Authentication authorizes the requests, and ClientCertificate is shown to
	// the destination, where there are any.
	Authentication    *Authentication    `json:"authentication,omitempty"`
	ClientCertificate *ClientCertificate `json:"clientCertificate,omitempty"`
	Base
}

// RetryPolicy says when a failed delivery is tried again: exponential backoff
// with full jitter.
type RetryPolicy struct {
	// InitialSeconds is the ceiling of the first pause.
	InitialSeconds float64 `json:"initialSeconds"`
	// Multiplier is the factor from one pause's ceiling to the next.
	Multiplier float64 `json:"multiplier"`
	// MaxSeconds is the highest ceiling.
	MaxSeconds float64 `json:"maxSeconds"`
	// GiveUpSeconds is how long after the trigger retries go on, at most 24 h;
	// they end sooner when the signal's own window has ended.
	GiveUpSeconds float64 `json:"giveUpSeconds"`
	// DisableAfterSeconds is how long every attempt must have failed, at least
	// LeastFailures of them, for the endpoint to be disabled; 0 for never.
	DisableAfterSeconds float64 `json:"disableAfterSeconds"`
}

// LeastFailures is how many attempts in a row must fail, however long it takes,
// before an endpoint is disabled: what is tried seldom is not given up on two errors.
const LeastFailures = 10

// DefaultRetryPolicy is 5 s growing to 15 min, for 24 h; what fails for five days is
// disabled.
func DefaultRetryPolicy() RetryPolicy {
	return RetryPolicy{InitialSeconds: 5, Multiplier: 2, MaxSeconds: 900, GiveUpSeconds: 86400, DisableAfterSeconds: 5 * 86400}
}

// DisabledReason is why the service has disabled an endpoint.
type DisabledReason string

// The reasons.
const (
	// DisabledGone: it answered 410 Gone.
	DisabledGone DisabledReason = "GONE"
	// DisabledFailing: every attempt failed for as long as its retry policy bears.
	DisabledFailing DisabledReason = "FAILING"
)

// DisabledReasons are all reasons.
func DisabledReasons() []DisabledReason { return []DisabledReason{DisabledGone, DisabledFailing} }

// Disabled says why and when the service has disabled an endpoint.
type Disabled struct {
	Reason DisabledReason `json:"reason"`
	// Detail says it in words.
	Detail string `json:"detail"`
	At     Time   `json:"at"`
}

// Disable turns the endpoint off for a reason.
func (e *WebhookEndpoint) Disable(reason DisabledReason, detail string, now time.Time) {
	e.Enabled, e.Disabled = false, &Disabled{Reason: reason, Detail: detail, At: Time{Time: now}}
}

// SetEnabled turns the endpoint on or off as its owner wants it.
func (e *WebhookEndpoint) SetEnabled(on bool) {
	if e.Enabled = on; on {
		e.Disabled = nil
	}
}

// Signature is how deliveries are signed.
type Signature string

// The signatures.
const (
	// SignatureHMAC is HMAC-SHA256 with a secret that both sides have.
	SignatureHMAC Signature = "hmac"
	// SignatureEd25519 is Ed25519, which partners verify with a public key.
	SignatureEd25519 Signature = "ed25519"
)

// SealedSecret is a signing secret, encrypted.
type SealedSecret struct {
	Sealed string `json:"sealed"`
	// PublicKey verifies an Ed25519 secret's signatures, whpk_ and base64; empty
	// for HMAC.
	PublicKey string `json:"publicKey,omitempty"`
	CreatedAt Time   `json:"createdAt"`
	// ExpiresAt is when a replaced secret stops signing, zero for the newest.
	ExpiresAt Time `json:"expiresAt"`
}

// SecretOverlap is how long a replaced secret goes on signing.
const SecretOverlap = 24 * time.Hour

// NewWebhookEndpoint is an endpoint with the defaults that apply where nothing
// is said. It has no secret yet.
func NewWebhookEndpoint(org string) WebhookEndpoint {
	e := WebhookEndpoint{
		EventTypes: []string{}, Enabled: true, Headers: map[string]string{}, TimeoutSeconds: 10,
		DeliveryMode: DeliverAlways, Format: FormatSignal, Compression: CompressionNone, RetryPolicy: DefaultRetryPolicy(),
	}
	e.OrganizationID = org
	return e
}

// Wants reports whether the endpoint is sent events of the type.
func (e *WebhookEndpoint) Wants(eventType string) bool {
	return e.Enabled && (len(e.EventTypes) == 0 || slices.Contains(e.EventTypes, eventType))
}

// WebhookEndpointRef names an endpoint.
func WebhookEndpointRef(org, id string) Ref { return Ref{KindWebhookEndpoint, org, id} }

// Ref names the endpoint.
func (e *WebhookEndpoint) Ref() Ref { return WebhookEndpointRef(e.OrganizationID, e.ID) }

// Validate names every wrong field. What the operator's policy says of the
// destination (scheme, port, address) is checked where it is known, by the
// dispatcher's guard.
func (e *WebhookEndpoint) Validate() error {
	var p Problems
	checkID(&p, "id", e.ID)
	checkURL(&p, "url", e.URL)
	checkText(&p, "description", e.Description, 0, 500)
	for i, t := range e.EventTypes {
		checkEnum(&p, index("eventTypes", i), t, EventTypes()...)
	}
	checkHeaders(&p, e.Headers)
	p.Check(e.RateLimit >= 0 && e.RateLimit <= 1e6, "rateLimit", "must be from 0 (no limit) to 1000000 deliveries a second")
	p.Check(e.TimeoutSeconds >= 0.1 && e.TimeoutSeconds <= 60, "timeoutSeconds", "must be from 0.1 to 60")
	checkEnum(&p, "deliveryMode", e.DeliveryMode, DeliverAlways, DeliverOnChange)
	if e.Format != "" {
		checkEnum(&p, "format", e.Format, SignalFormats()...)
	}
	if e.Compression != "" {
		checkEnum(&p, "compression", e.Compression, Compressions()...)
	}
	p.Check(e.BatchSize >= 0 && e.BatchSize <= MaxBatchSize, "batchSize", "must be from 0 to %d", MaxBatchSize)
	if e.Authentication != nil {
		e.Authentication.check(&p, e)
	}
	if e.ClientCertificate != nil {
		e.ClientCertificate.check(&p, e)
	}
	r := e.RetryPolicy
	p.Check(r.InitialSeconds >= 1 && r.InitialSeconds <= 3600, "retryPolicy.initialSeconds", "must be from 1 to 3600")
	p.Check(r.Multiplier >= 1 && r.Multiplier <= 10, "retryPolicy.multiplier", "must be from 1 to 10")
	p.Check(r.MaxSeconds >= r.InitialSeconds && r.MaxSeconds <= 86400, "retryPolicy.maxSeconds", "must be from initialSeconds to 86400")
	p.Check(r.GiveUpSeconds >= 0 && r.GiveUpSeconds <= 86400, "retryPolicy.giveUpSeconds", "must be from 0 to 86400")
	p.Check(r.DisableAfterSeconds == 0 || r.DisableAfterSeconds >= 60 && r.DisableAfterSeconds <= 30*86400,
		"retryPolicy.disableAfterSeconds", "must be from 60 to 2592000, or 0 for never")
	return p.Err()
}

func checkURL(p *Problems, field, text string) {
	u, err := url.Parse(text)
	switch {
	case text == "":
		p.Addf(field, "is required")
	case len(text) > 2048:
		p.Addf(field, "must have at most 2048 characters")
	case err != nil || u.Host == "" || u.Hostname() == "" || u.Opaque != "":
		p.Addf(field, "must be an absolute URL such as https://example.com/hooks")
	case u.Scheme != "https" && u.Scheme != "http":
		p.Addf(field, "must be an https URL")
	case u.User != nil:
		p.Addf(field, "must not carry a user or password")
	case u.Fragment != "":
		p.Addf(field, "must not have a fragment")
	}
}

// reservedHeaders are set by Gridhook or by HTTP itself.
var reservedHeaders = []string{
	"Webhook-Id", "Webhook-Timestamp", "Webhook-Signature", "Content-Type", "Content-Length",
	"Content-Encoding", "Transfer-Encoding", "Connection", "Host", "User-Agent", "Te", "Trailer", "Upgrade",
	"Keep-Alive", "Expect", "Traceparent",
}

func checkHeaders(p *Problems, headers map[string]string) {
	p.Check(len(headers) <= 20, "headers", "must be at most 20")
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		field, value := "headers."+name, headers[name]
		switch {
		case !httpguts.ValidHeaderFieldName(name) || len(name) > 128:
			p.Addf("headers", "%q is no valid header name", name)
		case slices.Contains(reservedHeaders, http.CanonicalHeaderKey(name)) || strings.HasPrefix(strings.ToLower(name), "proxy-"):
			p.Addf(field, "is set by Gridhook and cannot be replaced")
		case !httpguts.ValidHeaderFieldValue(value) || len(value) > 1024:
			p.Addf(field, "must be a valid header value of at most 1024 characters")
		}
	}
}
