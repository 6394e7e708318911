// Command gridhook is Gridhook in one binary: the server and its roles, and the
// commands that talk to a server.
//
// Each file holds one subcommand, made by a function that newRoot lists in
// root.go; what they share is in globals.go (streams and environment),
// connection.go (finding the server and the operator's key), output.go (tables
// and JSON) and failure.go (errors as sentences, exit codes). A subcommand parses,
// calls one thing, and prints.
//
// It may import everything below, and nothing imports it.
package main
