package receiver

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"net/textproto"
	"slices"
	"strings"
)

// ReadRequest parses a captured request: its headers, with or without a request line
// before them, an empty line, and the unchanged body. It joins a chunked body.
func ReadRequest(text []byte) (http.Header, []byte, error) {
	header, rest, err := readHead(text)
	if errors.Is(err, io.EOF) {
		return nil, nil, errors.New("no empty line between the headers and the body")
	}
	if err != nil {
		return nil, nil, err
	}
	if strings.EqualFold(header.Get("Transfer-Encoding"), "chunked") {
		rest = httputil.NewChunkedReader(rest)
	}
	body, err := io.ReadAll(rest)
	if err != nil {
		return nil, nil, fmt.Errorf("read the chunks of the body: %w", err)
	}
	return header, body, nil
}

// Request returns an event's request in the format of ReadRequest.
func (e *Event) Request() []byte {
	var text bytes.Buffer
	fmt.Fprintf(&text, "POST %s HTTP/1.1\r\n", e.Path)
	_ = e.Header.Write(&text) // memory does not fail
	text.WriteString("\r\n")
	text.Write(e.Sent)
	return text.Bytes()
}

// ReadHeaders parses captured headers, with or without a request line before them. It
// ignores a body after them.
func ReadHeaders(text []byte) (http.Header, error) {
	header, _, err := readHead(slices.Concat(text, []byte("\n\n")))
	return header, err
}

// readHead parses captured headers. rest is the text after their empty line. Without an
// empty line the error is an io.EOF.
func readHead(text []byte) (header http.Header, rest io.Reader, err error) {
	if first, others, _ := bytes.Cut(text, []byte("\n")); isRequestLine(first) {
		text = others
	}
	lines := bufio.NewReader(bytes.NewReader(text))
	parsed, err := textproto.NewReader(lines).ReadMIMEHeader()
	if err != nil {
		return nil, nil, fmt.Errorf("read the headers: %w", err)
	}
	return http.Header(parsed), lines, nil
}

// isRequestLine distinguishes "POST /hooks HTTP/1.1" from "Host: example.com".
func isRequestLine(line []byte) bool {
	method, _, ok := bytes.Cut(line, []byte(" "))
	return ok && len(method) > 0 && !bytes.Contains(method, []byte(":"))
}
