// Command gridhook is Gridhook in one binary: the server, its roles, and the commands of
// its clients.
//
// Each file holds one subcommand. A function in that file creates the subcommand, and
// newRoot in root.go lists the function. Four files are shared: globals.go (streams and
// environment), connection.go (finding the server and the operator's key), output.go
// (tables and JSON) and failure.go (errors as sentences, exit codes). A subcommand
// parses, calls one function, and prints.
//
// The command may import every other package. No package imports the command.
package main
