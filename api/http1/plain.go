package http1

import (
	"bufio"
	"bytes"
	"net/http"
	"strings"
	"sync"
)

// head is the head of a request, from its second line on, as it was sent and as
// net/http reads it. Most connections send the same one again and again, many to the
// same target.
type head struct {
	text   []byte
	like   *http.Request
	target string
}

// cutting is what came of looking for a request.
type cutting int

const (
	partial cutting = iota // there may be one when more has come
	whole
	foreign // it is for net/http
)

const (
	method   = "POST "
	protocol = " HTTP/1.1"
	newline  = "\r\n"
)

// cut cuts the first request off what has come: its body, and how long all of it is.
func (h *head) cut(come []byte) (body []byte, length int, found cutting) {
	if n := min(len(come), len(method)); string(come[:n]) != method[:n] {
		return nil, 0, foreign
	}
	lines, rest, ok := bytes.Cut(come, []byte(newline+newline))
	if !ok {
		return nil, 0, partial
	}
	line, text, _ := bytes.Cut(lines, []byte(newline))
	if !h.goTo(line) || !h.read(text) {
		return nil, 0, foreign
	}
	size := int(h.like.ContentLength)
	length = len(come) - len(rest) + size
	switch {
	case length > most:
		return nil, 0, foreign
	case size > len(rest):
		return nil, 0, partial
	}
	return rest[:size], length, whole
}

// goTo reads where a request goes to of its first line.
func (h *head) goTo(line []byte) bool {
	target, ok := bytes.CutSuffix(line, []byte(protocol))
	if !ok || len(target) <= len(method) {
		return false
	}
	if target = target[len(method):]; string(target) != h.target {
		h.target = string(target)
	}
	return simple(target, "/-_.~") && target[0] == '/' && !bytes.HasPrefix(target, []byte("//"))
}

// read reads a head, unless it is the one before.
func (h *head) read(text []byte) bool {
	if h.like != nil && bytes.Equal(text, h.text) {
		return true
	}
	if !usual(text) {
		return false
	}
	like, err := parse(text)
	if err != nil || like.Close || len(like.TransferEncoding) > 0 || like.ContentLength < 0 || like.ContentLength > most {
		return false
	}
	h.text, h.like = append(h.text[:0], text...), like
	return true
}

// parser has net/http read a head. Its memory is that of heads before.
type parser struct {
	text []byte
	from bytes.Reader
	in   *bufio.Reader
}

var parsers = sync.Pool{New: func() any { return &parser{in: bufio.NewReader(nil)} }}

// parse reads a head as that of a request to /, which has no body.
func parse(text []byte) (*http.Request, error) {
	p := parsers.Get().(*parser)
	defer parsers.Put(p)
	p.text = append(append(append(p.text[:0], method+"/"+protocol+newline...), text...), newline+newline...)
	p.from.Reset(p.text)
	p.in.Reset(&p.from)
	like, err := http.ReadRequest(p.in)
	if err != nil {
		return nil, err
	}
	like.Body = http.NoBody // else it would read of the parser
	return like, nil
}

// mostHeaders is how many lines a head may have: what is made of it is kept while the
// connection waits for the next request.
const mostHeaders = 32

// usual reports whether the lines of a head are few and written in the usual way, name
// one host, and ask for nothing that concerns the connection but to keep it.
func usual(text []byte) bool {
	hosts := 0
	for n := 0; len(text) > 0; n++ {
		if n == mostHeaders {
			return false
		}
		var line []byte
		line, text, _ = bytes.Cut(text, []byte(newline))
		name, value, ok := bytes.Cut(line, []byte(":"))
		if !ok || !simple(name, "-") || !printable(value) {
			return false
		}
		switch strings.ToLower(string(name)) {
		case "host":
			value = bytes.Trim(value, " ")
			if hosts++; len(value) == 0 || !simple(value, "-.:[]_") {
				return false
			}
		case "connection":
			if !strings.EqualFold(strings.Trim(string(value), " "), "keep-alive") {
				return false
			}
		case "expect", "upgrade", "te", "trailer", "transfer-encoding", "proxy-connection", "http2-settings":
			return false
		}
	}
	return hosts == 1
}

// simple reports whether a text is of letters, digits and some others.
func simple(text []byte, others string) bool {
	for _, b := range text {
		if (b < 'a' || b > 'z') && (b < 'A' || b > 'Z') && (b < '0' || b > '9') && strings.IndexByte(others, b) < 0 {
			return false
		}
	}
	return len(text) > 0
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
