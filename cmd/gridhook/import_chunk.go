package main

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/gridhook/gridhook/api/client"
)

// maxChunk and maxChunkLines are how much is sent at once: enough that the round
// trip costs nothing, little enough that a server stores it well within its
// time-out, and that its answer is bounded where every line is wrong.
const (
	maxChunk      = 4 << 20
	maxChunkLines = 20_000
)

// chunk is a run of lines that are sent together.
type chunk struct {
	body    bytes.Buffer
	numbers []int // of each line, in its file
}

// number is the number in the file of a line of the chunk, both from 1.
func (c *chunk) number(line int) int {
	if line < 1 || line > len(c.numbers) {
		return line // the server speaks of a line that it was not sent
	}
	return c.numbers[line-1]
}

// chunker collects lines and sends them when there are enough.
type chunker struct {
	send    func(*chunk) error
	pending chunk
}

func newChunker(send func(*chunk) error) *chunker { return &chunker{send: send} }

// add takes one line, without its end.
func (c *chunker) add(number int, line []byte) error {
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

// flush sends what is there.
func (c *chunker) flush() error {
	if len(c.pending.numbers) == 0 {
		return nil
	}
	err := c.send(&c.pending)
	c.pending = chunk{}
	return err
}

// sendTries is how often a chunk is sent to a server that cannot take it now.
const sendTries = 5

// sendChunk sends a chunk, again when the server asks for that: lines that are
// stored already change nothing.
func sendChunk(ctx context.Context, c *client.Client, chunk *chunk) (client.Imported, error) {
	for try := 1; ; try++ {
		answer, err := c.Import(ctx, bytes.NewReader(chunk.body.Bytes()))
		var refused *client.Error
		if !errors.As(err, &refused) || refused.Code != client.CodeUnavailable || try == sendTries {
			return answer, err
		}
		select {
		case <-time.After(time.Duration(refused.RetryAfterSeconds) * time.Second):
		case <-ctx.Done():
			return answer, ctx.Err()
		}
	}
}
