package feed

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gridhook/gridhook/pricing/market"
)

// row has the fields of a line of a table by the names of their columns.
type row = map[string]string

// maxRows limits the rows of a response. The largest files have the prices of 20,000 nodes
// in 24 hours.
const maxRows = 1_000_000

// refuse returns an error about a response.
func refuse(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrResponse, fmt.Errorf(format, args...))
}

// clip shortens a text of a response for an error.
func clip(s string) string {
	const longest = 80
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "?")), " ")
	if len(s) > longest {
		return strings.ToValidUTF8(s[:longest], "") + "..."
	}
	return s
}

// csvRows reads CSV. The header is the first line with the given column. Lines above it
// are a title.
func csvRows(body []byte, column string) ([]row, error) {
	const title = 10 // lines
	in := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))))
	in.FieldsPerRecord = -1
	in.TrimLeadingSpace = true
	in.LazyQuotes = true
	var header []string
	var rows []row
	for line := 0; ; line++ {
		record, err := in.Read()
		switch {
		case errors.Is(err, io.EOF) && header != nil:
			return rows, nil
		case errors.Is(err, io.EOF) || header == nil && line > title:
			return nil, refuse("is not CSV with the column %q: it begins with %q", column, beginning(body))
		case err != nil:
			return nil, refuse("is not CSV: %w", err)
		}
		for i := range record {
			record[i] = strings.TrimSpace(record[i])
		}
		if header == nil {
			if slices.Contains(record, column) || column == "" {
				header = record
			}
			continue
		}
		if len(record) != len(header) {
			at, _ := in.FieldPos(0)
			return nil, refuse("line %d has %d fields, the header %d", at, len(record), len(header))
		}
		if len(rows) == maxRows {
			return nil, refuse("has more than %d rows", maxRows)
		}
		r := make(row, len(header))
		for i, name := range header {
			r[name] = record[i]
		}
		rows = append(rows, r)
	}
}

// decode decodes JSON.
func decode(body []byte, v any) error {
	decoder := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))))
	decoder.UseNumber()
	if err := decoder.Decode(v); err != nil {
		return refuse("is not the expected JSON: it begins with %q: %w", beginning(body), err)
	}
	return nil
}

// jsonRows reads the list at a path of names with dots, or the whole document if the path
// is empty. A field of an element has its path as name.
func jsonRows(body []byte, path string) ([]row, error) {
	var v any
	if err := decode(body, &v); err != nil {
		return nil, err
	}
	for name := range strings.SplitSeq(path, ".") {
		object, ok := v.(map[string]any)
		if !ok || path == "" {
			break
		}
		if v, ok = object[name]; !ok {
			return nil, refuse("has no %q, it begins with %q", path, beginning(body))
		}
	}
	if v == nil || v == "" { // an empty list, also in documents that were XML
		return nil, nil
	}
	list, ok := v.([]any)
	if object, one := v.(map[string]any); one && path != "" {
		list = []any{object} // a list of one, in documents that were XML
	} else if !ok {
		return nil, refuse("has no list at %q, it begins with %q", path, beginning(body))
	}
	rows := make([]row, len(list))
	for i, element := range list {
		rows[i] = row{}
		flatten(rows[i], "", element)
	}
	return rows, nil
}

// flatten adds the texts and numbers of a JSON value to a row.
func flatten(r row, path string, v any) {
	switch v := v.(type) {
	case string:
		r[path] = v
	case json.Number:
		r[path] = v.String()
	case map[string]any:
		for name, field := range v {
			flatten(r, strings.TrimPrefix(path+"."+name, "."), field)
		}
	}
}

// pick returns the rows of a node.
func pick(rows []row, column, node string) ([]row, error) {
	var names []string
	var picked []row
	for _, r := range rows {
		if strings.EqualFold(r[column], node) {
			picked = append(picked, r)
		} else if len(names) < 5 && !slices.Contains(names, r[column]) {
			names = append(names, clip(r[column]))
		}
	}
	if len(picked) == 0 && len(rows) > 0 {
		return nil, refuse("has no node %q in %q; it has %s", node, column, strings.Join(names, ", "))
	}
	return picked, nil
}

// columns says where the values of a row are.
type columns struct {
	time, price string
	unit        string
}

// rename returns rows with columns that package market reads, from any columns.
func (c columns) rename(rows []row) []row {
	renamed := make([]row, len(rows))
	for i, r := range rows {
		renamed[i] = row{"start": r[c.time], "price": r[c.price], "unit": c.unit}
	}
	return renamed
}

// read reads rows with columns that package market reads. A row with an error refuses the
// response.
func (q *Query) read(rows []row, o market.ReadOptions) (Data, error) {
	if len(rows) == 0 {
		return Data{}, nil
	}
	o.Location = q.location()
	series, bad, err := market.ReadRows(rows, o)
	if len(bad) > 0 {
		return Data{}, refuse("row %d: %s: %s", bad[0].Line, bad[0].Field, clip(bad[0].Reason))
	}
	if err != nil {
		return Data{}, refuse("%w", err)
	}
	var data Data
	for _, s := range series {
		points, err := q.within(s.Points())
		if err != nil {
			return Data{}, err
		}
		data.Prices = append(data.Prices, Prices{Node: s.Node, Kind: s.Kind, Step: s.Step(), Points: points})
	}
	return data, nil
}

// series checks points as a series of one node.
func (q *Query) series(points []market.Point, node string, kind market.Kind, step time.Duration) (Data, error) {
	if len(points) == 0 {
		return Data{}, nil
	}
	s, err := market.New(points, market.Options{Node: node, Kind: kind, Step: step})
	if err != nil {
		return Data{}, refuse("%w", err)
	}
	points, err = q.within(s.Points())
	if err != nil {
		return Data{}, err
	}
	return Data{Prices: []Prices{{Node: node, Kind: kind, Step: s.Step(), Points: points}}}, nil
}

// within returns the points in the queried span. A response without such points is about
// other days.
func (q *Query) within(points []market.Point) ([]market.Point, error) {
	inside := slices.DeleteFunc(slices.Clone(points), func(p market.Point) bool {
		return p.Start.Before(q.From) || !p.Start.Before(q.To)
	})
	if len(inside) == 0 && len(points) > 0 {
		return nil, refuse("has prices from %s to %s, none from %s to %s", stamp(points[0].Start), stamp(points[len(points)-1].Start), stamp(q.From), stamp(q.To))
	}
	return inside, nil
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// price reads a price.
func price(s string) (float64, error) {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("%q is not a number", clip(s))
	}
	return v, nil
}
