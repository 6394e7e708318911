package main

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// progressLine shows the progress of long work: on a terminal in one line that it
// replaces, elsewhere in a new line from time to time.
type progressLine struct {
	w           io.Writer
	terminal    bool
	every       time.Duration
	began, last time.Time
	width       int // of the current line
}

func (g *globals) newProgress() *progressLine {
	return &progressLine{w: g.err, terminal: isTerminal(g.err), every: g.progressEvery, began: time.Now(), last: time.Now()}
}

// show shows the progress in words, with the share of done in total. A total of 0 is
// unknown.
func (p *progressLine) show(words string, done, total int64) {
	if total > 0 {
		words = fmt.Sprintf("%3d%%  %s", min(done, total)*100/total, words)
	}
	if p.terminal {
		pad := max(p.width-len([]rune(words)), 0)
		say(p.w, "\r%s%s", words, strings.Repeat(" ", pad))
		p.width = len([]rune(words))
		return
	}
	if time.Since(p.last) >= p.every {
		p.last = time.Now()
		say(p.w, "%s\n", strings.TrimSpace(words))
	}
}

// end clears the line.
func (p *progressLine) end() {
	if p.width > 0 {
		say(p.w, "\r%s\r", strings.Repeat(" ", p.width))
		p.width = 0
	}
}

// rate returns a text such as ", 12000 lines/s, 20s left". The rate counts things. The
// remaining time follows from done and total. A total of 0 is unknown.
func (p *progressLine) rate(things int64, name string, done, total int64) string {
	elapsed := time.Since(p.began)
	if elapsed < time.Second {
		return ""
	}
	words := fmt.Sprintf(", %.0f %s/s", float64(things)/elapsed.Seconds(), name)
	if done > 0 && total > done {
		left := time.Duration(float64(elapsed) * float64(total-done) / float64(done))
		words += fmt.Sprintf(", %s left", left.Round(time.Second))
	}
	return words
}
