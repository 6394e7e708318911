// Package gate decides whether a request to an endpoint may go now. Endpoint.Enter asks
// for permission, and Pass.Leave reports how the request ended.
//
// gate.go has the checks of a request: rate limit, the endpoint's concurrency limit,
// breaker, the worker's concurrency limit. endpoint.go has the state of one endpoint,
// rate.go its rate limit, and breaker.go its circuit breaker. slow.go keeps slices that
// wait for slow endpoints out of the worker's slots, and watch.go finds them. Package turns
// gives requests to organizations in turn.
//
// gate may import storage, events/turns and the pure package policy. It does not depend on
// messages.
package gate
