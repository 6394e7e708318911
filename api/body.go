package api

import (
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"strings"
)

// body is a request's body within its limit, not read yet.
type body struct{ reader io.Reader }

// limitBody bounds the body. One that says it is too large is refused at once.
func (s *server) limitBody(w http.ResponseWriter, r *http.Request, route *Route) (body, error) {
	limit := s.options.MaxBody
	if route.Body == BodyLines {
		limit = s.options.MaxImportBody
	}
	if r.ContentLength > limit {
		return body{}, errTooLarge(limit)
	}
	if r.ContentLength >= 0 {
		return body{r.Body}, nil // which ends there
	}
	return body{http.MaxBytesReader(w, r.Body, limit)}, nil
}

// promised is the longest body that has its memory before it has come, in bytes.
const promised = 16 << 10

// all returns the whole body.
func (b body) all(r *http.Request) ([]byte, error) {
	switch n := r.ContentLength; {
	case n == 0:
		return nil, nil
	case n > 0 && n <= promised:
		data := make([]byte, n)
		_, err := io.ReadFull(b.reader, data)
		return data, err
	}
	return io.ReadAll(b.reader)
}

// read returns the body, nil when there is none, if it is of the right media
// type. A type that says nothing about a body that is not there is not judged.
func (b body) read(r *http.Request, route *Route) ([]byte, error) {
	if len(r.Header.Values("Content-Encoding")) > 0 {
		return nil, errContentEncoding
	}
	if r.ContentLength > 0 && !hasMediaType(r, route.Body.mediaType()) {
		return nil, errMediaType(route.Body.mediaType())
	}
	data, err := b.all(r)
	if err != nil {
		return nil, readError(err)
	}
	if len(data) == 0 {
		return nil, nil
	}
	if !hasMediaType(r, route.Body.mediaType()) {
		return nil, errMediaType(route.Body.mediaType())
	}
	return data, nil
}

// readError tells what the caller did wrong in sending: too much, too slowly, or
// less than announced.
func readError(err error) error {
	var tooLarge *http.MaxBytesError
	var network net.Error
	if errors.As(err, &tooLarge) || errors.As(err, &network) && network.Timeout() {
		return err
	}
	return invalid("body", "ended before it was complete")
}

// hasMediaType reports whether the request has one Content-Type, the wanted one,
// in UTF-8 where it says.
func hasMediaType(r *http.Request, want string) bool {
	given := r.Header.Values("Content-Type")
	if len(given) != 1 {
		return false
	}
	if given[0] == want { // as nearly always
		return true
	}
	mediaType, params, err := mime.ParseMediaType(given[0])
	if err != nil || mediaType != want {
		return false
	}
	charset, ok := params["charset"]
	return len(params) == 0 || len(params) == 1 && ok && strings.EqualFold(charset, "utf-8")
}
