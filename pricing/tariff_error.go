package pricing

import (
	"fmt"
	"strings"
)

// maxProblems bounds the list of a hopeless document.
const maxProblems = 1000

// TariffProblem is one thing wrong with a tariff document. Path is the place in
// JSON path form, such as "energyweekdayschedule[3][17]"; it is empty for the
// document as a whole.
type TariffProblem struct {
	Path    string
	Message string
}

// TariffError lists everything that is wrong with a tariff document, in the
// order of reading. After 1000 problems only their number is counted, in Omitted.
type TariffError struct {
	Problems []TariffProblem
	Omitted  int
}

// Error names the first few problems and counts the others.
func (e *TariffError) Error() string {
	const shown = 5
	var b strings.Builder
	b.WriteString("pricing: invalid tariff: ")
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

func (e *TariffError) add(path, format string, args ...any) {
	if len(e.Problems) == maxProblems {
		e.Omitted++
		return
	}
	e.Problems = append(e.Problems, TariffProblem{Path: path, Message: fmt.Sprintf(format, args...)})
}

// asError is the error, or nil when nothing is wrong.
func (e *TariffError) asError() error {
	if len(e.Problems) == 0 {
		return nil
	}
	return e
}
