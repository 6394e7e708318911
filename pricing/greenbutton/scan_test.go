package greenbutton

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// leaves lists the elements with no elements and their texts, by the scanner.
func leaves(text string) (all []string, err error) {
	s := &scanner{in: strings.NewReader(text)}
	for {
		if err := s.next(); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return all, err
		}
		if s.leaf {
			all = append(all, fmt.Sprintf("%s/%s=%s", s.parent(), s.name, s.text))
		}
	}
}

// standard lists the same by encoding/xml.
func standard(text string) (all []string, err error) {
	d := xml.NewDecoder(strings.NewReader(text))
	var open []string
	leaf, chars := false, ""
	for {
		token, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		switch t := token.(type) {
		case xml.StartElement:
			open, leaf, chars = append(open, t.Name.Local), true, ""
		case xml.CharData:
			chars += string(t)
		case xml.EndElement:
			if len(open) == 0 || open[len(open)-1] != t.Name.Local {
				return nil, errors.New("crossed")
			}
			parent := ""
			if open = open[:len(open)-1]; len(open) > 0 {
				parent = open[len(open)-1]
			}
			if leaf {
				all = append(all, fmt.Sprintf("%s/%s=%s", parent, t.Name.Local, strings.TrimSpace(chars)))
			}
			leaf = false
		}
	}
}

// The scanner finds the elements that encoding/xml finds.
func TestScanner_MatchesStandard(t *testing.T) {
	for _, text := range []string{
		"<a><b>1</b><c/><d x='>'>2</d><e ></e><f\ty=\"/\"/></a>",
		"<?xml version=\"1.0\"?><!-- <a> --><x:a xmlns:x='u'><x:b> 3\n</x:b\n></x:a>\n",
		"<a><b>1<c>2</c>3</b></a>",
		"<a>\n  <a>1</a>\n  <a>2</a>\n</a>",
		"<a><ab>1</ab><a/></a>",
	} {
		got, err := leaves(text)
		want, wrong := standard(text)
		if err != nil || wrong != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %v (%v), want %v (%v)", text, got, err, want, wrong)
		}
	}
}

func TestScanner_Refuses(t *testing.T) {
	for _, text := range []string{
		"<a>", "<a", "<a></b>", "</a>", "<a><b></a></b>", "<", "<!DOCTYPE a>", "<!-- ", "<?x", "<a b='>", "<>", "< a></a>", "<a></a", "<a><![CDATA[</a>",
	} {
		if got, err := leaves(text); err == nil {
			t.Errorf("%s: %v, want an error", text, got)
		}
	}
}

// Whatever encoding/xml reads without entities and CDATA, the scanner reads alike.
func FuzzScanner(f *testing.F) {
	f.Add("<a><b>1</b><c d='e'/></a>")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := leaves(text)
		want, wrong := standard(text)
		if err != nil || wrong != nil || strings.ContainsAny(text, "&!?") || strings.ContainsAny(text, "\r:\u0085\u00a0") {
			return
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	})
}

// endless repeats a text for ever and counts what was read.
type endless struct {
	text string
	read int
}

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, e.text[e.read%len(e.text):])
	e.read += n
	return n, nil
}

// The reader gives up on an endless text before it fills the memory.
func TestRead_EndlessTexts(t *testing.T) {
	const reading = "<IntervalReading><timePeriod><start>1</start><duration>1</duration></timePeriod><value>1</value></IntervalReading>"
	for name, tt := range map[string]struct {
		begin, repeated, want string
		most                  int // bytes read
	}{
		"elements":   {"", "<a>", "nested deeper than 32", 1 << 19},
		"text":       {"<a>", "x", "bytes without a tag", 1 << 19},
		"a tag":      {"<a ", "b='c' ", "does not end", 1 << 19},
		"a comment":  {"<!-- ", "x", "--> is missing", 1 << 19},
		"a section":  {"<a><![CDATA[", "x", "]]> is missing", 1 << 19},
		"links":      {"<entry>", "<link rel='self' href='/a'/>", "data besides the readings", 8 << 20},
		"parts":      {"<entry>", "<a>1</a>", "data besides the readings", 8 << 20},
		"entries":    {"<feed>", "<entry><link rel='self' href='/a'/><ReadingType><a>1</a></ReadingType></entry>", "data besides the readings", 32 << 20},
		"readings":   {"<entry><IntervalBlock>", reading, "more than 1000000 readings", 128 << 20},
		"characters": {"<a>&", "a;&", "bytes without a tag", 1 << 19},
	} {
		in := &endless{text: strings.Repeat(tt.repeated, 1<<10)}
		_, err := Read(io.MultiReader(strings.NewReader(tt.begin), in))
		if err == nil || !strings.Contains(err.Error(), tt.want) || in.read > tt.most {
			t.Errorf("%s: %v after %d bytes, want an error with %q", name, err, in.read, tt.want)
		}
	}
}

// The scanner finds the same however the text arrives, and pieces of the allowed length
// anywhere in it.
func TestScanner_AnyReads(t *testing.T) {
	long := strings.Repeat("<!-- "+strings.Repeat("c", maxPiece-10)+" --><v x='"+strings.Repeat("y", maxPiece-10)+"'>1</v>", 40)
	text := "<a>" + long + "</a>"
	want, err := leaves(text)
	if err != nil || len(want) != 40 {
		t.Fatalf("%d leaves, %v", len(want), err)
	}
	s := &scanner{in: iotest.OneByteReader(strings.NewReader(text))}
	found := 0
	for err = s.next(); err == nil; err = s.next() {
		if s.leaf {
			found++
		}
	}
	if found != len(want) || !errors.Is(err, io.EOF) {
		t.Errorf("%d leaves, %v, want %d", found, err, len(want))
	}
}

// An error of the reader is neither the end of the text nor one of the file's mistakes.
func TestRead_ReaderFails(t *testing.T) {
	broken := errors.New("broken")
	_, err := Read(io.MultiReader(strings.NewReader("<feed><entry>"), iotest.ErrReader(broken)))
	if !errors.Is(err, broken) {
		t.Errorf("it says %v, want %v", err, broken)
	}
}
