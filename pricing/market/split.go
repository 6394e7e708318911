package market

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/gridhook/gridhook/pricing/internal/plain"
)

// row is one line with its fields by name. Names are in lower case, with letters and
// digits only.
type row struct {
	line   int
	fields map[string]string
}

// MaxRow bounds a row in bytes. An unclosed quote would otherwise make the rest of a file
// one row in memory.
const MaxRow = 1 << 20

// ErrLongRow is the error of a RowReader at its bound.
var ErrLongRow = fmt.Errorf("a row is longer than %d bytes: look for an unclosed quote", MaxRow)

// RowReader reads at most Left bytes of R. Its caller sets Left to MaxRow before each row.
type RowReader struct {
	R    io.Reader
	Left int
}

// Read reads from R. Errors: ErrLongRow, the errors of R.
func (l *RowReader) Read(p []byte) (int, error) {
	if l.Left <= 0 {
		return 0, ErrLongRow
	}
	n, err := l.R.Read(p[:min(len(p), l.Left)])
	l.Left -= n
	return n, err
}

// splitter splits a file into rows.
type splitter struct {
	limit *RowReader
	text  *bufio.Reader
	take  func(row)
	bad   func(LineError)
}

// split passes the rows of a file to take, and its malformed lines to bad.
func split(file io.Reader, take func(row), bad func(LineError)) error {
	const beginning = 4 << 10
	limit := &RowReader{R: file, Left: MaxRow}
	s := splitter{limit: limit, text: bufio.NewReaderSize(limit, 64<<10), take: take, bad: bad}
	if mark, _ := s.text.Peek(3); string(mark) == "\xef\xbb\xbf" {
		_, _ = s.text.Discard(len(mark)) // they are in the buffer
	}
	start, err := s.text.Peek(beginning)
	start = bytes.TrimSpace(start)
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return fmt.Errorf("%w: %w", ErrFile, err)
	case err != nil && len(start) == 0:
		return fmt.Errorf("%w: it is empty", ErrFile)
	case len(start) > 0 && start[0] == '{':
		return s.json()
	}
	return s.csv()
}

// json splits NDJSON.
func (s *splitter) json() error {
	for number := 1; ; number++ {
		s.limit.Left = MaxRow
		line, err := s.text.ReadBytes('\n')
		end := errors.Is(err, io.EOF)
		if err != nil && !end {
			return fmt.Errorf("%w: after line %d: %w", ErrFile, number-1, err)
		}
		if len(bytes.TrimSpace(line)) > 0 {
			s.object(number, line)
		}
		if end {
			return nil
		}
	}
}

// object passes on a line of NDJSON.
func (s *splitter) object(number int, line []byte) {
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.UseNumber()
	var object map[string]any
	if err := decoder.Decode(&object); err != nil {
		s.bad(LineError{Line: number, Field: "line", Reason: "not a JSON object"})
		return
	}
	r := row{line: number, fields: map[string]string{}}
	for key, v := range object {
		switch v := v.(type) {
		case string:
			r.fields[plain.Name(key)] = strings.TrimSpace(v)
		case json.Number:
			r.fields[plain.Name(key)] = v.String()
		}
	}
	s.take(r)
}

// csv splits CSV with a header row.
func (s *splitter) csv() error {
	in := csv.NewReader(s.text)
	in.FieldsPerRecord = -1
	in.TrimLeadingSpace = true
	header, err := in.Read()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrFile, err)
	}
	for i := range header {
		header[i] = plain.Name(header[i])
	}
	for last := 1; ; {
		s.limit.Left = MaxRow
		record, err := in.Read()
		malformed, isMalformed := errors.AsType[*csv.ParseError](err)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case isMalformed:
			last = malformed.Line
			s.bad(LineError{Line: malformed.StartLine, Field: "line", Reason: malformed.Err.Error()})
			continue
		case err != nil:
			return fmt.Errorf("%w: after line %d: %w", ErrFile, last, err)
		}
		last, _ = in.FieldPos(0)
		if len(record) != len(header) {
			s.bad(LineError{Line: last, Field: "line", Reason: fmt.Sprintf("has %d fields, the header %d", len(record), len(header))})
			continue
		}
		r := row{line: last, fields: make(map[string]string, len(header))}
		for i, name := range header {
			r.fields[name] = strings.TrimSpace(record[i])
		}
		s.take(r)
	}
}
