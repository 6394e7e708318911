package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gridhook/gridhook/storage"
)

// record is a JSON object of a response.
type record map[string]any

// convert converts a value to another type by its JSON, such as a response to a record.
func convert[T any](value any) (to T, err error) {
	text, err := json.Marshal(value)
	if err == nil {
		err = json.Unmarshal(text, &to)
	}
	return to, err
}

// column is a value of a record under a label, with an optional unit.
type column struct{ label, path, unit string }

// parseFields parses a list such as "plan:ratePlanId, timeout:timeoutSeconds:s". Each
// entry has a label, the value's path in the record, and a unit or nothing.
func parseFields(text string) (columns []column) {
	for entry := range strings.SplitSeq(text, ",") {
		if entry = strings.TrimSpace(entry); entry != "" {
			parts := append(strings.Split(entry, ":"), "")
			columns = append(columns, column{parts[0], parts[1], parts[2]})
		}
	}
	return columns
}

// print prints the fields that have a value, one a line.
func (r record) print(w io.Writer, fields string) {
	for _, c := range parseFields(fields) {
		if text := c.of(r); text != "" {
			row(w, c.label, text)
		}
	}
}

// printTable prints a table with a header and a row for each record.
func printTable(w io.Writer, records []record, fields string) {
	columns := parseFields(fields)
	line := make([]any, len(columns))
	for i, c := range columns {
		line[i] = c.label
	}
	row(w, line...)
	for _, r := range records {
		for i, c := range columns {
			line[i] = or(c.of(r))
		}
		row(w, line...)
	}
}

// of formats the column's value in a record. It returns "" if there is no value.
func (c column) of(r record) string {
	var value any = map[string]any(r)
	for name := range strings.SplitSeq(c.path, ".") {
		object, _ := value.(map[string]any)
		value = object[name]
	}
	text := valueText(value)
	if text == "" || c.unit == "" {
		return text
	}
	return text + " " + c.unit
}

// valueText formats a JSON value in one line. Empty values return "".
func valueText(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		if at, err := time.Parse(storage.TimeLayout, v); err == nil {
			return at.Format(time.RFC3339)
		}
		return v
	case float64:
		const digits = 1e5
		return strconv.FormatFloat(math.Round(v*digits)/digits, 'f', -1, 64)
	case []any:
		var items []string
		for _, item := range v {
			items = append(items, valueText(item))
		}
		return strings.Join(items, ",")
	case map[string]any:
		var items []string
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if text := valueText(v[name]); text != "" {
				items = append(items, name+" "+text)
			}
		}
		return strings.Join(items, ", ")
	}
	return fmt.Sprint(value)
}

// text returns a field that is a string, or "".
func (r record) text(name string) string {
	s, _ := r[name].(string)
	return s
}

// id returns the identifier, which some kinds of objects give another name.
func (r record) id() string {
	return cmp.Or(r.text("id"), r.text("feedback_id"), r.text("keyId"), r.text("deviceId"), r.text("triggerId"))
}
