package feed

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gridhook/gridhook/pricing/internal/plain"
	"github.com/gridhook/gridhook/pricing/market"
)

// row has the fields of a line of a table by the plain names of their columns.
type row = map[string]string

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

// Limits of a response. A few bytes of a value need a hundred times as much memory, and a row
// of one value about 1 KB.
const (
	maxValues = 2_000_000
	maxRows   = 300_000
)

// checkSize counts what separates the values of CSV, JSON and XML, and what marks rows.
func checkSize(body []byte, rows ...string) error {
	if count(body, ",", "\n", "<", "=") > maxValues {
		return refuse("has more than %d values", maxValues)
	}
	if count(body, rows...) > maxRows {
		return refuse("has more than %d rows", maxRows)
	}
	return nil
}

func count(body []byte, marks ...string) (n int) {
	for _, mark := range marks {
		n += bytes.Count(body, []byte(mark))
	}
	return n
}

// table holds the rows of a response, or the error in its form.
type table struct {
	rows []row
	err  error
}

// noTable returns the table of an unusable response.
func noTable(format string, args ...any) table { return table{err: refuse(format, args...)} }

// csvTable reads CSV with a given column.
func csvTable(body []byte, column string) table {
	if err := checkSize(body, "\n"); err != nil {
		return table{err: err}
	}
	rows, bad, err := market.Rows(body)
	header, _, _ := bytes.Cut(body, []byte("\n"))
	switch {
	case err != nil:
		return noTable("%w", err)
	case isXML(body):
		return noTable("is no CSV, it begins with %q", beginning(body))
	case !strings.Contains(plain.Name(string(header)), column):
		return noTable("has no column %q, it begins with %q", column, beginning(body))
	case len(bad) > 0:
		return noTable("line %d: %s", bad[0].Line, clip(bad[0].Reason))
	}
	return table{rows: rows}
}

// decode decodes JSON.
func decode(body []byte, v any) error {
	if err := checkSize(body, "{", "["); err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))))
	decoder.UseNumber()
	if err := decoder.Decode(v); err != nil {
		return refuse("is not the expected JSON: it begins with %q: %w", beginning(body), err)
	}
	return nil
}

// jsonTable reads the list at a path of names with dots, or the whole document if the path
// is empty. The name of a field has the names of its path.
func jsonTable(body []byte, path string) table {
	var v any
	if err := decode(body, &v); err != nil {
		return table{err: err}
	}
	if v == nil {
		return noTable("is null, not a list")
	}
	for name := range strings.SplitSeq(path, ".") {
		object, ok := v.(map[string]any)
		if !ok || path == "" {
			break
		}
		if v, ok = object[name]; !ok {
			return noTable("has no %q, it begins with %q", path, beginning(body))
		}
	}
	if v == nil || v == "" { // an empty list, also in documents that were XML
		return table{}
	}
	list, ok := v.([]any)
	if object, one := v.(map[string]any); one && path != "" {
		list = []any{object} // a list of one, in documents that were XML
	} else if !ok {
		return noTable("has no list at %q, it begins with %q", path, beginning(body))
	}
	rows := make([]row, len(list))
	for i, element := range list {
		if _, ok := element.(map[string]any); !ok {
			return noTable("has no object at row %d, it begins with %q", i+1, beginning(body))
		}
		rows[i] = row{}
		if err := flatten(rows[i], "", element, 0); err != nil {
			return table{err: err}
		}
	}
	return table{rows: rows}
}

// Limits of the path of a field. Each field stores its whole path, so that long paths need
// much more memory than their response.
const (
	maxLevels = 16
	maxPath   = 512
)

// flatten adds the values of a JSON object to a row.
func flatten(r row, path string, v any, level int) error {
	if level > maxLevels || len(path) > maxPath {
		return refuse("has a field below %q: at most %d levels and names of %d bytes together are read", clip(path), maxLevels, maxPath)
	}
	switch v := v.(type) {
	case string:
		r[path] = strings.TrimSpace(v)
	case bool:
		r[path] = strconv.FormatBool(v)
	case json.Number:
		r[path] = v.String()
	case map[string]any:
		for name, field := range v {
			if err := flatten(r, path+plain.Name(name), field, level+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// columns says where the values of rows are.
type columns struct {
	node        string // empty if the rows have one node
	time, price string // empty if package market knows the columns
	unit        string // $/MWh by default
	kind        market.Kind
	step        time.Duration
	local, ends bool // see market.Options
}

// read reads the rows of the queried node. A row with an error refuses the response. A file
// must not decide which series of its owner it changes, so other series are left out.
func (q *Query) read(t table, c columns) (Data, error) {
	node := q.Parameters["node"]
	if c.node != "" {
		t = t.pick(c.node, node)
		for _, r := range t.rows {
			r["node"] = node // whatever else the row has in other columns of nodes
		}
	}
	if t.err != nil {
		return Data{}, t.err
	}
	if c.price != "" {
		for i, r := range t.rows {
			t.rows[i] = row{"start": r[c.time], "price": r[c.price], "unit": cmp.Or(c.unit, "$/MWh")}
		}
	}
	series, bad, err := market.ReadRows(t.rows, market.Options{
		Node: node, Kind: c.kind, Location: q.Location, Step: c.step, Local: c.local, Ending: c.ends,
	})
	switch {
	case len(bad) > 0:
		return Data{}, refuse("row %d: %s: %s", bad[0].Line, bad[0].Field, clip(bad[0].Reason))
	case err != nil:
		return Data{}, refuse("%w", err)
	case series == nil: // nothing is published yet
		return Data{}, nil
	}
	return q.within(series)
}

// pick returns the rows with a name in a column.
func (t table) pick(column, name string) table {
	var others []string
	picked := table{err: t.err}
	for _, r := range t.rows {
		if strings.EqualFold(r[column], name) {
			picked.rows = append(picked.rows, r)
		} else if len(others) < 5 && !slices.Contains(others, clip(r[column])) {
			others = append(others, clip(r[column]))
		}
	}
	if len(picked.rows) == 0 && len(t.rows) > 0 {
		return noTable("has no %s %q; it has %s", column, name, strings.Join(others, ", "))
	}
	return picked
}

// within returns the prices of the queried span. A response without prices in the span is
// about other days.
func (q *Query) within(s *market.Series) (Data, error) {
	points := slices.DeleteFunc(s.Points(), q.outside)
	if len(points) == 0 {
		from, to := s.Span()
		return Data{}, q.refuseDays(from, to)
	}
	return Data{Prices: []Prices{{Node: s.Node, Kind: s.Kind, Step: s.Step(), Points: points}}}, nil
}

// outside reports whether a price is outside of the queried span.
func (q *Query) outside(p market.Point) bool {
	return p.Start.Before(q.From) || !p.Start.Before(q.To)
}

// refuseDays returns the error about prices of other days.
func (q *Query) refuseDays(from, to time.Time) error {
	return refuse("has prices from %s to %s, none from %s to %s", stamp(from), stamp(to), stamp(q.From), stamp(q.To))
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
