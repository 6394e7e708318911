// Package tour runs the commands that the documentation shows, as a reader
// would: block after block in one shell, in a fresh folder, against the binary of
// this tree, and compares what they print with what the text says that they print.
//
// A block is fenced as sh, and what it prints follows it, fenced as text. There
// "..." stands for anything in a line, and a line of its own for any number of
// lines; runs of spaces are equal. An HTML comment before a block changes how it is
// taken:
//
//	<!-- tour: not run, REASON -->   the block is not for this machine
//	<!-- tour: exit 1 -->            the block must end with this exit code
//
// A block of another language that follows
//
//	<!-- from: examples/go-receiver/main.go -->
//
// is not run, and must stand in that file.
//
// It has tests only, and imports nothing but the standard library, pricing/catalog and cmd/internal/blackbox.
package tour
