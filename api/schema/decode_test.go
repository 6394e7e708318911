package schema

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/storage"
)

// decode decodes with a new schema of the type.
func decode(text []byte, dst any, root string, deepest int) []storage.FieldError {
	var types Types
	wrong, _ := Decode(text, dst, types.Of(reflect.TypeOf(dst).Elem(), Request), root, deepest)
	return wrong
}

// sample has a field of each type that inputs have.
type sample struct {
	Embedded
	Text   string            `json:"text"`
	Whole  int               `json:"whole"`
	Number float64           `json:"number"`
	Flag   bool              `json:"flag"`
	At     storage.Time      `json:"at"`
	Solid  storage.Time      `json:"solid" nullable:"false"`
	Maybe  *string           `json:"maybe"`
	Given  *string           `json:"given" nullable:"false"`
	List   []int             `json:"list"`
	Nested []Embedded        `json:"nested"`
	Map    map[string]string `json:"map"`
	Raw    json.RawMessage   `json:"raw"`
	Hidden string            `json:"-"`
}

// Embedded is embedded in an input.
type Embedded struct {
	Inner string `json:"inner"`
}

const maxDepth = 32

func fieldsIn(wrong []storage.FieldError) []string {
	names := []string{}
	for _, w := range wrong {
		names = append(names, w.Field)
	}
	return names
}

func TestDecode(t *testing.T) {
	var got sample
	wrong := decode([]byte(` { "inner":"i", "text":"a\u00e9\ud83d\ude00\n", "whole": 1e2, "number":-0.5E-1, "flag":true,
		"at":"2026-07-01T02:00:00.5+02:00", "maybe":"m", "list":[1,-2], "nested":[{"inner":"n"},{}], "map":{"k":"v",".":""}, "raw":{"a":[null]} }`), &got, "body", maxDepth)
	m := "m"
	want := sample{
		Embedded: Embedded{"i"}, Text: "aé😀\n", Whole: 100, Number: -0.05, Flag: true,
		At: storage.Time{Time: time.Date(2026, 7, 1, 0, 0, 0, 5e8, time.UTC)}, Maybe: &m, List: []int{1, -2},
		Nested: []Embedded{{"n"}, {}}, Map: map[string]string{"k": "v", ".": ""}, Raw: json.RawMessage(`{"a":[null]}`),
	}
	if len(wrong) > 0 || !reflect.DeepEqual(got, want) {
		t.Errorf("wrong %v\n got %+v\nwant %+v", wrong, got, want)
	}
}

func TestDecode_AbsentFields(t *testing.T) {
	text := "kept"
	got := sample{Text: "kept", Whole: 7, Maybe: &text, At: storage.Time{Time: time.Unix(0, 0)}}
	if wrong := decode([]byte(`{"maybe":null,"at":null}`), &got, "body", maxDepth); len(wrong) > 0 {
		t.Fatal(wrong)
	}
	if got.Text != "kept" || got.Whole != 7 || got.Maybe != nil || !got.At.IsZero() {
		t.Errorf("got %+v", got)
	}
}

func TestDecode_Errors(t *testing.T) {
	for text, want := range map[string][]string{
		`{"text":1}`:                              {"text"},
		`{"text":null}`:                           {"text"},
		`{"TEXT":"a"}`:                            {"TEXT"},
		`{"text":"a","text":"a"}`:                 {"text"},
		`{"hidden":"a"}`:                          {"hidden"},
		`{"Hidden":"a"}`:                          {"Hidden"},
		`{"Embedded":{}}`:                         {"Embedded"},
		`{"whole":1.5}`:                           {"whole"},
		`{"whole":9007199254740993}`:              {"whole"},
		`{"whole":1e400}`:                         {"whole"},
		`{"whole":"1"}`:                           {"whole"},
		`{"number":-1e400}`:                       {"number"},
		`{"number":true}`:                         {"number"},
		`{"flag":0}`:                              {"flag"},
		`{"at":"2026-07-01"}`:                     {"at"},
		`{"at":""}`:                               {"at"},
		`{"at":"2026-07-01 00:00:00Z"}`:           {"at"},
		`{"at":"2026-07-01T24:00:00Z"}`:           {"at"},
		`{"at":"2026-02-30T00:00:00Z"}`:           {"at"},
		`{"at":"2026-07-01T00:00:00"}`:            {"at"},
		`{"at":"2026-07-01T0:00:00Z"}`:            {"at"},
		`{"at":"2026-07-01T00:00:00,5Z"}`:         {"at"},
		`{"at":1782864000}`:                       {"at"},
		`{"solid":null,"given":null}`:             {"solid", "given"},
		`{"maybe":5}`:                             {"maybe"},
		`{"list":{}}`:                             {"list"},
		`{"list":null}`:                           {"list"},
		`{"list":[1,"x",2.5,null]}`:               {"list[1]", "list[2]", "list[3]"},
		`{"nested":[{},{"inner":1,"outer":2},7]}`: {"nested[1].inner", "nested[1].outer", "nested[2]"},
		`{"map":{"a":1,"b.c":2}}`:                 {"map.a", `map["b.c"]`},
		`{"map":{"a":"","a":""}}`:                 {"map.a"},
		`{"raw":{"a":1,"a":2}}`:                   {"raw.a"},
		`{"a.b":1,"":2,"x y":3}`:                  {`["a.b"]`, `[""]`, `["x y"]`},
	} {
		var got sample
		names := fieldsIn(decode([]byte(text), &got, "body", maxDepth))
		slices.Sort(names)
		slices.Sort(want)
		if !slices.Equal(names, want) {
			t.Errorf("%s: wrong fields %v, want %v", text, names, want)
		}
	}
}

