// Package form is the compact form of export values: gzip over the tables, of
// which each value is the varint of its difference in 0.00001 $/kWh from the one
// before.
//
// It may import the standard library only and does no I/O of its own.
package form

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
)

// Shape of a table: components (generation, delivery), months, kinds of day
// (weekday, weekend and holiday), hours.
const (
	Components = 2
	Months     = 12
	Kinds      = 2
	Hours      = 24
	PerYear    = Components * Months * Kinds * Hours
)

// Steps is how many steps of a value make a $/kWh.
const Steps = 1e5

// maxSize bounds the unpacked form.
const maxSize = 4 << 20

// Table are the export values of one vintage.
type Table struct {
	Utility      string   `json:"utility"`
	EIAID        int      `json:"eiaId"`
	Vintages     []string `json:"vintages"`
	FirstYear    int      `json:"firstYear"`
	Years        int      `json:"years"`
	ExactThrough int      `json:"exactThrough,omitempty"`
	// Values are by year, component, month, kind of day and hour, in steps.
	Values []int32 `json:"-"`
}

// ErrForm is wrapped by every error of Decode.
var ErrForm = errors.New("netbilling: form")

// Encode packs tables.
func Encode(tables []Table) ([]byte, error) {
	head, err := json.Marshal(tables)
	if err != nil {
		return nil, err
	}
	plain := binary.AppendUvarint(nil, uint64(len(head)))
	plain = append(plain, head...)
	for _, t := range tables {
		if len(t.Values) != t.Years*PerYear {
			return nil, fmt.Errorf("%w: %d values for %d years", ErrForm, len(t.Values), t.Years)
		}
		previous := int64(0)
		for _, v := range t.Values {
			plain = binary.AppendVarint(plain, int64(v)-previous)
			previous = int64(v)
		}
	}
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(plain); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return packed.Bytes(), nil
}

// Decode unpacks tables. The error wraps ErrForm.
func Decode(packed []byte) ([]Table, error) {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrForm, err)
	}
	plain, err := io.ReadAll(io.LimitReader(r, maxSize))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrForm, err)
	}
	in := bytes.NewReader(plain)
	size, err := binary.ReadUvarint(in)
	if err != nil || size > uint64(in.Len()) {
		return nil, fmt.Errorf("%w: no heading", ErrForm)
	}
	head := make([]byte, size)
	if _, err := io.ReadFull(in, head); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrForm, err)
	}
	var tables []Table
	if err := json.Unmarshal(head, &tables); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrForm, err)
	}
	for i := range tables {
		if err := tables[i].read(in); err != nil {
			return nil, err
		}
	}
	return tables, nil
}

func (t *Table) read(in *bytes.Reader) error {
	const mostYears = 100
	if t.Years < 1 || t.Years > mostYears {
		return fmt.Errorf("%w: %d years", ErrForm, t.Years)
	}
	t.Values = make([]int32, t.Years*PerYear)
	step := int64(0)
	for i := range t.Values {
		difference, err := binary.ReadVarint(in)
		if err != nil {
			return fmt.Errorf("%w: value %d of %s: %w", ErrForm, i, t.Utility, err)
		}
		step += difference
		if step < math.MinInt32 || step > math.MaxInt32 {
			return fmt.Errorf("%w: value %d of %s is %d", ErrForm, i, t.Utility, step)
		}
		t.Values[i] = int32(step)
	}
	return nil
}
