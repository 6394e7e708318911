package webhook

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"io"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gridhook/gridhook/storage"
)

// deflate returns a piece in the format of package signals.
func deflate(t rapid.TB, piece []byte) []byte {
	var out bytes.Buffer
	w, err := flate.NewWriter(&out, flate.BestSpeed)
	if err == nil {
		_, err = w.Write(piece)
	}
	if err == nil {
		err = w.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// With any text and pieces, the result is one gzip member of the text.
func TestGzip_RoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		pieces := rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), 0, 2000), 0, 4).Draw(rt, "pieces")
		between := rapid.SliceOfN(rapid.Byte(), 0, 50)
		text := between.Draw(rt, "beginning")
		if rapid.IntRange(0, 9).Draw(rt, "long") == 0 {
			text = append(text, make([]byte, rapid.SampledFrom([]int{65535, 65536, 200_000}).Draw(rt, "length"))...)
		}
		for _, p := range pieces {
			text = append(append(text, p...), between.Draw(rt, "after a piece")...)
		}
		pack := newPacker([]byte("before"), text)
		for _, p := range pieces {
			if rapid.Bool().Draw(rt, "another piece first") {
				other := between.Draw(rt, "another")
				pack.shared(other, deflate(rt, other))
			}
			pack.shared(p, deflate(rt, p))
		}
		packed, ok := bytes.CutPrefix(pack.finish(), []byte("before"))
		if !ok {
			rt.Fatal("append overwrote the existing bytes")
		}
		in := bytes.NewReader(packed)
		r, err := gzip.NewReader(in)
		if err != nil {
			rt.Fatal(err)
		}
		r.Multistream(false)
		if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, text) || in.Len() != 0 {
			rt.Fatalf("inflated %d bytes of %d, %d left: %v", len(got), len(text), in.Len(), err)
		}
	})
}

// A payload is sent as its endpoint wants it.
func TestPayload_Compression(t *testing.T) {
	const text = `{"type":"endpoint.test"}`
	plain, packed := NewPayload("msg_1", []byte(text), storage.CompressionNone), NewPayload("msg_1", []byte(text), storage.CompressionGzip)
	if string(plain.Sent()) != text {
		t.Errorf("without compression %q is sent", plain.Sent())
	}
	r, err := gzip.NewReader(bytes.NewReader(packed.Sent()))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(r); err != nil || string(got) != text {
		t.Errorf("with compression %q is sent, %v", got, err)
	}
}

// A rotation with compression has both signatures of each secret.
func TestSign_CompressedBody(t *testing.T) {
	signers := []*Signer{newTestSigner(t, secretOf(strings.Repeat("s", 24)), time.Time{}), newTestSigner(t, secretOf(strings.Repeat("o", 24)), time.Time{})}
	_, value := Sign(signers, &Payload{ID: "msg_1", text: []byte("text"), packed: []byte("packed")}, noon)
	if n := len(strings.Fields(value)); n != 4 {
		t.Errorf("%d signatures, want 4: %s", n, value)
	}
}
