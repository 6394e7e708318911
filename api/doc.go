// Package api is Gridhook's HTTP interface for partners and the operator.
//
// Every operation is a POST with JSON in and out. Each operation is a row of the tables
// in routes.go and routes_operator.go. An operation is a method that takes its decoded
// and checked input and returns a value or an error. An operation whose row has Checks
// adds the wrong fields of its entity to Call.Wrong, and returns them before it stores
// anything. The files are named for the nouns of the operations.
//
// Package rest routes a request to its operation and writes the response. Package wire
// has the types of requests and responses. Package schema decodes, checks and documents
// by the tags of the types.
//
// api may import events, storage and pricing. It must not import the dispatcher.
package api
