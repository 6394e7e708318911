package webhook

import (
	"sync"

	"github.com/gridhook/gridhook/storage"
)

// Payload is the content of a request.
type Payload struct {
	// ID is the webhook-id.
	ID string
	// text is the JSON. packed is the compressed JSON, nil without compression.
	text, packed []byte
	signing      []byte // buffer of what is signed besides the body, and of a signature
}

// NewPayload returns a payload of a text without shared pieces.
func NewPayload(id string, text []byte, c storage.Compression) Payload {
	p := Payload{ID: id, text: text}
	if c == storage.CompressionGzip {
		packed := newPacker(nil, text)
		p.packed = packed.finish()
	}
	return p
}

// Sent returns the bytes of the request's body.
func (p *Payload) Sent() []byte {
	if p.packed != nil {
		return p.packed
	}
	return p.text
}

// Scratch holds the buffers of payloads. It makes one payload at a time.
type Scratch struct {
	// Messages are the messages of the next payload.
	Messages     []*Message
	text, packed []byte
	signing      []byte
}

var scratches = sync.Pool{New: func() any { return &Scratch{text: make([]byte, 0, 16<<10), signing: make([]byte, 0, 256)} }}

// GetScratch returns buffers from the pool. Put returns them to the pool.
func GetScratch() *Scratch { return scratches.Get().(*Scratch) }

// Put returns the buffers to the pool, unless they have grown large. Their payload must
// not be used after Put.
func (s *Scratch) Put() {
	const large = 128 << 10
	clear(s.Messages[:cap(s.Messages)]) // the pool must not keep a trigger's signals
	if cap(s.text) <= large && cap(s.packed) <= large {
		scratches.Put(s)
	}
}

// Payload returns the payload of Messages: a batch of all messages, or the first message.
// It is valid until the next call.
func (s *Scratch) Payload(batch bool, c storage.Compression) Payload {
	list := s.Messages
	p := Payload{ID: list[0].ID(), signing: s.signing}
	if batch {
		p.ID, s.text = batchID(list), appendBatch(s.text[:0], list)
	} else {
		s.text = list[0].AppendBody(s.text[:0])
	}
	p.text = s.text
	if c != storage.CompressionGzip {
		return p
	}
	packed := newPacker(s.packed[:0], s.text)
	for _, m := range list {
		m.pack(&packed)
	}
	s.packed = packed.finish()
	p.packed = s.packed
	return p
}

// pack adds the message's shared piece, if it has one.
func (m *Message) pack(p *packer) {
	switch {
	case !m.Signals(), m.Format == storage.FormatThin:
	case m.Format == storage.FormatOpenADR3:
		p.shared(m.Signal.PackedOpenADR())
	default:
		p.shared(m.Signal.Packed())
	}
}
