package signals

import (
	"bytes"
	"compress/flate"
	"sync"
)

// Packed returns the shared part of the homes' signals, Encoded, and its compressed form.
// packed consists of DEFLATE blocks (RFC 1951) that refer to no earlier data and end on a
// whole byte. They can therefore stand between any other blocks. A curve is compressed
// only once, for any number of homes.
func (c *Curve) Packed() (shared, packed []byte) {
	return c.Encoded, c.packed.get(func() []byte { return pack(c.Encoded) })
}

// EncodedOpenADR returns the part of the OpenADR events that the homes of this curve
// share.
func (c *Curve) EncodedOpenADR() []byte { return c.openADR.get(c.encodeOpenADR) }

// PackedOpenADR is like Packed, for the OpenADR events.
func (c *Curve) PackedOpenADR() (shared, packed []byte) {
	shared = c.EncodedOpenADR()
	return shared, c.packedADR.get(func() []byte { return pack(shared) })
}

// packers reuses compressors. A compressor takes about 800 KB.
var packers = sync.Pool{New: func() any {
	w, _ := flate.NewWriter(nil, flate.DefaultCompression) // the level is valid
	return w
}}

// pack compresses a text. Flush adds an empty block, which ends on a whole byte.
func pack(text []byte) []byte {
	var out bytes.Buffer
	w := packers.Get().(*flate.Writer)
	defer packers.Put(w)
	w.Reset(&out)
	_, _ = w.Write(text) // a write to a Buffer never fails
	_ = w.Flush()
	return bytes.Clone(out.Bytes())
}
