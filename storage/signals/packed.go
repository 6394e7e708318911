package signals

import (
	"bytes"
	"compress/flate"
	"sync"
)

// Packed is what the homes with this curve share of their signals, Encoded, and
// beside it the same compressed: blocks of DEFLATE (RFC 1951) that refer to nothing
// before them and end on a whole byte, so that they fit between any others. It is
// compressed once a curve, however many homes there are.
func (c *Curve) Packed() (shared, packed []byte) {
	return c.Encoded, c.packed.get(func() []byte { return pack(c.Encoded) })
}

// EncodedOpenADR is what all homes of the curve have in common of the events of OpenADR.
func (c *Curve) EncodedOpenADR() []byte { return c.openADR.get(c.encodeOpenADR) }

// PackedOpenADR is Packed of the events of OpenADR.
func (c *Curve) PackedOpenADR() (shared, packed []byte) {
	shared = c.EncodedOpenADR()
	return shared, c.packedADR.get(func() []byte { return pack(shared) })
}

// packers are used again: one takes some 800 KB.
var packers = sync.Pool{New: func() any {
	w, _ := flate.NewWriter(nil, flate.DefaultCompression) // the level is a right one
	return w
}}

// pack compresses a text. The empty block at the end, which Flush makes, brings it
// to a whole byte.
func pack(text []byte) []byte {
	var out bytes.Buffer
	w := packers.Get().(*flate.Writer)
	defer packers.Put(w)
	w.Reset(&out)
	_, _ = w.Write(text) // a Buffer takes everything
	_ = w.Flush()
	return bytes.Clone(out.Bytes())
}
