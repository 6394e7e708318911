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
	"strings"
)

// ReadRequest reads a captured request: its headers, with or without a request line
// before them, an empty line, and the unchanged body. It joins a chunked body. Only the
// memory limits its size.
func ReadRequest(r io.Reader) (http.Header, []byte, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, nil, err
	}
	head, body, whole := cutHead(text)
	if !whole {
		return nil, nil, errors.New("the request has no empty line between its headers and its body")
	}
	header, err := parseHead(head)
	if err != nil {
		return nil, nil, err
	}
	if strings.EqualFold(header.Get("Transfer-Encoding"), "chunked") {
		if body, err = io.ReadAll(httputil.NewChunkedReader(bytes.NewReader(body))); err != nil {
			return nil, nil, fmt.Errorf("the chunks of the body cannot be read: %w", err)
		}
	}
	return header, body, nil
}

// WriteRequest writes an event's request in the format of ReadRequest.
func (e *Event) WriteRequest(w io.Writer) error {
	var text bytes.Buffer
	fmt.Fprintf(&text, "POST %s HTTP/1.1\r\n", e.Path)
	_ = e.Header.Write(&text) // memory does not fail
	text.WriteString("\r\n")
	text.Write(e.Sent)
	_, err := w.Write(text.Bytes())
	return err
}

// ReadHeaders reads captured headers, with or without a request line before them.
func ReadHeaders(r io.Reader) (http.Header, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	head, _, _ := cutHead(text)
	return parseHead(head)
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

func parseHead(head []byte) (http.Header, error) {
	if first, rest, _ := bytes.Cut(head, []byte("\n")); isRequestLine(first) {
		head = rest
	}
	text := io.MultiReader(bytes.NewReader(bytes.TrimRight(head, "\r\n")), strings.NewReader("\n\n"))
	header, err := textproto.NewReader(bufio.NewReader(text)).ReadMIMEHeader()
	if err != nil {
		return nil, fmt.Errorf("the headers cannot be read: %w", err)
	}
	return http.Header(header), nil
}

// isRequestLine distinguishes "POST /hooks HTTP/1.1" from "Host: example.com".
func isRequestLine(line []byte) bool {
	method, _, ok := bytes.Cut(line, []byte(" "))
	return ok && len(method) > 0 && !bytes.Contains(method, []byte(":"))
}
