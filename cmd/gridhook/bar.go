package main

import (
	"fmt"
	"io"
	"strings"
)

// bar is a progress bar on a terminal, and nothing elsewhere.
type bar struct {
	w     io.Writer
	what  string
	total int64
	shown int // width of the line that is there now
}

// newBar makes a bar for so many of something, or for a share of nothing that is
// worth a name. A total of 0 is not known.
func newBar(w io.Writer, what string, total int64) *bar {
	if !isTerminal(w) {
		w = nil
	}
	return &bar{w: w, what: what, total: total}
}

const barWidth = 30

// show draws the bar, with a few words behind it.
func (b *bar) show(done int64, words string) {
	if b.w == nil {
		return
	}
	line := barLine(b.what, done, b.total, words)
	pad := max(b.shown-len([]rune(line)), 0)
	say(b.w, "\r%s%s", line, strings.Repeat(" ", pad))
	b.shown = len([]rune(line))
}

// end clears the line.
func (b *bar) end() {
	if b.w != nil && b.shown > 0 {
		say(b.w, "\r%s\r", strings.Repeat(" ", b.shown))
		b.shown = 0
	}
}

func barLine(what string, done, total int64, words string) string {
	switch {
	case total <= 0 && what == "":
		return words
	case total <= 0:
		return fmt.Sprintf("%d %s  %s", done, what, words)
	}
	done = min(done, total)
	full := int(done * barWidth / total)
	line := fmt.Sprintf("%s%s %3d%%", strings.Repeat("█", full), strings.Repeat("░", barWidth-full), done*100/total)
	if what != "" {
		line += fmt.Sprintf(" of %d %s", total, what)
	}
	return line + "  " + words
}
