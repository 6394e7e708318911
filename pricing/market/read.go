package market

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
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
// Read ignores other columns. It passes each line with an error to bad, and reads the other
// lines. The result has a series for each node and market in the order of the file. The
// memory depends on the number of prices, not on the length of the file. The error wraps
// ErrFile if no line can be read, or if a line is longer than 1 MiB. It wraps ErrSeries if
// the prices do not form a series. It also wraps an error of the reader.
func Read(file io.Reader, o Options, bad func(LineError)) ([]*Series, error) {
	r := newReader(o, bad)
	if err := split(file, r.add, bad); err != nil {
		return nil, err
	}
	return r.series()
}

// Rows returns the rows of a file as Read understands them: the fields of a line by the
// plain names of their columns.
func Rows(data []byte) (all []map[string]string, bad []LineError, err error) {
	err = split(bytes.NewReader(data), func(row row) { all = append(all, row.fields) }, func(e LineError) { bad = append(bad, e) })
	return all, bad, err
}

// ReadRows reads the series of o.Node and o.Kind from rows, as Read reads a file. It is nil if
// no row has a price. If the rows have other series only, the error names them. The line of a
// row with an error is its number, from 1.
func ReadRows(rows []map[string]string, o Options) (s *Series, bad []LineError, err error) {
	r := newReader(o, func(e LineError) { bad = append(bad, e) })
	for i, fields := range rows {
		r.add(row{line: i + 1, fields: fields})
	}
	wanted := group{o.Node, o.Kind}
	switch {
	case len(r.order) == 0:
		return nil, bad, nil
	case r.groups[wanted] == nil:
		var others []string
		for _, g := range r.order[:min(len(r.order), 5)] {
			others = append(others, fmt.Sprintf("%s prices of %.80s", g.kind, g.node))
		}
		return nil, bad, fmt.Errorf("has no %s prices of %s; it has %s", o.Kind, o.Node, strings.Join(others, ", "))
	}
	r.order = slices.DeleteFunc(r.order, func(g group) bool { return g != wanted })
	all, err := r.series()
	if err != nil {
		return nil, bad, err
	}
	return all[0], bad, nil
}

func newReader(o Options, bad func(LineError)) *reader {
	return &reader{options: o, bad: bad, groups: map[group][]Point{}, local: map[group]time.Time{}}
}

// add adds the price of a row, or reports the row's error.
func (r *reader) add(row row) {
	if field, err := r.take(row); err != nil {
		r.bad(LineError{Line: row.line, Field: field, Reason: err.Error()})
	}
}

// series returns the series of the added rows.
func (r *reader) series() ([]*Series, error) {
	if len(r.order) == 0 {
		return nil, fmt.Errorf("%w: no line with a price", ErrFile)
	}
	var all []*Series
	for _, g := range r.order {
		s, err := New(r.groups[g], Options{Node: g.node, Kind: g.kind, Location: r.options.Location, Step: r.options.Step})
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", g.node, g.kind, err)
		}
		all = append(all, s)
	}
	return all, nil
}
