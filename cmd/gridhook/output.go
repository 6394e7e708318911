package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/gridhook/gridhook/storage"
)

// show prints a value: as JSON when that was asked for, and for people by
// human, which writes columns with tabs between them.
func (g *globals) show(value any, human func(w io.Writer)) error {
	if g.json {
		return g.showJSON(value)
	}
	w := tabwriter.NewWriter(g.out, 0, 0, 2, ' ', 0)
	human(w)
	return w.Flush()
}

func (g *globals) showJSON(value any) error {
	e := json.NewEncoder(g.out)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(value)
}

// say writes to people. Where nobody reads any more there is nobody to tell.
func say(w io.Writer, format string, args ...any) { _, _ = fmt.Fprintf(w, format, args...) }

// row writes one line of a table. Cells are shown in one line each, and never
// steer the terminal.
func row(w io.Writer, cells ...any) {
	texts := make([]string, len(cells))
	for i, c := range cells {
		texts[i] = plain(fmt.Sprint(c))
	}
	say(w, "%s\n", strings.Join(texts, "\t"))
}

// plain replaces control characters: names and answers come from elsewhere.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return ' '
		}
		return r
	}, s)
}

// showList prints a list as a table with a header.
func showList[T any](g *globals, items []T, what string, header []any, cells func(T) []any) error {
	return g.show(items, func(w io.Writer) {
		if len(items) == 0 {
			say(w, "There are no %s.\n", what)
			return
		}
		row(w, header...)
		for _, item := range items {
			row(w, cells(item)...)
		}
	})
}

// moment is a timestamp for people, "-" for none.
func moment(t storage.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format(time.RFC3339)
}

// or is s, or "-" when it is empty.
func or(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
