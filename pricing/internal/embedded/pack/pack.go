// Package pack writes the files that package embedded decodes. Only generators use it.
package pack

import (
	"bytes"
	"compress/gzip"
	"encoding/gob"
	"errors"
	"os"
)

// Encode returns the packed form of a value. It is the same for equal values if they have no
// maps.
func Encode(v any) ([]byte, error) {
	var packed bytes.Buffer
	out, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err == nil {
		err = errors.Join(gob.NewEncoder(out).Encode(v), out.Close())
	}
	return packed.Bytes(), err
}

// Write writes the packed form of a value to a file.
func Write(name string, v any) error {
	packed, err := Encode(v)
	if err != nil {
		return err
	}
	return os.WriteFile(name, packed, 0o600)
}
