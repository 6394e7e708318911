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
	open [][]byte // names of the open elements, with prefixes
	self bool     // the last start tag is also the element's end
	leaf bool     // the last tag was a start tag
}

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
		rest := s.text[s.at:]
		switch {
		case bytes.HasPrefix(rest, []byte("/")):
			return s.end(text)
		case bytes.HasPrefix(rest, []byte("?")):
			err = s.skip("?>")
		case bytes.HasPrefix(rest, []byte("!--")):
			err = s.skip("-->")
		case bytes.HasPrefix(rest, []byte("![CDATA[")):
			err = s.skip("]]>")
		case bytes.HasPrefix(rest, []byte("!")):
			err = errors.New("it has a document type, which Green Button does not use")
		default:
			return s.start()
		}
		if err != nil {
			return t, err
		}
	}
}

func (s *scanner) finish() error {
	if len(s.open) > 0 {
		return fmt.Errorf("it ends inside the element %s", s.open[len(s.open)-1])
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

// start reads a start tag. A quoted attribute may contain the character >.
func (s *scanner) start() (t tag, err error) {
	begin, quote := s.at, byte(0)
	for ; s.at < len(s.text); s.at++ {
		switch c := s.text[s.at]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '<':
			return t, fmt.Errorf("the tag at byte %d does not end", begin)
		case c == '>':
			inner := s.text[begin:s.at]
			s.at++
			inner, s.self = bytes.CutSuffix(inner, []byte("/"))
			name := inner
			if i := bytes.IndexAny(inner, " \t\r\n"); i >= 0 {
				name, t.attrs = inner[:i], inner[i:]
			}
			if len(name) == 0 || len(s.open) == maxDepth {
				return t, fmt.Errorf("the tag at byte %d has no name or is nested deeper than %d", begin, maxDepth)
			}
			s.open, s.leaf = append(s.open, name), true
			t.name = local(name)
			return t, nil
		}
	}
	return t, fmt.Errorf("the tag at byte %d does not end", begin)
}

// end reads an end tag. text precedes it.
func (s *scanner) end(text []byte) (t tag, err error) {
	begin := s.at + 1
	if err := s.skip(">"); err != nil {
		return t, err
	}
	name := bytes.TrimRight(s.text[begin:s.at-1], " \t\r\n")
	if len(s.open) == 0 || !bytes.Equal(name, s.open[len(s.open)-1]) {
		return t, fmt.Errorf("the end tag %.40q at byte %d has no start tag", name, begin)
	}
	return s.pop(text)
}

func (s *scanner) pop(text []byte) (tag, error) {
	t := tag{name: local(s.open[len(s.open)-1]), end: true}
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
	return local(s.open[len(s.open)-1])
}

// local returns a name without its prefix.
func local(name []byte) []byte { return name[bytes.IndexByte(name, ':')+1:] }

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
