package tour

import (
	"regexp"
	"strings"
	"testing"
)

// anything stands for text that differs from run to run.
const anything = "..."

var spaces = regexp.MustCompile(`[ \t]+`)

// progress is a line of "trigger --watch". The number of such lines depends on the
// machine's speed. The first five seconds have none.
var progress = regexp.MustCompile(`(?m)^\d+ of \d+ homes walked; .*\n`)

// lines returns a text's lines without the padding of tables.
func lines(text string) []string {
	var out []string
	for line := range strings.SplitSeq(strings.Trim(text, "\n"), "\n") {
		out = append(out, strings.TrimSpace(spaces.ReplaceAllString(line, " ")))
	}
	return out
}

// matches reports whether a text equals the shown one, except for progress lines.
func matches(shown, text string) bool {
	return matchLines(lines(shown), lines(progress.ReplaceAllString(text, "")))
}

func matchLines(shown, text []string) bool {
	if len(shown) == 0 {
		return len(text) == 0
	}
	if shown[0] == anything {
		for skipped := range len(text) + 1 {
			if matchLines(shown[1:], text[skipped:]) {
				return true
			}
		}
		return false
	}
	return len(text) > 0 && matchLine(shown[0], text[0]) && matchLines(shown[1:], text[1:])
}

func matchLine(shown, line string) bool {
	parts := strings.Split(shown, anything)
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return regexp.MustCompile("^" + strings.Join(parts, ".*") + "$").MatchString(line)
}

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		shown, text string
		want        bool
	}{
		{"a  b", "a\tb\n", true},
		{"a b", "ab", false},
		{"id ...", "id trg_1", true},
		{"id ...", "name trg_1", false},
		{"...", "", true},
		{"...\nlast", "1\n2\nlast\n", true},
		{"...\nlast", "1\n2\nlast\nmore", false},
		{"first\n...", "first", true},
		{"a.c", "abc", false},
		{"one", "one\ntwo", false},
		{"one", "2 of 3 homes walked; deliveries: 2 delivered, 1 retrying\none", true},
	} {
		if got := matches(c.shown, c.text); got != c.want {
			t.Errorf("%q against %q: %t", c.shown, c.text, got)
		}
	}
}
