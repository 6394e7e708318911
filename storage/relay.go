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
func UnusedRelays(v View, now time.Time) (unused []Record, err error) {
	for r, err := range LiveEverywhere(v, KindWebhookEndpoint) {
		if err != nil {
			return nil, err
		}
		if now.Sub(r.At) <= RelayRetention {
			continue
		}
		if e, err := DecodeEndpoint(r); err == nil && e.IsRelay() { // a record that does not decode is another matter
			unused = append(unused, r)
		}
	}
	return unused, nil
}
