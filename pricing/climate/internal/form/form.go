// Package form is the compact form of a typical year: gzip over columns of 8,760
// values, each the zigzag varint of its difference from the one before.
//
// It may import the standard library only and does no I/O of its own.
package form

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

// Hours is the number of hours in a typical year, which is never a leap year.
const Hours = 8760

// Column is a column of the form.
type Column struct {
	Name  string  // in the table that it is read from
	Scale float64 // steps a unit: 10 keeps tenths
}

// Columns are those of the form, in its order. The steps are those of the source,
// so nothing is lost.
var Columns = []Column{{"tdry_c", 10}, {"rh", 1}, {"ghi", 1}, {"dni", 1}, {"dhi", 1}, {"wspd", 10}}

// maxSize bounds the unpacked form.
const maxSize = 1 << 20

// Encode packs columns of values in the order of Columns.
func Encode(values [][]float64) ([]byte, error) {
	if len(values) != len(Columns) {
		return nil, fmt.Errorf("form: %d columns, want %d", len(values), len(Columns))
	}
	var plain []byte
	for i, column := range values {
		if len(column) != Hours {
			return nil, fmt.Errorf("form: %s has %d hours, want %d", Columns[i].Name, len(column), Hours)
		}
		previous := int64(0)
		for _, v := range column {
			step := int64(math.Round(v * Columns[i].Scale))
			plain = binary.AppendVarint(plain, step-previous)
			previous = step
		}
	}
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return nil, fmt.Errorf("form: %w", err)
	}
	if _, err := w.Write(plain); err != nil {
		return nil, fmt.Errorf("form: %w", err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("form: %w", err)
	}
	return packed.Bytes(), nil
}

// Decode unpacks what Encode packed.
func Decode(packed []byte) ([][]float64, error) {
	unpack, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("form: %w", err)
	}
	plain, err := io.ReadAll(io.LimitReader(unpack, maxSize))
	if err != nil {
		return nil, fmt.Errorf("form: %w", err)
	}
	values := make([][]float64, len(Columns))
	for i := range values {
		values[i] = make([]float64, Hours)
		at := int64(0)
		for hour := range values[i] {
			step, n := binary.Varint(plain)
			if n <= 0 {
				return nil, fmt.Errorf("form: %s ends at hour %d", Columns[i].Name, hour)
			}
			plain = plain[n:]
			at += step
			values[i][hour] = float64(at) / Columns[i].Scale
		}
	}
	if len(plain) > 0 {
		return nil, fmt.Errorf("form: %d bytes too many", len(plain))
	}
	return values, nil
}
