// Package api is Gridhook's HTTP interface: the partners' operations and the
// operator's.
//
// Every operation is a POST with JSON in and out, and one row of the table in
// routes.go. The way of a request reads from top to bottom in serve.go: path,
// method, size, key, rate, media type, JSON, schema, object, conflict. An
// operation is a method that takes its decoded input and returns a value or an
// error; the value becomes JSON, and the error a public problem (problem.go), in
// one place each.
//
// api may import events, storage and pricing, and not the dispatcher. The router
// is gorilla/mux, which nothing outside this package knows.
package api
