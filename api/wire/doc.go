// Package wire has the request and response types of the HTTP interface. Their tags have
// names, bounds and documentation. The server decodes, validates and documents by the
// tags. Package client sends and reads the types.
//
// A response may also use a type of storage, events or pricing with the same tags.
// Package schema reads the tags.
package wire
