// Package tour runs the commands in the documentation as a reader would. It runs block
// after block in one shell, in a fresh folder, against the binary of this tree. It
// compares the output with the text. The quickstart continues in the shell of the README.
//
// A block is fenced as sh. Its output follows, fenced as text. In the output, "..."
// stands for any text in a line, and a line with only "..." for any number of lines. Runs
// of spaces are equal. An HTML comment before a block changes its treatment:
//
//	<!-- tour: not run, REASON -->   the block is not for this machine
//	<!-- tour: exit 1 -->            the block must end with this exit code
//
// A block of another language after
//
//	<!-- from: examples/go-receiver/main.go -->
//
// is not run. Its text must occur in that file.
//
// It has tests only, and imports only the standard library, pricing/catalog and
// cmd/internal/blackbox.
package tour
