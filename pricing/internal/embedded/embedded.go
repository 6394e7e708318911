// Package embedded decodes the files of data that the packages of pricing embed: gzip over
// gob. Package pack writes them.
package embedded

import (
	"bytes"
	"compress/gzip"
	"encoding/gob"
	"fmt"
	"io"
)

// Decode decodes a file that pack.Write wrote. It panics if the file is damaged: the file is
// a part of the program, and the tests read all of it.
func Decode[T any](name string, packed []byte) (v T) {
	in, err := gzip.NewReader(bytes.NewReader(packed))
	var plain []byte
	if err == nil {
		plain, err = io.ReadAll(in)
	}
	if err == nil {
		err = gob.NewDecoder(bytes.NewReader(plain)).Decode(&v)
	}
	if err != nil {
		panic(fmt.Sprintf("embedded: %s: %v", name, err))
	}
	return v
}
