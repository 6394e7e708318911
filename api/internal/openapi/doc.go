// Package openapi makes the document of Gridhook's HTTP interface: OpenAPI 3.1 in
// JSON and YAML, and a page to read. It is made of what the API itself runs on,
// the table of routes and the Go types of bodies and answers, with the comments of
// their fields; what types cannot say, such as bounds, is a table here (rules.go),
// which the API's tests hold against its behaviour.
//
// The program in gen writes the files that package api embeds. Nothing of this is
// part of the server.
package openapi
