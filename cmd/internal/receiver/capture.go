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
	head, body, whole := cutHead(text)
	if !whole {
		return nil, nil, errors.New("no empty line between the headers and the body")
	}
	header, err := ReadHeaders(head)
	if err != nil {
		return nil, nil, err
	}
	if strings.EqualFold(header.Get("Transfer-Encoding"), "chunked") {
		if body, err = io.ReadAll(httputil.NewChunkedReader(bytes.NewReader(body))); err != nil {
			return nil, nil, fmt.Errorf("read the chunks of the body: %w", err)
		}
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

// cutHead splits a request at its first empty line.
func cutHead(text []byte) (head, body []byte, whole bool) {
	for at := 0; ; {
		end := bytes.IndexByte(text[at:], '\n')
		if end < 0 {
			return text, nil, false
		}
		if line := bytes.TrimSuffix(text[at:at+end], []byte("\r")); len(line) == 0 {
			return text[:at], text[at+end+1:], true
		}
		at += end + 1
	}
}

// ReadHeaders parses captured headers, with or without a request line before them. It
// ignores a body after them.
func ReadHeaders(text []byte) (http.Header, error) {
	head, _, _ := cutHead(text)
	if first, rest, _ := bytes.Cut(head, []byte("\n")); isRequestLine(first) {
		head = rest
	}
	lines := slices.Concat(bytes.TrimRight(head, "\r\n"), []byte("\n\n"))
	header, err := textproto.NewReader(bufio.NewReader(bytes.NewReader(lines))).ReadMIMEHeader()
	if err != nil {
		return nil, fmt.Errorf("read the headers: %w", err)
	}
	return http.Header(header), nil
}

// isRequestLine distinguishes "POST /hooks HTTP/1.1" from "Host: example.com".
func isRequestLine(line []byte) bool {
	method, _, ok := bytes.Cut(line, []byte(" "))
	return ok && len(method) > 0 && !bytes.Contains(method, []byte(":"))
}
