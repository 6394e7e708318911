package http1

import (
	"bytes"
	"strings"
)

// Most answers say no more than that all is well. Those are read here, without
// making anything of their headers; net/http reads all others.

// plain reads an answer that is a success, has come whole, and whose headers change
// nothing about how it is read. Of its body it keeps up to keep bytes. Where it is
// not such an answer, nothing is read.
func (c *connection) plain(keep int) (*Answer, bool) {
	come, _ := c.in.Peek(c.in.Buffered()) // which cannot fail
	head, rest, whole := bytes.Cut(come, []byte("\r\n\r\n"))
	if !whole {
		return nil, false
	}
	status, length, ok := plainHead(head)
	if !ok || length > len(rest) {
		return nil, false
	}
	answer := &Answer{Status: status}
	if kept := min(keep, length); kept > 0 {
		answer.Body = bytes.Clone(rest[:kept])
	}
	_, _ = c.in.Discard(len(come) - len(rest) + length) // they are there
	c.limit.left, c.answered = -1, true
	return answer, true
}

// plainHead reads the head of an answer: its status, and the length of its body. It
// is not plain when it is no success, when anything else than one Content-Length could
// decide how long the body is or whether the connection goes on, and when it is not
// written in the usual way.
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
	if status == 204 { // it has no body, whatever it says
		return status, 0, length <= 0
	}
	return status, length, length >= 0
}

// equalFold compares a name with one in small letters.
func equalFold(name []byte, with string) bool {
	return len(name) == len(with) && strings.EqualFold(string(name), with)
}

// decimal reads a number of at most nine digits, and nothing else.
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

// simpleName reports whether a header's name is of letters, digits and dashes.
func simpleName(name []byte) bool {
	for _, b := range name {
		if (b < 'a' || b > 'z') && (b < 'A' || b > 'Z') && (b < '0' || b > '9') && b != '-' {
			return false
		}
	}
	return len(name) > 0
}

// printable reports whether a text is of printable ASCII.
func printable(text []byte) bool {
	for _, b := range text {
		if b < ' ' || b > '~' {
			return false
		}
	}
	return true
}