// A duplicate key is found however many keys are between.
func TestDecode_DuplicateKeys(t *testing.T) {
	const many = 40
	for again := range many {
		var members []string
		for i := range many {
			members = append(members, fmt.Sprintf(`"n%d":%d`, i, i))
		}
		members = append(members, fmt.Sprintf(`"n%d":0`, again))
		var got sample
		wrong := fieldsIn(decode([]byte(`{"raw":{`+strings.Join(members, ",")+`}}`), &got, "body", maxDepth))
		if want := []string{fmt.Sprintf("raw.n%d", again)}; !slices.Equal(wrong, want) {
			t.Errorf("wrong fields %v, want %v", wrong, want)
		}
	}
}

func TestDecode_InvalidJSON(t *testing.T) {
	for _, text := range []string{
		``, ` `, `{`, `{"text"}`, `{"text":}`, `{"text":"a",}`, `{,}`, `{"text" "a"}`, `{text:"a"}`, `{'text':'a'}`, `{"text":"a"}}`, `{} {}`, `{}x`, `{}//`,
		`{"text":"a` + "\n" + `b"}`, `{"text":"\x"}`, `{"text":"\u12"}`, `{"text":"\ud800"}`, `{"text":"\udc00"}`, `{"text":"\ud800\ud800"}`, `{"text":"\ud800x"}`,
		"{\"text\":\"\xff\"}", "\xef\xbb\xbf{}", "{\"text\":\"\xc0\xaf\"}", "{\"text\":\"\xed\xa0\x80\"}", "{}\x00", "{\"te\x00xt\":1}",
		`{"whole":01}`, `{"whole":+1}`, `{"whole":.5}`, `{"whole":1.}`, `{"whole":1e}`, `{"whole":0x1}`, `{"whole":NaN}`, `{"whole":-}`, `{"whole":1_0}`, `{"flag":True}`, `{"flag":tru}`,
		`{"list":[1,]}`, `{"list":[,1]}`, `{"list":[1 2]}`, `{"list":[1}`, `{"raw":{"a":}}`, `{"bogus":[}`,
	} {
		var got sample
		wrong := decode([]byte(text), &got, "body", maxDepth)
		if len(wrong) != 1 || wrong[0].Field != "body" {
			t.Errorf("%q: wrong fields %v", text, wrong)
		}
	}
}

func TestDecode_Depth(t *testing.T) {
	nest := func(n int) string { return strings.Repeat(`{"raw":`, n-1) + "{}" + strings.Repeat("}", n-1) }
	var got sample
	if wrong := decode([]byte(nest(maxDepth)), &got, "body", maxDepth); len(wrong) > 0 {
		t.Errorf("at the limit: %v", wrong)
	}
	if wrong := decode([]byte(nest(maxDepth+1)), &got, "body", maxDepth); len(wrong) != 1 || !strings.Contains(wrong[0].Message, "deep") {
		t.Errorf("beyond the limit: %v", wrong)
	}
	if wrong := decode([]byte(strings.Repeat("[", 1<<20)), &got, "body", maxDepth); len(wrong) != 1 {
		t.Errorf("far beyond the limit: %v", wrong)
	}
}

