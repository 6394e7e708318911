package dispatcher

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"math"

	"github.com/gridhook/gridhook/storage"
)

// The bodies of homes that share a curve differ in a few hundred bytes. So the curve
// is compressed once, and a body put together of that and of the rest as it is: that
// takes about the time of copying it.

// payload is what a request carries.
type payload struct {
	// text is the JSON.
	text []byte
	// packed is the same compressed, as it is sent; nil where the text is.
	packed []byte
	// answer is how much of a successful answer's body matters, in bytes.
	answer int
}

// sent are the bytes of the request's body.
func (p *payload) sent() []byte {
	if p.packed != nil {
		return p.packed
	}
	return p.text
}

// packer puts a gzip member (RFC 1952) together.
type packer struct {
	out, text []byte
	done      int // bytes of text that are in out
}

// gzipHeader says: DEFLATE, no name, no time, system unknown.
var gzipHeader = []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff}

// newPacker begins the member of a text, appended to dst.
func newPacker(dst, text []byte) packer {
	return packer{out: append(dst, gzipHeader...), text: text}
}

// shared adds the text up to and with the next place of a piece that was compressed
// before: see signals.Curve.Packed.
func (p *packer) shared(piece, packed []byte) {
	at := find(p.text[p.done:], piece)
	if at < 0 {
		return // it stays in what is stored
	}
	p.store(p.text[p.done:p.done+at], false)
	p.out = append(p.out, packed...)
	p.done += at + len(piece)
}

// find is bytes.Index for a long piece that is there and near the beginning, where
// the library's hashes all of the piece first: that would take most of the time.
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

// finish adds what is left and ends the member.
func (p *packer) finish() []byte {
	p.store(p.text[p.done:], true)
	p.out = binary.LittleEndian.AppendUint32(p.out, crc32.ChecksumIEEE(p.text))
	return binary.LittleEndian.AppendUint32(p.out, uint32(len(p.text)))
}

// store adds bytes as they are, in stored blocks of DEFLATE (RFC 1951, 3.2.4).
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

// pack adds a message's shared piece, where it has one.
func (m *message) pack(p *packer) {
	switch {
	case m.notice != nil:
	case m.format == storage.FormatOpenADR3:
		p.shared(m.signal.PackedOpenADR())
	default:
		p.shared(m.signal.Packed())
	}
}

// scratch are buffers to make a payload in.
type scratch struct{ text, packed []byte }

// done gives the buffers back for others, unless they have grown large.
func (s *scratch) done() {
	const large = 128 << 10
	if cap(s.text) <= large && cap(s.packed) <= large {
		scratches.Put(s)
	}
}

// payload makes what a request carries, and its webhook-id.
func (s *scratch) payload(b *bundle) (id string, p payload) {
	j := b.first()
	if id = j.id; b.number == 0 {
		s.text = j.appendBody(s.text[:0])
	} else {
		id, s.text = b.id(), b.appendBody(s.text[:0])
		p.answer = maxAnswer // it may say what became of each
	}
	p.text = s.text
	if j.endpoint.Compression != storage.CompressionGzip {
		return id, p
	}
	packed := newPacker(s.packed[:0], s.text)
	for _, i := range b.which {
		b.jobs[i].pack(&packed)
	}
	s.packed = packed.finish()
	p.packed = s.packed
	return id, p
}

// payload is what the endpoint is sent of a text that nothing else shares.
func (e *endpoint) payload(text []byte) payload {
	if e.Compression != storage.CompressionGzip {
		return payload{text: text}
	}
	p := newPacker(nil, text)
	return payload{text: text, packed: p.finish()}
}
