package main

import "io"

// painter colors words on a terminal unless color is disabled (NO_COLOR, see
// no-color.org; TERM=dumb).
type painter struct{ on bool }

func (g *globals) painter(w io.Writer) painter {
	return painter{on: isTerminal(w) && g.getenv("NO_COLOR") == "" && g.getenv("TERM") != "dumb"}
}

func (p painter) good(s string) string   { return p.paint("32", s) }
func (p painter) bad(s string) string    { return p.paint("31", s) }
func (p painter) notice(s string) string { return p.paint("33", s) }

// paint puts a text between a color code and the reset code (ECMA-48, SGR).
func (p painter) paint(color, s string) string {
	if !p.on {
		return s
	}
	return "\x1b[" + color + "m" + s + "\x1b[0m"
}
