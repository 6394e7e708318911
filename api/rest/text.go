package rest

import (
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"slices"
)

// xmlType is the media type of XML bodies.
const xmlType = "application/xml"

// Text is a body that the operation reads in pieces.
type Text struct {
	from io.Reader
	// Err is the public error that ended the reading before the end of the body.
	Err error
}

func (t *Text) Read(p []byte) (int, error) {
	n, err := t.from.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		t.Err = readError(err)
	}
	return n, err
}

// textBody returns the text of an XML body, which may be compressed. The body and its text
// have at most MaxXMLBody bytes each.
func (s *Server) textBody(w http.ResponseWriter, r *http.Request) (*Text, error) {
	t := &Text{from: r.Body}
	if r.ContentLength != 0 && !hasMediaType(r, xmlType) {
		return nil, errMediaType(xmlType)
	}
	switch encoding := r.Header.Values("Content-Encoding"); {
	case slices.Equal(encoding, []string{"gzip"}):
		plain, err := gzip.NewReader(r.Body)
		if errors.Is(err, gzip.ErrHeader) {
			return nil, Invalid("body", "is not gzip, but the header Content-Encoding says so")
		}
		if err != nil {
			return nil, readError(err)
		}
		t.from = http.MaxBytesReader(w, plain, s.Options.MaxXMLBody)
	case len(encoding) > 0:
		return nil, errContentEncoding
	}
	return t, nil
}
