package market

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// LineError is a problem with one line of a file.
type LineError struct {
	Line   int // from 1
	Field  string
	Reason string
}

// ErrFile is wrapped by the error of Read.
var ErrFile = errors.New("market: no file of market prices")

// Read reads the prices of one or more nodes from CSV with a header row or from NDJSON.
// It supports the columns of CAISO (OASIS), PJM (Data Miner), ComEd and ERCOT (settlement
// point prices). It also supports these plain columns:
//
//   - a time: start, utc_start or timestamp
//   - a price with its unit: price_usd_mwh, price_usd_kwh, rt_lmp_usd_mwh, or price with unit
//   - node and market
//
// The market EMISSIONS has emissions by grid region, as price with unit g/kWh, kg/kWh or
// lb/MWh.
//
// Read ignores other columns. It returns the lines with errors, and reads the other
// lines. The result has a series for each node and market in the order of the file. The
// error wraps ErrFile if no line can be read. It wraps ErrSeries if the prices do not
// form a series.
func Read(data []byte, o Options) ([]*Series, []LineError, error) {
	rows, bad, err := split(data)
	if err != nil {
		return nil, bad, err
	}
	return read(rows, bad, o)
}

// Rows returns the rows of a file as Read understands them: the fields of a line by the
// plain names of their columns.
func Rows(data []byte) ([]map[string]string, []LineError, error) {
	rows, bad, err := split(data)
	all := make([]map[string]string, len(rows))
	for i, row := range rows {
		all[i] = row.fields
	}
	return all, bad, err
}

// ReadRows reads rows as Read reads a file. The line of an error is the number of its row,
// from 1.
func ReadRows(rows []map[string]string, o Options) ([]*Series, []LineError, error) {
	all := make([]row, len(rows))
	for i, fields := range rows {
		all[i] = row{line: i + 1, fields: fields}
	}
	return read(all, nil, o)
}

// read reads rows, and adds to the lines with errors.
func read(rows []row, bad []LineError, o Options) ([]*Series, []LineError, error) {
	r := reader{options: o, groups: map[group][]Point{}, local: map[localTime]bool{}}
	for _, row := range rows {
		if field, err := r.take(row); err != nil {
			bad = append(bad, LineError{Line: row.line, Field: field, Reason: err.Error()})
		}
	}
	if len(r.order) == 0 {
		return nil, bad, fmt.Errorf("%w: no line with a price", ErrFile)
	}
	var all []*Series
	for _, g := range r.order {
		s, err := New(r.groups[g], Options{Node: g.node, Kind: g.kind, Location: o.Location, Step: o.Step})
		if err != nil {
			return nil, bad, fmt.Errorf("%s %s: %w", g.node, g.kind, err)
		}
		all = append(all, s)
	}
	return all, bad, nil
}

// row is one line with its fields by name. Names are in lower case, with letters and
// digits only.
type row struct {
	line   int
	fields map[string]string
}

// split splits a file into rows.
func split(data []byte) ([]row, []LineError, error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	trimmed := bytes.TrimSpace(data)
	switch {
	case len(trimmed) == 0:
		return nil, nil, fmt.Errorf("%w: it is empty", ErrFile)
	case trimmed[0] == '{':
		rows, bad := splitJSON(data)
		return rows, bad, nil
	}
	return splitCSV(data)
}

func splitJSON(data []byte) (rows []row, bad []LineError) {
	for i, line := range bytes.Split(data, []byte("\n")) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		decoder := json.NewDecoder(bytes.NewReader(line))
		decoder.UseNumber()
		var object map[string]any
		if err := decoder.Decode(&object); err != nil {
			bad = append(bad, LineError{Line: i + 1, Field: "line", Reason: "not a JSON object"})
			continue
		}
		r := row{line: i + 1, fields: map[string]string{}}
		for key, v := range object {
			switch v := v.(type) {
			case string:
				r.fields[Plain(key)] = strings.TrimSpace(v)
			case json.Number:
				r.fields[Plain(key)] = v.String()
			}
		}
		rows = append(rows, r)
	}
	return rows, bad
}

func splitCSV(data []byte) ([]row, []LineError, error) {
	in := csv.NewReader(bytes.NewReader(data))
	in.FieldsPerRecord = -1
	in.TrimLeadingSpace = true
	header, err := in.Read()
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrFile, err)
	}
	for i := range header {
		header[i] = Plain(header[i])
	}
	var rows []row
	var bad []LineError
	for {
		record, err := in.Read()
		switch {
		case errors.Is(err, io.EOF):
			return rows, bad, nil
		case err != nil:
			bad = append(bad, csvError(err))
			continue
		}
		line, _ := in.FieldPos(0)
		if len(record) != len(header) {
			bad = append(bad, LineError{Line: line, Field: "line", Reason: fmt.Sprintf("has %d fields, the header %d", len(record), len(header))})
			continue
		}
		r := row{line: line, fields: make(map[string]string, len(header))}
		for i, name := range header {
			r.fields[name] = strings.TrimSpace(record[i])
		}
		rows = append(rows, r)
	}
}

func csvError(err error) LineError {
	if wrong, ok := errors.AsType[*csv.ParseError](err); ok {
		return LineError{Line: wrong.StartLine, Field: "line", Reason: wrong.Err.Error()}
	}
	return LineError{Field: "line", Reason: err.Error()}
}

// Plain returns a name in lower case, with letters and digits only.
func Plain(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, strings.ToLower(name))
}
