package main

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/gridhook/gridhook/api/client"
)

// maxChunk and maxChunkLines bound a request. They are large enough to hide the round
// trip. They are small enough that a server stores the lines well before its timeout, and
// that the response is bounded if every line is wrong.
const (
	maxChunk      = 4 << 20
	maxChunkLines = 20_000
)

// chunk is a sequence of lines in one request.
type chunk struct {
	body    bytes.Buffer
	numbers []int // of each line, in its file
}

// number returns the number in the file of a line of the chunk. Both count from 1.
func (c *chunk) number(line int) int {
	if line < 1 || line > len(c.numbers) {
		return line // the server refers to a line that it did not receive
	}
	return c.numbers[line-1]
}

// chunker collects lines and sends them in chunks.
type chunker struct {
	send func(*chunk) error
	// check reports whether a line is sent. If nil, every line is sent.
	check   func(number int, line []byte) bool
	pending chunk
}

func newChunker(send func(*chunk) error) *chunker { return &chunker{send: send} }

// add adds a line without its line end.
func (c *chunker) add(number int, line []byte) error {
	if c.check != nil && !c.check(number, line) {
		return nil
	}
	full := c.pending.body.Len()+len(line)+1 > maxChunk || len(c.pending.numbers) == maxChunkLines
	if full && len(c.pending.numbers) > 0 {
		if err := c.flush(); err != nil {
			return err
		}
	}
	c.pending.body.Write(line)
	c.pending.body.WriteByte('\n')
	c.pending.numbers = append(c.pending.numbers, number)
	return nil
}

// flush sends the pending lines.
func (c *chunker) flush() error {
	if len(c.pending.numbers) == 0 {
		return nil
	}
	err := c.send(&c.pending)
	c.pending = chunk{}
	return err
}

// sendTries is the number of attempts to send a chunk to an unavailable server.
const sendTries = 5

// sendChunk sends a chunk and retries if the server asks for it. Lines that are already
// stored change nothing.
func sendChunk(ctx context.Context, c *client.Client, chunk *chunk) (client.Imported, error) {
	for try := 1; ; try++ {
		imported, err := c.Import(ctx, bytes.NewReader(chunk.body.Bytes()))
		var refused *client.Error
		if !errors.As(err, &refused) || refused.Code != client.CodeUnavailable || try == sendTries {
			return imported, err
		}
		select {
		case <-time.After(time.Duration(refused.RetryAfterSeconds) * time.Second):
		case <-ctx.Done():
			return imported, ctx.Err()
		}
	}
}
