package main

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// bar is a progress bar on a terminal. Elsewhere it prints nothing.
type bar struct {
	w     io.Writer
	what  string
	total int64
	shown int // width of the current line
}

// newBar returns a bar for a total number of what. An empty what shows a share instead of
// a number. A total of 0 is unknown.
func newBar(w io.Writer, what string, total int64) *bar {
	if !isTerminal(w) {
		w = nil
	}
	return &bar{w: w, what: what, total: total}
}

const barWidth = 30

// show draws the bar, followed by words.
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

// pace measures a rate and estimates the remaining time.
type pace struct{ began time.Time }

// words returns a text such as "12000 lines/s, 20s left". The rate counts things; the
// remaining time follows from done and total. A total of 0 is unknown.
func (p pace) words(things int64, name string, done, total int64) string {
	took := time.Since(p.began)
	if took < time.Second {
		return ""
	}
	words := fmt.Sprintf(", %.0f %s/s", float64(things)/took.Seconds(), name)
	if done > 0 && total > done {
		left := time.Duration(float64(took) * float64(total-done) / float64(done))
		words += fmt.Sprintf(", %s left", left.Round(time.Second))
	}
	return words
}

// bytesText formats a number of bytes, such as 1.2 MiB.
func bytesText(n int64) string {
	value, unit := float64(n), 0
	units := []string{"bytes", "KiB", "MiB", "GiB", "TiB"}
	for value >= 1024 && unit < len(units)-1 {
		value, unit = value/1024, unit+1
	}
	if unit == 0 {
		return fmt.Sprintf("%d bytes", n)
	}
	return fmt.Sprintf("%.1f %s", value, units[unit])
}

// progressBar shows progress: on a terminal in one line, elsewhere in a new line from
// time to time.
type progressBar struct {
	*bar
	out   io.Writer
	every time.Duration
	told  time.Time
}

// newProgress returns a progressBar for a total number of what.
func (g *globals) newProgress(what string, total int64) *progressBar {
	return &progressBar{bar: newBar(g.err, what, total), out: g.err, every: g.tellEvery, told: time.Now()}
}

// show shows the progress, followed by words.
func (p *progressBar) show(done int64, words string) {
	if p.w == nil && time.Since(p.told) >= p.every {
		p.told = time.Now()
		say(p.out, "%s\n", strings.TrimSpace(words))
	}
	p.bar.show(done, words)
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
