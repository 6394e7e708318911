// Package pack writes the compact form of the facts for package facts.
package pack

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"fmt"

	"github.com/gridhook/gridhook/pricing/eligibility/internal/facts"
)

// Encode returns the compact form of the facts.
func Encode(f *facts.Facts) ([]byte, error) {
	header, err := json.Marshal(f.Tables)
	if err != nil {
		return nil, fmt.Errorf("facts: %w", err)
	}
	plain := append(header, '\n')
	plain = binary.AppendUvarint(plain, uint64(len(f.Zips)))
	for column := range len(new(facts.Zip).Columns()) {
		previous := 0
		for i := range f.Zips {
			value := *f.Zips[i].Columns()[column]
			plain = binary.AppendVarint(plain, int64(value-previous))
			previous = value
		}
	}
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return nil, fmt.Errorf("facts: %w", err)
	}
	if _, err := w.Write(plain); err != nil {
		return nil, fmt.Errorf("facts: %w", err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("facts: %w", err)
	}
	return packed.Bytes(), nil
}
