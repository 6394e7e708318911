// Package openadr serves OpenADR 3.1 as a virtual top node (VTN). It serves programs,
// events, reports, subscriptions, VENs and resources of an organization. It shares the
// store with the partners' operations. Programs are also derived from rate plans and from
// the emissions of grid regions. Each local day of a derived program is an event.
//
// Files: shapes.go has the request types. objects.go has the operations that all objects
// have in common. rules.go has the differences between objects. derived.go has the
// derived programs and events. server.go handles a request.
//
// It may import api/rest, api/schema, storage and events.
package openadr
