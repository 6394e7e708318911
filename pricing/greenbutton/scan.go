package greenbutton

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// scanner reads the elements of an XML text, some 20 times as fast as encoding/xml. It
// knows no entities and refuses document types, so that no text grows. Names match in any
// namespace: the scanner drops their prefixes. Its memory does not depend on the length of
// the text.
type scanner struct {
	in   io.Reader
	rest []byte // what is read of the text after the last tag
	size int64  // of what is read of the text
	done bool   // the text is read to its end
	kept int    // bytes of the strings made by keep
	open []name // of the open elements
	self bool   // the last start tag is also the element's end

	// These fields describe the last tag.
	name  []byte
	attrs []byte // of a start tag
	end   bool   // it is an end tag
	leaf  bool   // it is the end tag of an element without elements
	text  []byte // of such an element
}

// name is the name of an element with and without its prefix.
type name struct{ full, local []byte }

const (
	// maxDepth is the maximum nesting depth of elements. The standard needs about 10.
	maxDepth = 32
	// maxPiece is the length in bytes of a tag, a text and a comment that are always read.
	// Much longer ones are refused.
	maxPiece = 16 << 10
	// maxKept bounds the strings of a file. A year of daily blocks needs some 100 KB.
	maxKept = 16 << 20
)

// fill reads on if the rest may end inside a text and the tag after it. It reads into new
// memory, because the names of the open elements are in the old.
func (s *scanner) fill() error {
	if s.done || len(s.rest) >= 2*maxPiece {
		return nil
	}
	text := make([]byte, 16*maxPiece)
	had := copy(text, s.rest)
	n, err := io.ReadFull(s.in, text[had:])
	s.rest, s.size = text[:had+n], s.size+int64(n)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		s.done, err = true, nil
	}
	return err
}

// keep returns a text of the file as a string, which counts with some 64 bytes of memory
// around it.
func (s *scanner) keep(text []byte) string {
	s.kept += len(text) + 64
	return string(text)
}

// next reads the next tag. An element without attributes and elements is one end tag.
// Errors: io.EOF after the last tag, and text that is not XML.
func (s *scanner) next() (err error) {
	if s.self {
		s.self = false
		return s.pop(nil, true)
	}
	for {
		if err := s.fill(); err != nil {
			return err
		}
		i := bytes.IndexByte(s.rest, '<')
		switch {
		case i < 0 && s.done && len(s.open) > 0:
			return fmt.Errorf("it ends inside the element %s", s.open[len(s.open)-1].full)
		case i < 0 && s.done:
			return io.EOF
		case i < 0:
			return fmt.Errorf("it has more than %d bytes without a tag before byte %d", maxPiece, s.size)
		case s.kept > maxKept:
			return fmt.Errorf("it has more than %d MB of data besides the readings", maxKept>>20)
		}
		text := s.rest[:i]
		s.rest = s.rest[i+1:]
		switch {
		case len(s.rest) == 0:
			return errors.New("it ends with <")
		case s.rest[0] == '/':
			return s.endTag(text)
		case s.rest[0] == '?':
			err = s.skip("?>")
		case s.rest[0] != '!':
			return s.startTag()
		case bytes.HasPrefix(s.rest, []byte("!--")):
			err = s.skip("-->")
		case bytes.HasPrefix(s.rest, []byte("![CDATA[")):
			err = s.skip("]]>")
		default:
			err = errors.New("it has a document type, which Green Button does not use")
		}
		if err != nil {
			return err
		}
	}
}

// at returns the position in the text for an error.
func (s *scanner) at() int64 { return s.size - int64(len(s.rest)) }

// skip moves behind a mark.
func (s *scanner) skip(mark string) error {
	i := bytes.Index(s.rest, []byte(mark))
	if i < 0 {
		return fmt.Errorf("%s is missing after byte %d", mark, s.at())
	}
	s.rest = s.rest[i+len(mark):]
	return nil
}

// startTag reads a start tag.
func (s *scanner) startTag() error {
	length, space := tagLength(s.rest)
	if length < 0 {
		return fmt.Errorf("the tag at byte %d does not end", s.at())
	}
	n := name{full: s.rest[:space]}
	s.attrs, s.end, s.leaf = s.rest[space:length], false, false
	if s.rest = s.rest[length+1:]; space == length {
		n.full, s.self = bytes.CutSuffix(n.full, []byte("/"))
	} else {
		s.attrs, s.self = bytes.CutSuffix(s.attrs, []byte("/"))
	}
	if len(n.full) == 0 || len(s.open) == maxDepth {
		return fmt.Errorf("the tag before byte %d has no name or is nested deeper than %d", s.at(), maxDepth)
	}
	n.local = n.full[bytes.IndexByte(n.full, ':')+1:]
	s.name = n.local
	if space == length && !s.self {
		if i := bytes.IndexByte(s.rest, '<'); i >= 0 && closes(s.rest[i+1:], n.full) {
			s.end, s.leaf, s.text = true, true, bytes.TrimSpace(s.rest[:i])
			s.rest = s.rest[i+len(n.full)+3:]
			return nil
		}
	}
	s.open = append(s.open, n)
	return nil
}

// closes reports whether a text begins with the rest of an element's end tag.
func closes(text, full []byte) bool {
	n := len(full) + 1
	return len(text) > n && text[0] == '/' && text[n] == '>' && bytes.Equal(text[1:n], full)
}

// tagLength returns the length of a start tag up to its >, -1 if it does not end, and the
// length of its name. A quoted attribute may contain the character >.
func tagLength(text []byte) (length, name int) {
	name, quote := -1, byte(0)
	for i, c := range text {
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '>':
			if name < 0 {
				name = i
			}
			return i, name
		case c <= ' ' && name < 0:
			name = i
		case c == '"' || c == '\'':
			quote = c
		}
	}
	return -1, 0
}

// endTag reads an end tag. text precedes it.
func (s *scanner) endTag(text []byte) error {
	if len(s.open) > 0 {
		if after, ok := bytes.CutPrefix(s.rest[1:], s.open[len(s.open)-1].full); ok {
			if after = bytes.TrimLeft(after, " \t\r\n"); len(after) > 0 && after[0] == '>' {
				s.rest = after[1:]
				return s.pop(text, !s.end) // after its own start tag it is a leaf
			}
		}
	}
	return fmt.Errorf("the end tag at byte %d, %.20q, has no start tag", s.at(), s.rest)
}

// pop closes the innermost element.
func (s *scanner) pop(text []byte, leaf bool) error {
	s.name, s.end, s.leaf, s.text = s.parent(), true, leaf, bytes.TrimSpace(text)
	s.open = s.open[:len(s.open)-1]
	return nil
}

// parent returns the name of the innermost open element.
func (s *scanner) parent() []byte {
	if len(s.open) == 0 {
		return nil
	}
	return s.open[len(s.open)-1].local
}

// attr returns the value of an attribute, "" if the tag has none of the name.
func (s *scanner) attr(name string) string {
	for rest := s.attrs; ; {
		before, after, found := bytes.Cut(rest, []byte("="))
		after = bytes.TrimLeft(after, " \t\r\n")
		if !found || len(after) == 0 {
			return ""
		}
		value, others, _ := bytes.Cut(after[1:], after[:1])
		if string(bytes.TrimSpace(before)) == name {
			return s.keep(value)
		}
		rest = others
	}
}
