package storage

import "time"

// RelayURL is the URL of an endpoint whose webhooks go to the client that listens at it,
// over a connection that the client has opened. It names no host, so that it is never
// dialed.
const RelayURL = RelayScheme + ":listen"

// RelayScheme is the scheme of RelayURL and of no other URL of an endpoint.
const RelayScheme = "relay"

// RelayRetention is how long a relay endpoint remains after a client last began to listen.
const RelayRetention = time.Hour

// IsRelay reports whether clients receive the endpoint's webhooks by listening.
func (e *EndpointSettings) IsRelay() bool { return e.URL == RelayURL }

// UnusedRelays returns the relay endpoints whose retention has passed. Beginning to listen
// touches an endpoint.
func UnusedRelays(v View, now time.Time) ([]Record, error) {
	return Matching(v, KindWebhookEndpoint, func(r Record) bool {
		e, err := DecodeEndpoint(r) // a record that does not decode is another matter
		return now.Sub(r.At) > RelayRetention && err == nil && e.IsRelay()
	})
}
