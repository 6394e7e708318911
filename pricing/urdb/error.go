package urdb

import (
	"fmt"
	"strings"
)

// maxProblems limits the list of problems of one document.
const maxProblems = 1000

// Problem is one problem of a tariff document. Path is the place in JSON path form, such
// as "energyweekdayschedule[3][17]". It is empty for the whole document.
type Problem struct {
	Path    string
	Message string
}

// Error lists all problems of a tariff document, in the order of reading. After 1000
// problems it only counts them, in Omitted.
type Error struct {
	Problems []Problem
	Omitted  int
}

const problemPrefix = "pricing: invalid tariff: "

// Error names the first few problems and counts the others.
func (e *Error) Error() string {
	const shown = 5
	var b strings.Builder
	b.WriteString(problemPrefix)
	for i, p := range e.Problems[:min(shown, len(e.Problems))] {
		if i > 0 {
			b.WriteString("; ")
		}
		if p.Path != "" {
			b.WriteString(p.Path + ": ")
		}
		b.WriteString(p.Message)
	}
	if more := len(e.Problems) - shown + e.Omitted; more > 0 {
		fmt.Fprintf(&b, "; and %d more", more)
	}
	return b.String()
}

func (e *Error) add(path, format string, args ...any) {
	if len(e.Problems) == maxProblems {
		e.Omitted++
		return
	}
	e.Problems = append(e.Problems, Problem{Path: path, Message: fmt.Sprintf(format, args...)})
}

// asError returns the error, or nil without problems.
func (e *Error) asError() error {
	if len(e.Problems) == 0 {
		return nil
	}
	return e
}
