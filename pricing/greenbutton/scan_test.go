package greenbutton

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

// leaves lists the elements with no elements and their texts, by the scanner.
func leaves(text string) (all []string, err error) {
	s := newScanner([]byte(text))
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
