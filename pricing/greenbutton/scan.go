package greenbutton

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// scanner reads the elements of an XML text, some 50 times as fast as encoding/xml. It
// knows no entities and refuses document types, so that no text grows. Names match in any
// namespace: the scanner drops their prefixes.
type scanner struct {
	text []byte
	at   int
	open []name // of the open elements
	self bool   // the last start tag is also the element's end
	leaf bool   // the last tag was a start tag
}

// name is the name of an element with and without its prefix.
type name struct{ full, local []byte }

// tag is a start tag or an end tag.
type tag struct {
	name  []byte
	attrs []byte // of a start tag
	end   bool
	// text is the text of an element without elements, on its end tag.
	text []byte
}

// maxDepth is the maximum nesting depth of elements. The standard needs about 10.
const maxDepth = 32

// next returns the next tag. Errors: io.EOF after the last tag, and text that is not XML.
func (s *scanner) next() (t tag, err error) {
	if s.self {
		s.self = false
		return s.pop(nil)
	}
	from := s.at
	for {
		i := bytes.IndexByte(s.text[s.at:], '<')
		if i < 0 {
			return t, s.finish()
		}
		text := s.text[from : s.at+i]
		s.at += i + 1
		switch rest := s.text[s.at:]; {
		case len(rest) == 0:
			return t, errors.New("it ends with <")
		case rest[0] == '/':
			return s.end(text)
		case rest[0] == '?':
			err = s.skip("?>")
		case rest[0] != '!':
			return s.start()
		case bytes.HasPrefix(rest, []byte("!--")):
			err = s.skip("-->")
		case bytes.HasPrefix(rest, []byte("![CDATA[")):
			err = s.skip("]]>")
		default:
			err = errors.New("it has a document type, which Green Button does not use")
		}
		if err != nil {
			return t, err
		}
	}
}

func (s *scanner) finish() error {
	if len(s.open) > 0 {
		return fmt.Errorf("it ends inside the element %s", s.open[len(s.open)-1].full)
	}
	return io.EOF
}

// skip moves behind a mark.
func (s *scanner) skip(mark string) error {
	i := bytes.Index(s.text[s.at:], []byte(mark))
	if i < 0 {
		return fmt.Errorf("it ends before %s", mark)
	}
	s.at += i + len(mark)
	return nil
}

// start reads a start tag.
func (s *scanner) start() (t tag, err error) {
	inner := s.inner()
	if inner == nil {
		return t, fmt.Errorf("the tag at byte %d does not end", s.at)
	}
	s.at += len(inner) + 1
	if len(inner) > 0 && inner[len(inner)-1] == '/' {
		inner, s.self = inner[:len(inner)-1], true
	}
	n := name{full: inner}
	if i := space(inner); i >= 0 {
		n.full, t.attrs = inner[:i], inner[i:]
	}
	if len(n.full) == 0 || len(s.open) == maxDepth {
		return t, fmt.Errorf("the tag before byte %d has no name or is nested deeper than %d", s.at, maxDepth)
	}
	n.local = n.full[bytes.IndexByte(n.full, ':')+1:]
	s.open, s.leaf = append(s.open, n), true
	t.name = n.local
	return t, nil
}

// space returns the index of the first white space, -1 if there is none.
func space(text []byte) int {
	for i, c := range text {
		if c <= ' ' {
			return i
		}
	}
	return -1
}

// inner returns the text of a start tag, nil if the tag does not end. A quoted attribute
// may contain the character >.
func (s *scanner) inner() []byte {
	rest := s.text[s.at:]
	end := bytes.IndexByte(rest, '>')
	if end >= 0 && space(rest[:end]) < 0 {
		return rest[:end] // most tags have no attributes
	}
	quote := byte(0)
	for i, c := range rest {
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '>':
			return rest[:i]
		}
	}
	return nil
}

// end reads an end tag. text precedes it.
func (s *scanner) end(text []byte) (t tag, err error) {
	rest := s.text[s.at+1:]
	if len(s.open) > 0 {
		if after, ok := bytes.CutPrefix(rest, s.open[len(s.open)-1].full); ok {
			for len(after) > 0 && after[0] <= ' ' {
				after = after[1:]
			}
			if len(after) > 0 && after[0] == '>' {
				s.at = len(s.text) - len(after) + 1
				return s.pop(text)
			}
		}
	}
	return t, fmt.Errorf("the end tag at byte %d, %.20q, has no start tag", s.at, rest)
}

func (s *scanner) pop(text []byte) (tag, error) {
	t := tag{name: s.parent(), end: true}
	if s.leaf {
		t.text = bytes.TrimSpace(text)
	}
	s.open, s.leaf = s.open[:len(s.open)-1], false
	return t, nil
}

// parent returns the name of the innermost open element.
func (s *scanner) parent() []byte {
	if len(s.open) == 0 {
		return nil
	}
	return s.open[len(s.open)-1].local
}

// attr returns the value of an attribute, "" if the tag has none of the name.
func (t *tag) attr(name string) string {
	for rest := t.attrs; ; {
		before, after, found := bytes.Cut(rest, []byte("="))
		after = bytes.TrimLeft(after, " \t\r\n")
		if !found || len(after) == 0 {
			return ""
		}
		value, others, _ := bytes.Cut(after[1:], after[:1])
		if string(bytes.TrimSpace(before)) == name {
			return string(value)
		}
		rest = others
	}
}
