package rest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"
)

// buffers holds responses while they are encoded and sent. The Content-Length header
// needs the complete response. Buffers are reused because a day's price signal is 17 KB.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// maxBuffer is the maximum size of a reused buffer in bytes.
const maxBuffer = 64 << 10

// buffer returns an empty buffer. giveBack makes the buffer available for reuse.
func buffer() (b *bytes.Buffer, giveBack func()) {
	b = buffers.Get().(*bytes.Buffer)
	return b, func() {
		if b.Cap() <= maxBuffer {
			b.Reset()
			buffers.Put(b)
		}
	}
}

// Encode appends the JSON of a value to a buffer.
func Encode(b *bytes.Buffer, value any) error {
	if own, ok := value.(Encoder); ok {
		_, _ = b.Write(own.AppendTo(b.AvailableBuffer())) // writing to a buffer never fails
		return nil
	}
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false) // responses are never HTML: see nosniff
	if err := e.Encode(value); err != nil {
		return fmt.Errorf("the response does not encode: %w", err)
	}
	return nil
}
