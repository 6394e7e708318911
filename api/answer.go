package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"
)

// answer is the body of an answer. Its memory is that of answers before: a price signal
// is 16 KB, and to leave that as garbage would be most of what a process that answers
// leaves.
type answer struct{ bytes.Buffer }

// keptAnswer is the most memory that an answer leaves to those after it, in bytes.
const keptAnswer = 64 << 10

var answers = sync.Pool{New: func() any { return new(answer) }}

func newAnswer() *answer { return answers.Get().(*answer) }

// done gives the memory back. Nobody may hold the answer's bytes any more.
func (a *answer) done() {
	if a.Cap() > keptAnswer {
		return
	}
	a.Reset()
	answers.Put(a)
}

// encode writes a value as JSON.
func (a *answer) encode(value any) error {
	if own, ok := value.(encoder); ok {
		_, _ = a.Write(own.appendTo(a.AvailableBuffer())) // a buffer takes all
		return nil
	}
	e := json.NewEncoder(a)
	e.SetEscapeHTML(false) // it is never HTML: see nosniff
	if err := e.Encode(value); err != nil {
		return fmt.Errorf("the answer does not encode: %w", err)
	}
	return nil
}
