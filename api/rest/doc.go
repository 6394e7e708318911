// Package rest has the common parts of all operations. It serves the table of routes,
// authenticates callers and enforces limits. It encodes values as JSON and errors as
// public problems. It repeats responses by idempotency key, pages lists and observes
// requests. It depends on keys and organizations, but on no other resource.
//
// serve.go handles a request from top to bottom: path, method, size, key, rate, media
// type. Then the operation follows: JSON, schema, object, conflict.
//
// It may import storage, events for trace context and periodic tasks, api/schema and
// api/wire. The router is gorilla/mux. No other package depends on the router.
package rest
