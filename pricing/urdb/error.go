package urdb

import (
	"fmt"
	"strings"

	"github.com/gridhook/gridhook/pricing"
)

// maxProblems limits the list of problems of one document.
const maxProblems = 1000

// Error lists all problems of a tariff document, in the order of reading. The field of a
// problem is its place, such as "energyweekdayschedule[3][17]". It is empty for the whole
// document. After 1000 problems Error only counts them, in Omitted.
type Error struct {
	Problems []pricing.FieldError
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
		if p.Field != "" {
			b.WriteString(p.Field + ": ")
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
	e.Problems = append(e.Problems, pricing.FieldError{Field: path, Message: fmt.Sprintf(format, args...)})
}

// asError returns the error, or nil without problems.
func (e *Error) asError() error {
	if len(e.Problems) == 0 {
		return nil
	}
	return e
}
