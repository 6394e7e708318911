package config

import (
	"fmt"
	"strings"
)

// Mistake is one thing that is wrong with the configuration.
type Mistake struct {
	// Setting is its name, or what stands in its place.
	Setting string
	// Source is where the value came from, such as "flag --http" or
	// "GRIDHOOK_HTTP".
	Source string
	// Message says what would be right.
	Message string
}

func (m Mistake) String() string {
	return fmt.Sprintf("%s (%s) %s", m.Setting, m.Source, m.Message)
}

// Error lists every mistake, at once.
type Error struct{ Mistakes []Mistake }

// Error is one sentence, or one line for each mistake.
func (e *Error) Error() string {
	if len(e.Mistakes) == 1 {
		return e.Mistakes[0].String()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d settings are wrong:", len(e.Mistakes))
	for _, m := range e.Mistakes {
		b.WriteString("\n  " + m.String())
	}
	return b.String()
}
