package schema

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gridhook/gridhook/storage"
)

// A timestamp in a request has a year from 2000 to 2199 in UTC.
func TestDecode_TimestampYears(t *testing.T) {
	for text, valid := range map[string]bool{
		"2000-01-01T00:00:00Z": true, "2199-12-31T23:59:59.999Z": true, "2199-12-31T23:59:59-01:00": false, "2000-01-01T00:00:00+01:00": false,
		"1999-12-31T23:59:59Z": false, "2200-01-01T00:00:00Z": false, "0000-01-01T00:00:00Z": false, "9999-12-31T23:59:59Z": false,
	} {
		var in struct {
			At storage.Time `json:"at"`
		}
		wrong := decode([]byte(fmt.Sprintf(`{"at":%q}`, text)), &in, "body", maxDepth)
		if valid != (len(wrong) == 0) {
			t.Errorf("%s: %v", text, wrong)
		}
	}
}

// A time of the right form that does not exist gets an error that names the wrong part.
func TestDecode_NoSuchTime(t *testing.T) {
	for text, want := range map[string]string{
		`{"at":"2026-02-29T00:00:00Z"}`:      ": day out of range",
		`{"at":"2026-07-01T24:00:00Z"}`:      ": hour out of range",
		`{"at":"2026-07-01T23:59:60+02:00"}`: ": second out of range",
		`{"on":"2026-13-01"}`:                ": month out of range",
		`{"on":"2026-07-01T00:00:00Z"}`:      "must be a date such as 2026-07-01",
		`{"at":"2026-07-01"}`:                "must be an RFC 3339 timestamp such as 2026-07-01T00:00:00Z",
		`{"name":""}`:                        "must not be empty",
	} {
		var in struct {
			At   storage.Time `json:"at,omitempty"`
			On   string       `json:"on,omitempty" format:"date"`
			Name string       `json:"name,omitempty" minLength:"1"`
		}
		if wrong := decode([]byte(text), &in, "body", maxDepth); len(wrong) != 1 || !strings.HasSuffix(wrong[0].Message, want) {
			t.Errorf("%s: %v, want %q", text, wrong, want)
		}
	}
}

// The bounds of elements hold in the arrays of updates, too, which are pointers.
func TestDecode_ElementsOfOptionalArray(t *testing.T) {
	for text, valid := range map[string]bool{`{}`: true, `{"ids":[]}`: true, `{"ids":["a"]}`: true, `{"ids":["a/b"]}`: false, `{"ids":null}`: false} {
		var in struct {
			IDs *[]string `json:"ids,omitempty" itemsPattern:"id" nullable:"false"`
		}
		if wrong := decode([]byte(text), &in, "body", maxDepth); valid != (len(wrong) == 0) {
			t.Errorf("%s: %v", text, wrong)
		}
	}
}

// TestHint checks what is suggested for an unknown field.
func TestHint(t *testing.T) {
	s := &Schema{Properties: Members[*Schema]{{Name: "url"}, {Name: "eventTypes"}}}
	for name, want := range map[string]string{
		"URL": "the field is url", "eventType": "did you mean eventTypes?", "urls": "did you mean url?", "x": "the fields are url, eventTypes", "": "the fields are",
	} {
		if got := s.hint(name); !strings.Contains(got, want) {
			t.Errorf("%q: %s, want ...%s...", name, got, want)
		}
	}
}
