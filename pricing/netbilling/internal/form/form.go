// Package form is the compact form of export values: gzip over the tables. Each value is
// the varint of its difference from the previous value, in 0.00001 $/kWh.
//
// The package may import only the standard library and does no I/O.
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

// The shape of a table: components (generation, delivery), months, kinds of day (weekday,
// weekend and holiday), hours.
const (
	Components = 2
	Months     = 12
	Kinds      = 2
	Hours      = 24
	PerYear    = Components * Months * Kinds * Hours
)

// Steps is the number of steps in 1 $/kWh.
const Steps = 1e5

// maxSize limits the unpacked size.
const maxSize = 4 << 20

// Table holds the export values of one or more vintages.
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
	const maxYears = 100
	if t.Years < 1 || t.Years > maxYears {
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
