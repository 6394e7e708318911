package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/events/periodic"
	"github.com/gridhook/gridhook/storage"
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

// sendTries is the number of attempts to send to an unavailable server.
const sendTries = 5

// retryUnavailable sends an import and retries if the server asks for it. An import may be
// repeated, because it stores each record once.
func retryUnavailable[T any](ctx context.Context, send func() (T, error)) (T, error) {
	for try := 1; ; try++ {
		imported, err := send()
		refused, ok := errors.AsType[*client.Error](err)
		if !ok || refused.Code != client.CodeUnavailable || try == sendTries {
			return imported, err
		}
		if periodic.Sleep(ctx, time.Duration(refused.RetryAfterSeconds)*time.Second); ctx.Err() != nil {
			return imported, ctx.Err()
		}
	}
}

// maxLine is the length limit of a line in bytes. A server's default limit is lower.
const maxLine = client.MaxImport - 1<<10

// readLine reads a line with its line end. It returns only the beginning of a line that is
// longer than maxLine.
func readLine(r *bufio.Reader) (line []byte, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if len(line) <= maxLine {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// readNDJSON reads resources, one per line. It passes lines that are too long to leftOut.
func readNDJSON(r io.Reader, org string, to *chunker, leftOut func(fileError)) error {
	lines := bufio.NewReaderSize(r, 64<<10)
	for number := 1; ; number++ {
		line, err := readLine(lines)
		end := errors.Is(err, io.EOF)
		if err != nil && !end {
			return errors.Join(to.flush(), err)
		}
		line = bytes.TrimSpace(line)
		switch {
		case len(line) > maxLine:
			leftOut(wrongLine(number, "line", fmt.Sprintf("must have at most %d bytes", maxLine)))
		case len(line) > 0:
			if err := to.add(number, withOrganization(line, org)); err != nil {
				return err
			}
		}
		if end {
			return to.flush()
		}
	}
}

func wrongLine(number int, field, message string) fileError {
	return fileError{ImportError: client.ImportError{Line: number, Fields: []storage.FieldError{{Field: field, Message: message}}}}
}

// withOrganization adds the organization to a line that names none. The rest of the line
// stays unchanged for the server to validate. Resources that the operator owns or that
// all organizations may share stay without an organization.
func withOrganization(line []byte, org string) []byte {
	if org == "" || line[0] != '{' {
		return line
	}
	var head struct {
		Resource       string          `json:"resource"`
		OrganizationID json.RawMessage `json:"organizationId"`
	}
	if err := json.Unmarshal(line, &head); err != nil || head.OrganizationID != nil {
		return line
	}
	switch storage.Kind(head.Resource) {
	case "", storage.KindOrganization, storage.KindUtility, storage.KindDemandResponse, storage.KindArea,
		storage.KindRatePlan, storage.KindPlanEvent, storage.KindMarketSeries:
		return line
	}
	field := append([]byte(`{"organizationId":`), strconv.Quote(org)...)
	return append(append(field, ','), line[1:]...)
}
