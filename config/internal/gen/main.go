// Gen writes the table of settings in docs/configuration.md.
package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/gridhook/gridhook/config"
)

func main() {
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// run replaces the table of settings in a page.
func run(path string) error {
	page, err := os.ReadFile(path) //nolint:gosec // the developer names the file
	if err != nil {
		return err
	}
	text, err := withTable(string(page))
	if err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o644) //nolint:gosec // a page of the documentation
}

// head begins the table of settings.
const head = `| Setting | Type | Default | Commands | Meaning |
|---|---|---|---|---|
`

// withTable returns a page with the current table of settings.
func withTable(page string) (string, error) {
	before, after, found := strings.Cut(page, head)
	if !found {
		return "", errors.New("the page has no table of settings")
	}
	for strings.HasPrefix(after, "|") {
		_, after, _ = strings.Cut(after, "\n")
	}
	var rows strings.Builder
	for _, s := range config.Settings() {
		fmt.Fprintf(&rows, "| `%s` | %s | %s | %s | %s |\n", s.Name, s.Kind(), defaultCell(&s), rolesCell(&s), s.Help)
	}
	return before + head + rows.String() + after, nil
}

func defaultCell(s *config.Setting) string {
	if s.Default == "" {
		return ""
	}
	return "`" + s.Default + "`"
}

func rolesCell(s *config.Setting) string {
	var names []string
	for _, r := range s.Roles {
		name := string(r)
		if slices.Contains(s.Required, r) {
			name += " (required)"
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}
