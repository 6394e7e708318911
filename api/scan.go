package api

import (
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// scanner reads JSON as RFC 8259 has it and nothing more. Its input must be valid
// UTF-8. It stops at the first thing that is not JSON.
type scanner struct {
	data []byte
	pos  int
}

// syntaxError says where and why a text is not JSON, or not JSON that we take.
type syntaxError struct {
	at     int
	reason string
}

func (e *syntaxError) Error() string {
	return fmt.Sprintf("is not valid JSON: %s at byte %d", e.reason, e.at)
}

func (s *scanner) fail(reason string) error { return &syntaxError{s.pos, reason} }

// unexpected is the error at the current byte, which is not what was wanted.
func (s *scanner) unexpected(wanted string) error {
	if s.pos >= len(s.data) {
		return s.fail("it ends where " + wanted + " must be")
	}
	r, _ := utf8.DecodeRune(s.data[s.pos:])
	return s.fail(strconv.QuoteRune(r) + " stands where " + wanted + " must be")
}

// peek skips white space and returns the next byte, 0 at the end.
func (s *scanner) peek() byte {
	for ; s.pos < len(s.data); s.pos++ {
		switch c := s.data[s.pos]; c {
		case ' ', '\t', '\n', '\r':
		default:
			return c
		}
	}
	return 0
}

// take consumes the next byte after white space if it is c.
func (s *scanner) take(c byte) bool {
	if s.peek() != c || s.pos >= len(s.data) {
		return false
	}
	s.pos++
	return true
}

// literal consumes true, false or null.
func (s *scanner) literal(word string) error {
	for i := range len(word) {
		if s.pos >= len(s.data) || s.data[s.pos] != word[i] {
			return s.unexpected(word)
		}
		s.pos++
	}
	return nil
}

// number consumes a number and returns its text.
func (s *scanner) number() (string, error) {
	start := s.pos
	if s.data[s.pos] == '-' {
		s.pos++
	}
	if s.pos < len(s.data) && s.data[s.pos] == '0' {
		s.pos++ // nothing but a fraction or an exponent follows a leading zero
	} else if err := s.digits(); err != nil {
		return "", err
	}
	if s.pos < len(s.data) && s.data[s.pos] == '.' {
		s.pos++
		if err := s.digits(); err != nil {
			return "", err
		}
	}
	if s.pos < len(s.data) && (s.data[s.pos] == 'e' || s.data[s.pos] == 'E') {
		s.pos++
		if s.pos < len(s.data) && (s.data[s.pos] == '+' || s.data[s.pos] == '-') {
			s.pos++
		}
		if err := s.digits(); err != nil {
			return "", err
		}
	}
	return string(s.data[start:s.pos]), nil
}

func (s *scanner) digits() error {
	start := s.pos
	for s.pos < len(s.data) && s.data[s.pos] >= '0' && s.data[s.pos] <= '9' {
		s.pos++
	}
	if s.pos == start {
		return s.unexpected("a digit")
	}
	return nil
}

// text consumes a string, from its opening quote, and returns what it says.
func (s *scanner) text() (string, error) {
	s.pos++
	start := s.pos
	for ; s.pos < len(s.data); s.pos++ {
		switch c := s.data[s.pos]; {
		case c == '"':
			plain := string(s.data[start:s.pos])
			s.pos++
			return plain, nil
		case c == '\\':
			return s.escapedText([]byte(string(s.data[start:s.pos])))
		case c < ' ':
			return "", s.fail("a control character stands unescaped in a string")
		}
	}
	return "", s.unexpected("a closing quote")
}

// escapedText goes on with a string that has an escape at the current byte.
func (s *scanner) escapedText(b []byte) (string, error) {
	for s.pos < len(s.data) {
		switch c := s.data[s.pos]; {
		case c == '"':
			s.pos++
			return string(b), nil
		case c == '\\':
			r, err := s.escape()
			if err != nil {
				return "", err
			}
			b = utf8.AppendRune(b, r)
		case c < ' ':
			return "", s.fail("a control character stands unescaped in a string")
		default:
			b = append(b, c)
			s.pos++
		}
	}
	return "", s.unexpected("a closing quote")
}

// escape consumes one escape sequence, or two that make a surrogate pair.
func (s *scanner) escape() (rune, error) {
	s.pos++
	if s.pos >= len(s.data) {
		return 0, s.unexpected("an escape sequence")
	}
	c := s.data[s.pos]
	s.pos++
	switch c {
	case '"', '\\', '/':
		return rune(c), nil
	case 'b':
		return '\b', nil
	case 'f':
		return '\f', nil
	case 'n':
		return '\n', nil
	case 'r':
		return '\r', nil
	case 't':
		return '\t', nil
	case 'u':
		return s.unicodeEscape()
	}
	s.pos--
	return 0, s.unexpected("an escape sequence")
}

// unicodeEscape reads the digits after \u. A surrogate must have its other half:
// on its own it is no character, and decoders disagree on what becomes of it.
func (s *scanner) unicodeEscape() (rune, error) {
	r, err := s.hex4()
	if err != nil || !utf16.IsSurrogate(r) {
		return r, err
	}
	if s.pos+1 < len(s.data) && s.data[s.pos] == '\\' && s.data[s.pos+1] == 'u' {
		s.pos += 2
		low, err := s.hex4()
		if err != nil {
			return 0, err
		}
		if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
			return pair, nil
		}
	}
	return 0, s.fail("a surrogate stands without its other half")
}

func (s *scanner) hex4() (rune, error) {
	if s.pos+4 > len(s.data) {
		s.pos = len(s.data)
		return 0, s.unexpected("four hexadecimal digits")
	}
	n, err := strconv.ParseUint(string(s.data[s.pos:s.pos+4]), 16, 16)
	if err != nil {
		return 0, s.unexpected("four hexadecimal digits")
	}
	s.pos += 4
	return rune(n), nil
}
