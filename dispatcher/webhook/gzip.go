package webhook

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"math"
)

// The bodies of homes with the same curve differ in a few hundred bytes. So the curve is
// compressed once. A body combines the compressed curve with the uncompressed rest, which
// takes about as long as a copy.

// packer assembles a gzip member (RFC 1952).
type packer struct {
	out, text []byte
	done      int // bytes of text already in out
}

// gzipHeader specifies DEFLATE, no name, no time, system unknown.
var gzipHeader = []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff}

// newPacker starts the member of a text and appends it to dst.
func newPacker(dst, text []byte) packer {
	return packer{out: append(dst, gzipHeader...), text: text}
}

// shared adds the text up to and including the next occurrence of a piece. packed is the
// compressed piece. See signals.Curve.Packed.
func (p *packer) shared(piece, packed []byte) {
	at := find(p.text[p.done:], piece)
	if at < 0 {
		return // store then adds it uncompressed
	}
	p.store(p.text[p.done:p.done+at], false)
	p.out = append(p.out, packed...)
	p.done += at + len(piece)
}

// find is bytes.Index for a long piece that is present and near the beginning. The
// library first hashes the whole piece, which would take most of the time.
func find(text, piece []byte) int {
	const enough = 16
	begin := piece[:min(len(piece), enough)]
	for at := 0; ; at++ {
		next := bytes.Index(text[at:], begin)
		if next < 0 {
			return -1
		}
		if at += next; bytes.HasPrefix(text[at:], piece) {
			return at
		}
	}
}

// finish adds the rest and ends the member.
func (p *packer) finish() []byte {
	p.store(p.text[p.done:], true)
	p.out = binary.LittleEndian.AppendUint32(p.out, crc32.ChecksumIEEE(p.text))
	return binary.LittleEndian.AppendUint32(p.out, uint32(len(p.text)))
}

// store adds bytes uncompressed, in stored blocks of DEFLATE (RFC 1951, 3.2.4).
func (p *packer) store(b []byte, last bool) {
	for {
		n := min(len(b), math.MaxUint16)
		final := byte(0)
		if last && n == len(b) {
			final = 1
		}
		p.out = append(p.out, final)
		p.out = binary.LittleEndian.AppendUint16(p.out, uint16(n))
		p.out = binary.LittleEndian.AppendUint16(p.out, ^uint16(n))
		p.out = append(p.out, b[:n]...)
		if b = b[n:]; len(b) == 0 {
			return
		}
	}
}
