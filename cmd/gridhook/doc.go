// Command gridhook is Gridhook in one binary: the server, its roles, and the commands of
// its clients.
//
// A file that is named for a subcommand creates the subcommand. newRoot in root.go lists
// all. Most subcommands are operations of a resource: resource.go makes their requests and
// shows the responses, bodyflag.go makes the fields of a request from flags, and record.go
// makes tables. Also shared are globals.go (streams and environment), connection.go (finding
// the server and the operator's key), output.go (output formats) and failure.go (errors as
// sentences, exit codes).
//
// The command may import every other package. No package imports the command.
package main