func TestDecode_ErrorLimit(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"list":[`)
	for range 5000 {
		b.WriteString(`"x",`)
	}
	b.WriteString(`1]}`)
	var got sample
	if wrong := decode([]byte(b.String()), &got, "body", maxDepth); len(wrong) != maxWrong {
		t.Errorf("%d fields are named", len(wrong))
	}
	long := strings.Repeat("é", 5000)
	wrong := decode(fmt.Appendf(nil, `{%q:1}`, long), &got, "body", maxDepth)
	if len(wrong) != 1 || len(wrong[0].Field) > 300 {
		t.Errorf("a long name is reported as %v", wrong)
	}
}

// TestDecode_Corpus runs the parsing tests of nst/JSONTestSuite.
func TestDecode_Corpus(t *testing.T) {
	for name, text := range corpus(t) {
		wrong := Check(text, "body", 600)
		switch {
		case name[0] == 'n' && len(wrong) == 0:
			t.Errorf("%s was accepted: %q", name, text)
		case name[0] == 'y' && len(wrong) > 0 && !strings.Contains(name, "duplicated_key"):
			t.Errorf("%s was refused: %v", name, wrong)
		case name[0] == 'i' && len(wrong) == 0 && !json.Valid(text):
			t.Errorf("%s was accepted and encoding/json refuses it", name)
		}
	}
}

// corpus returns the parsing tests by file name, if GRIDHOOK_TESTDATA is set.
func corpus(t testing.TB) map[string][]byte {
	t.Helper()
	dir := os.Getenv("GRIDHOOK_TESTDATA")
	if dir == "" {
		t.Skip("GRIDHOOK_TESTDATA is not set: no JSON parsing tests")
	}
	files, err := filepath.Glob(filepath.Join(dir, "corpora", "json", "test_parsing", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no parsing tests in %s: %v", dir, err)
	}
	texts := map[string][]byte{}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		texts[filepath.Base(f)] = text
	}
	return texts
}

// FuzzDecode looks for panics, and for texts that the decoder accepts and encoding/json
// refuses or reads differently.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{"text":"a","whole":1,"number":1.5,"flag":true,"at":"2026-07-01T00:00:00Z","list":[1],"nested":[{"inner":"x"}],"map":{"a":"b"},"raw":[{}]}`,
		`{"text":"\ud83d\ude00"}`, `{"a":"\ud800"}`, `[1,2`, `{"maybe":null}`, "\xff", `{"whole":1e5}`, `{"number":-0}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var got, want sample
		if wrong := decode(text, &got, "body", maxDepth); len(wrong) > 0 {
			for _, w := range wrong {
				if w.Field == "" || w.Message == "" {
					t.Fatalf("%q is refused without a reason: %v", text, wrong)
				}
			}
			return
		}
		if !json.Valid(text) {
			t.Fatalf("%q is invalid JSON and was accepted", text)
		}
		if whole := strings.ContainsAny(string(text), "eE."); whole {
			return // encoding/json does not read 1e2 as an integer
		}
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatalf("%q was accepted, and encoding/json says %v", text, err)
		}
		if len(got.Map) == 0 {
			got.Map, want.Map = nil, nil
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%q was read as\n%+v, and by encoding/json as\n%+v", text, got, want)
		}
	})
}

func TestPatterns_Zipcode(t *testing.T) {
	for zip, want := range map[string]bool{
		"60614": true, "1": true, "000012345": true, "606": true, "60614-1234": true, "60614 1234": true,
		"0000012345": false, "606141": false, "60614-123": false, "60614-12345": false, "6061a": false,
		"": false, " 60614": false, "60614\n": false, "６０６１４": false,
	} {
		if got := regexp.MustCompile(patterns["zipcode"]).MatchString(zip); got != want {
			t.Errorf("the pattern matches %q: %v", zip, got)
		}
	}
}

// TestDecode_Directional refuses characters that change the direction of text: with them
// a terminal shows a different text.
func TestDecode_Directional(t *testing.T) {
	for text, want := range map[string]bool{
		"Acme": true, "שלום": true, "Zoë 東京": true,
		"Acme\u202e": false, "\u2066Acme\u2069": false, "a\u202ab": false,
	} {
		body, err := json.Marshal(map[string]string{"text": text})
		if err != nil {
			t.Fatal(err)
		}
		var got sample
		if wrong := decode(body, &got, "body", maxDepth); (len(wrong) == 0) != want {
			t.Errorf("the text %q: %v", text, wrong)
		}
	}
}
