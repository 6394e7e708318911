// Package pack writes the compact form of export values for package form.
package pack

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"fmt"

	"github.com/gridhook/gridhook/pricing/netbilling/internal/form"
)

// Encode returns the packed form of tables.
func Encode(tables []form.Table) ([]byte, error) {
	head, err := json.Marshal(tables)
	if err != nil {
		return nil, err
	}
	plain := binary.AppendUvarint(nil, uint64(len(head)))
	plain = append(plain, head...)
	for _, t := range tables {
		if len(t.Values) != t.Years*form.PerYear {
			return nil, fmt.Errorf("%w: %d values for %d years", form.ErrForm, len(t.Values), t.Years)
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
