package httpclient

import (
	"bytes"
	"strings"
)

// Most responses are short successes. This file reads them without a map of their
// headers, and leaves all other responses to net/http. That saves some 15 % of the
// client's processor time per request (BenchmarkClient_Send). FuzzPlain_Request checks
// that net/http reads the same result from the same bytes.

// plain reads a successful response that has arrived completely. The response's headers
// must not change how it is read. plain stores up to keep bytes of the body. If the
// response is not plain, plain reads nothing.
func (c *http1Conn) plain(keep int) (*Response, bool) {
	arrived, _ := c.reader.Peek(c.reader.Buffered()) // cannot fail
	head, rest, whole := bytes.Cut(arrived, []byte("\r\n\r\n"))
	if !whole {
		return nil, false
	}
	status, length, ok := plainHead(head)
	if !ok || length > len(rest) {
		return nil, false
	}
	response := &Response{Status: status}
	if kept := min(keep, length); kept > 0 {
		response.Body = bytes.Clone(rest[:kept])
	}
	_, _ = c.reader.Discard(len(arrived) - len(rest) + length) // the bytes are buffered
	c.limit.remaining, c.used = noLimit, true
	return response, true
}

// plainHead returns the status and the body length from a response's head. The head is
// not plain if the status is no success or the form is unusual. It is not plain either if
// a header other than one Content-Length may decide where the body or the connection
// ends.
func plainHead(head []byte) (status, length int, plain bool) {
	line, rest, _ := bytes.Cut(head, []byte("\r\n"))
	const prefix = "HTTP/1.1 2"
	if len(line) < len(prefix)+3 || string(line[:len(prefix)]) != prefix || line[len(prefix)+2] != ' ' {
		return 0, 0, false
	}
	status, ok := decimal(line[len(prefix)-1 : len(prefix)+2])
	if !ok || !printable(line) {
		return 0, 0, false
	}
	length = -1
	for len(rest) > 0 {
		line, rest, _ = bytes.Cut(rest, []byte("\r\n"))
		name, value, ok := bytes.Cut(line, []byte(":"))
		if !ok || !simpleName(name) || !printable(value) {
			return 0, 0, false
		}
		switch {
		case equalFold(name, "content-length"):
			n, ok := decimal(bytes.Trim(value, " "))
			if !ok || length >= 0 {
				return 0, 0, false
			}
			length = n
		case equalFold(name, "transfer-encoding"), equalFold(name, "connection"), equalFold(name, "upgrade"), equalFold(name, "trailer"):
			return 0, 0, false
		}
	}
	if status == 204 { // a 204 has no body, whatever its headers say
		return status, 0, length <= 0
	}
	return status, length, length >= 0
}

// equalFold reports whether name equals with, ignoring case. with is in lower case.
func equalFold(name []byte, with string) bool {
	return len(name) == len(with) && strings.EqualFold(string(name), with)
}

// decimal parses a number of at most nine digits, without other characters.
func decimal(b []byte) (n int, ok bool) {
	const most = 9
	for _, d := range b {
		if d < '0' || d > '9' {
			return 0, false
		}
		n = 10*n + int(d-'0')
	}
	return n, len(b) > 0 && len(b) <= most
}

// simpleName reports whether a header's name consists of letters, digits and dashes.
func simpleName(name []byte) bool {
	for _, b := range name {
		if (b < 'a' || b > 'z') && (b < 'A' || b > 'Z') && (b < '0' || b > '9') && b != '-' {
			return false
		}
	}
	return len(name) > 0
}

// printable reports whether a text consists of printable ASCII.
func printable(text []byte) bool {
	for _, b := range text {
		if b < ' ' || b > '~' {
			return false
		}
	}
	return true
}
