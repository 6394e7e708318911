package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gridhook/gridhook/storage"
)

// The columns that a CSV of homes may have: the fields of a home in JSON.
var (
	textColumns = []string{
		"organizationId", "id", "name", "userId", "UtilityId", "ratePlanId", "unstructuredAddress", "timezone", "country",
		"city", "zipcode", "streetAddress", "meterId", "meterIdSource", "carbonSignalIntensity", "channelPartnerId",
	}
	truthColumns = []string{"energyMarketBiddingEnabled", "enabled"}
)

// byteOrderMark is what spreadsheets put before UTF-8.
const byteOrderMark = "\ufeff"

// readCSV reads homes, one a row below a header. Rows that cannot be sent are
// handed to leftOut. An empty cell says nothing.
func readCSV(r io.Reader, org string, to *chunker, leftOut func(fileError)) error {
	rows := csv.NewReader(r)
	rows.ReuseRecord = true
	header, err := readHeader(rows)
	if err != nil {
		return err
	}
	for {
		record, err := rows.Read()
		var malformed *csv.ParseError
		switch {
		case errors.Is(err, io.EOF):
			return to.flush()
		case errors.As(err, &malformed):
			leftOut(wrongLine(malformed.StartLine, "", "line", malformedReason(malformed, len(header))))
			continue
		case err != nil:
			return err
		}
		number, _ := rows.FieldPos(0)
		line, wrong := homeLine(header, record, org)
		if len(wrong) > 0 {
			e := wrongLine(number, cell(header, record, "id"), "", "")
			e.Resource, e.Fields = string(storage.KindHome), wrong
			leftOut(e)
			continue
		}
		if err := to.add(number, line); err != nil {
			return err
		}
	}
}

// readHeader reads the names of the columns and names all that are wrong.
func readHeader(rows *csv.Reader) ([]string, error) {
	record, err := rows.Read()
	if errors.Is(err, io.EOF) {
		return nil, errors.New("the file is empty: the first row must name the columns")
	}
	if err != nil {
		return nil, fmt.Errorf("the header row cannot be read: %w", err)
	}
	header := slices.Clone(record)
	header[0] = strings.TrimPrefix(header[0], byteOrderMark)
	var wrong []string
	for i, name := range header {
		known := slices.Contains(textColumns, name) || slices.Contains(truthColumns, name)
		if !known || slices.Contains(header[:i], name) {
			wrong = append(wrong, strconv.Quote(name))
		}
	}
	if len(wrong) > 0 {
		return nil, fmt.Errorf("the header row has %s: a column must be one field of a home, named once: %s",
			strings.Join(wrong, ", "), strings.Join(slices.Concat(textColumns, truthColumns), ", "))
	}
	return header, nil
}

func malformedReason(e *csv.ParseError, columns int) string {
	if errors.Is(e.Err, csv.ErrFieldCount) {
		return fmt.Sprintf("must have %d cells, as the header row has", columns)
	}
	return "is not CSV: " + e.Err.Error()
}

// homeLine makes a line of NDJSON of a row.
func homeLine(header, record []string, org string) (line []byte, wrong []storage.FieldError) {
	if cell(header, record, "organizationId") == "" && org != "" {
		header, record = append(slices.Clip(header), "organizationId"), append(slices.Clip(record), org)
	}
	b := bytes.NewBufferString(`{"resource":"home"`)
	for i, name := range header {
		text := strings.TrimSpace(record[i])
		if text == "" {
			continue
		}
		if !utf8.ValidString(text) { // encoding it would hide that
			wrong = append(wrong, storage.FieldError{Field: name, Message: "is not valid UTF-8"})
			continue
		}
		var value any = text
		if slices.Contains(truthColumns, name) {
			truth, err := strconv.ParseBool(strings.ToLower(text))
			if err != nil {
				wrong = append(wrong, storage.FieldError{Field: name, Message: "must be true or false"})
				continue
			}
			value = truth
		}
		encoded, err := json.Marshal(value)
		if err != nil { // a string or a bool: it always encodes
			wrong = append(wrong, storage.FieldError{Field: name, Message: err.Error()})
			continue
		}
		fmt.Fprintf(b, ",%q:%s", name, encoded)
	}
	b.WriteByte('}')
	return b.Bytes(), wrong
}

// cell is the cell of a column, "" where there is none.
func cell(header, record []string, name string) string {
	if i := slices.Index(header, name); i >= 0 {
		return strings.TrimSpace(record[i])
	}
	return ""
}
