package config

import (
	"fmt"
	"strings"
)

// Mistake is one error in the configuration.
type Mistake struct {
	// Setting is the setting's name, or the unknown key.
	Setting string
	// Source is the source of the value, such as "flag --http" or "GRIDHOOK_HTTP".
	Source string
	// Message says what a valid value would be.
	Message string
}

func (m Mistake) String() string {
	return fmt.Sprintf("%s (%s) %s", m.Setting, m.Source, m.Message)
}

// Error lists every mistake.
type Error struct{ Mistakes []Mistake }

// Error returns one sentence, or one line for each mistake.
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
