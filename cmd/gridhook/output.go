package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/spf13/pflag"

	"github.com/gridhook/gridhook/storage"
)

// These are the output formats.
const (
	outputTable = "table"
	outputWide  = "wide"
	outputJSON  = "json"
)

// outputs lists the output formats.
var outputs = []string{outputTable, outputWide, outputJSON}

// outputFlags adds the flags that select the output format.
func (g *globals) outputFlags(flags *pflag.FlagSet) {
	flags.FuncP("output", "o", "output `format`: table, wide (a table with more columns) or json (default table)", func(text string) error {
		if !slices.Contains(outputs, text) {
			return errors.New("must be table, wide or json")
		}
		g.output = text
		return nil
	})
	flags.BoolFunc("json", "same as -o json", func(text string) error {
		on, err := strconv.ParseBool(text)
		if on {
			g.output = outputJSON
		}
		return err
	})
}

func (g *globals) json() bool { return g.output == outputJSON }

// show prints a value as JSON if selected. Otherwise human prints it, with tabs between
// columns.
func (g *globals) show(value any, human func(w io.Writer)) error {
	if g.json() {
		return g.showJSON(value)
	}
	w := tabwriter.NewWriter(g.out, 0, 0, 2, ' ', 0)
	human(w)
	return w.Flush()
}

// showJSON prints a value as JSON. Its strings have the characters that plain replaces as escapes.
func (g *globals) showJSON(value any) error {
	var encoded, shown strings.Builder
	e := json.NewEncoder(&encoded)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		return err
	}
	for _, r := range encoded.String() {
		if r != '\n' && steers(r) {
			say(&shown, `\u%04x`, r)
		} else {
			shown.WriteRune(r)
		}
	}
	_, err := io.WriteString(g.out, shown.String())
	return err
}

// say prints a message. It ignores errors, because it has no other output.
func say(w io.Writer, format string, args ...any) { _, _ = fmt.Fprintf(w, format, args...) }

// row prints a line of a table. Each cell is one line without control characters.
func row(w io.Writer, cells ...any) {
	line := make([]string, len(cells))
	for i, c := range cells {
		line[i] = plain(fmt.Sprint(c))
	}
	say(w, "%s\n", strings.Join(line, "\t"))
}

// steers reports whether a character controls the terminal or the direction of text.
func steers(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }

// plain replaces characters that steer, because names and responses are untrusted.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if steers(r) {
			return ' '
		}
		return r
	}, s)
}

// count returns a number with its noun, such as "1 line" or "2 lines".
func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// moment formats a timestamp, or "-" if it is zero.
func moment(t storage.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format(time.RFC3339)
}

// or returns s, or "-" if s is empty.
func or(s string) string { return cmp.Or(s, "-") }
