package main

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/pricing/market"
	"github.com/gridhook/gridhook/storage"
)

// These columns may occur in a CSV of homes. They are the fields of a home in JSON.
var (
	textColumns = []string{
		"organizationId", "id", "name", "userId", "UtilityId", "ratePlanId", "unstructuredAddress", "timezone", "country",
		"city", "zipcode", "streetAddress", "meterId", "meterIdSource", "carbonSignalIntensity", "channelPartnerId",
	}
	boolColumns = []string{"energyMarketBiddingEnabled", "enabled"}
)

// readCSV reads homes, one per row below a header. It passes invalid rows to leftOut. An
// empty cell leaves its field out.
func readCSV(r io.Reader, org string, to *chunker, leftOut func(fileError)) error {
	limited := &market.RowReader{R: r, Left: market.MaxRow}
	rows := csv.NewReader(limited)
	rows.ReuseRecord = true
	header, err := readHeader(rows, org)
	if err != nil {
		return err
	}
	for last := 1; ; {
		limited.Left = market.MaxRow
		record, err := rows.Read()
		var malformed *csv.ParseError
		switch {
		case errors.Is(err, io.EOF):
			return to.flush()
		case errors.Is(err, market.ErrLongRow):
			return errors.Join(to.flush(), fmt.Errorf("the row after line %d is longer than %d bytes: look for an unclosed quote", last, market.MaxRow))
		case errors.As(err, &malformed):
			last = malformed.Line
			reason := "is not CSV: " + malformed.Err.Error()
			if errors.Is(malformed.Err, csv.ErrFieldCount) {
				reason = fmt.Sprintf("must have %d cells, like the header row", len(header))
			}
			leftOut(wrongLine(malformed.StartLine, "line", reason))
			continue
		case err != nil:
			return errors.Join(to.flush(), err)
		}
		number, _ := rows.FieldPos(0)
		last = number
		line, wrong := homeLine(header, record, org)
		if len(wrong) > 0 {
			leftOut(fileError{ImportError: client.ImportError{Line: number, Resource: string(storage.KindHome), ID: cell(header, record, "id"), Fields: wrong}})
			continue
		}
		if err := to.add(number, line); err != nil {
			return err
		}
	}
}

// readHeader reads the names of the columns. Its error lists all unknown names. Without org
// a column must name the organization.
func readHeader(rows *csv.Reader, org string) ([]string, error) {
	record, err := rows.Read()
	if errors.Is(err, io.EOF) {
		return nil, errors.New("empty file: the first row must name the columns")
	}
	if err != nil {
		return nil, fmt.Errorf("read the header row: %w", err)
	}
	header := slices.Clone(record)
	var wrong []string
	for i, name := range header {
		known := slices.Contains(textColumns, name) || slices.Contains(boolColumns, name)
		if !known || slices.Contains(header[:i], name) {
			wrong = append(wrong, strconv.Quote(name))
		}
	}
	if len(wrong) > 0 {
		return nil, fmt.Errorf("invalid columns in the header row: %s; each column must be a different field of a home: %s",
			strings.Join(wrong, ", "), strings.Join(slices.Concat(textColumns, boolColumns), ", "))
	}
	if org == "" && !slices.Contains(header, "organizationId") {
		return nil, errors.New("no column names the organization of the homes: name it with --org, or add the column organizationId")
	}
	return header, nil
}

// homeLine converts a row to a line of NDJSON.
func homeLine(header, record []string, org string) (line []byte, wrong []storage.FieldError) {
	if cell(header, record, "organizationId") == "" && org != "" {
		header, record = append(slices.Clip(header), "organizationId"), append(slices.Clip(record), org)
	}
	fields := map[string]any{"resource": storage.KindHome}
	for i, name := range header {
		text := strings.TrimSpace(record[i])
		switch {
		case text == "":
		case !utf8.ValidString(text): // encoding would hide the invalid UTF-8
			wrong = append(wrong, storage.FieldError{Field: name, Message: "is not valid UTF-8"})
		case slices.Contains(boolColumns, name):
			value, err := strconv.ParseBool(strings.ToLower(text))
			if err != nil {
				wrong = append(wrong, storage.FieldError{Field: name, Message: "must be true or false"})
			}
			fields[name] = value
		default:
			fields[name] = text
		}
	}
	line, _ = json.Marshal(fields) // texts and booleans always encode
	return line, wrong
}

// cell returns the cell of a column, or "" if the column is absent.
func cell(header, record []string, name string) string {
	if i := slices.Index(header, name); i >= 0 {
		return strings.TrimSpace(record[i])
	}
	return ""
}
