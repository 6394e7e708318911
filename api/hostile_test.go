package api_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/gridhook/gridhook/api"
	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/storage"
)

// corpora is the folder of hostile inputs, if GRIDHOOK_TESTDATA is set.
func corpora(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("GRIDHOOK_TESTDATA")
	if dir == "" {
		t.Skip("GRIDHOOK_TESTDATA is not set: no corpora of hostile inputs")
	}
	return filepath.Join(dir, "corpora")
}

// TestHostile_InvalidJSON sends the parsing tests of nst/JSONTestSuite to every
// operation. Invalid JSON is refused, and nothing is a server error.
func TestHostile_InvalidJSON(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(corpora(t), "json", "test_parsing", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d texts, %v", len(files), err)
	}
	s := newStage(t)
	refused := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		must(t, err)
		name := filepath.Base(file)
		for _, r := range api.Routes() {
			if r.Body >= rest.BodyLines || len(text) == 0 && r.Body != rest.BodyRequired {
				continue // a bad line is reported, and an empty text is an empty body
			}
			req := s.request(r)
			req.body = string(text)
			a := s.send(req)
			if a.status >= 500 || name[0] == 'n' && (a.status != http.StatusBadRequest || a.code(t) != rest.CodeValidationFailed || len(a.fields(t)) == 0) {
				t.Errorf("%s to %s: %d %s", name, r.Name, a.status, a.body)
			}
			if name[0] == 'n' {
				refused++
			}
		}
	}
	t.Logf("%d invalid texts were refused by %d operations", refused, len(api.Routes())-1)
}

// TestHostile_Strings puts each string of the list into the texts of a quarter of the
// operations' examples, into identifiers in paths, and into a line of an import. Most
// requests wait for the disk.
func TestHostile_Strings(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(corpora(t), "naughty_strings.json"))
	must(t, err)
	var naughty []string
	must(t, json.Unmarshal(text, &naughty))
	s := newStage(t)
	sent, taken := 0, 0
	note := func(what, text string, a answer) {
		sent++
		if a.status == http.StatusOK {
			taken++
		} else if a.status >= 500 || a.code(t) == "" {
			t.Errorf("%s with %q: %d %s", what, text, a.status, a.body)
		}
	}
	examples := api.RequestExamples()
	for n, r := range api.Routes() {
		for i, text := range naughty {
			if (i+n)%4 != 0 {
				continue
			}
			if r.Body == rest.BodyLines {
				for line := range strings.Lines(examples[r.Name]) {
					note(r.Name, text, s.importLines(replaceOne(t, line, text, i/4)))
				}
				continue
			}
			if examples[r.Name] != "" && takesJSON(r) {
				req := s.request(r)
				req.body = replaceOne(t, examples[r.Name], text, i/4)
				note(r.Name, text, s.send(req))
			}
			if identified(r) && i%10 == len(r.Name)%10 {
				req := s.request(r)
				req.url = strings.Replace(req.url, "/none", "/"+url.PathEscape(text), 1)
				note(r.Name, text, s.send(req))
			}
		}
	}
	t.Logf("%d requests, %d of them accepted", sent, taken)
}

// replaceOne replaces one of an object's texts, the next one at each call.
func replaceOne(t *testing.T, object, text string, turn int) string {
	t.Helper()
	var o any
	must(t, json.Unmarshal([]byte(object), &o))
	var places []func()
	var look func(v any)
	look = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(v)) {
				if _, ok := v[name].(string); ok && name != "resource" {
					places = append(places, func() { v[name] = text })
				}
				look(v[name])
			}
		case []any:
			for i := range v {
				if _, ok := v[i].(string); ok {
					places = append(places, func() { v[i] = text })
				}
				look(v[i])
			}
		}
	}
	look(o)
	if len(places) > 0 {
		places[turn%len(places)]()
	}
	replaced, err := json.Marshal(o)
	must(t, err)
	return string(replaced)
}

// mark is only in the identifiers of these tests.
const mark = "Zq9x"

// badIDs returns invalid identifiers: the ones listed here, and those of the corpus if
// GRIDHOOK_TESTDATA is set.
func badIDs(t *testing.T) []string {
	t.Helper()
	ids := []string{".", "*", ">", "a.b", "a b", " ", "..", "../..", "%2e", "%2e%2e", "\x00", "a\x00b", "a\r\nPUB x 1\r\n", "\u202e", "é", "$SYS", strings.Repeat("a", 300), "\xff"}
	f, err := os.Open(filepath.Join(os.Getenv("GRIDHOOK_TESTDATA"), "corpora", "ids.jsonl"))
	if os.Getenv("GRIDHOOK_TESTDATA") == "" {
		return ids
	}
	must(t, err)
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var row struct{ ID, Expect string }
		must(t, json.Unmarshal(lines.Bytes(), &row))
		if row.Expect == "reject" && row.ID != "" {
			ids = append(ids, row.ID)
		}
	}
	return ids
}

// TestHostile_Identifiers sends invalid identifiers with a mark to every place that takes
// one. All are refused, and the mark is in no subject, no key of the replica and no line
// of the log.
func TestHostile_Identifiers(t *testing.T) {
	if testing.Short() {
		t.Skip("thousands of requests one after another: run it without -short")
	}
	s := newStage(t)
	examples := api.RequestExamples()
	sent := 0
	refused := func(r rest.Route, field, id string, a answer) {
		t.Helper()
		sent++
		if a.status != http.StatusBadRequest || a.code(t) != rest.CodeValidationFailed || !slices.Contains(a.fields(t), field) {
			t.Errorf("%s with %s = %q: %d %s", r.Name, field, id, a.status, a.body)
		}
	}
	for _, bad := range badIDs(t) {
		id := mark + bad + mark
		for _, r := range api.Routes() {
			if identified(r) {
				req := s.request(r)
				req.url = strings.Replace(req.url, "/none", "/"+url.PathEscape(id), 1)
				refused(r, "id", id, s.send(req))
			}
			if r.Body == rest.BodyLines {
				sent += s.badLines(examples[r.Name], id)
				continue
			}
			if !takesJSON(r) {
				continue
			}
			for _, field := range idFields(t, examples[r.Name]) {
				req := s.request(r)
				req.body = withField(t, examples[r.Name], field, id)
				refused(r, field, id, s.send(req))
			}
		}
	}
	s.public.Close() // waits until all is logged
	s.admin.Close()
	noTrace(t, "the log", s.log.String())
	for line := range strings.Lines(s.log.String()) {
		if !json.Valid([]byte(line)) {
			t.Errorf("a line of the log is torn: %q", line)
		}
	}
	subjects := s.subjects()
	keys := s.replicaKeys()
	if len(subjects) < 10 || len(keys) < 5 {
		t.Fatalf("%d subjects and %d keys", len(subjects), len(keys))
	}
	t.Logf("%d identifiers refused; %d subjects and %d keys checked", sent, len(subjects), len(keys))
}

func noTrace(t *testing.T, where, text string) {
	t.Helper()
	if i := strings.Index(text, mark); i >= 0 {
		t.Errorf("%s has %q", where, text[max(0, i-100):min(len(text), i+100)])
	}
}

// idFields are the fields of an example that hold an identifier.
func idFields(t *testing.T, example string) (fields []string) {
	t.Helper()
	o := map[string]any{}
	if example != "" {
		must(t, json.Unmarshal([]byte(example), &o))
	}
	for field, v := range o {
		if _, text := v.(string); text && (field == "id" || strings.HasSuffix(field, "Id")) {
			fields = append(fields, field)
		}
	}
	return fields
}

func withField(t *testing.T, example, field, text string) string {
	t.Helper()
	var o map[string]any
	must(t, json.Unmarshal([]byte(example), &o))
	o[field] = text
	body, err := json.Marshal(o)
	must(t, err)
	return string(body)
}

// badLines imports each line of an example with each of its identifiers invalid.
func (s *stage) badLines(example, id string) (sent int) {
	s.t.Helper()
	for line := range strings.Lines(example) {
		for _, field := range idFields(s.t, line) {
			sent++
			var answer wire.Imported
			a := s.importLines(withField(s.t, line, field, id))
			must(s.t, json.Unmarshal(a.body, &answer))
			named := answer.Failed == 1 && slices.ContainsFunc(answer.Errors[0].Fields, func(f storage.FieldError) bool { return f.Field == field })
			if !named {
				s.t.Errorf("a line with %s = %q: %d %s", field, id, a.status, a.body)
			}
		}
	}
	return sent
}

// subjectToken matches a valid token of a subject.
var subjectToken = regexp.MustCompile(`^[A-Za-z0-9_=-]{1,128}$`)

// subjects returns the tokens of the subjects of every stream.
func (s *stage) subjects() (all []string) {
	s.t.Helper()
	conn, err := nats.Connect("", s.nats.Option())
	must(s.t, err)
	defer conn.Close()
	js, err := jetstream.New(conn)
	must(s.t, err)
	names := js.StreamNames(s.t.Context())
	for name := range names.Name() {
		stream, err := js.Stream(s.t.Context(), name)
		must(s.t, err)
		info, err := stream.Info(s.t.Context(), jetstream.WithSubjectFilter(">"))
		must(s.t, err)
		for subject := range info.State.Subjects {
			noTrace(s.t, "a subject", subject)
			for token := range strings.SplitSeq(subject, ".") {
				if !subjectToken.MatchString(token) {
					s.t.Errorf("the subject %q has the token %q", subject, token)
				}
			}
			all = append(all, subject)
		}
	}
	must(s.t, names.Err())
	return all
}

// replicaKeys returns the references of all stored records.
func (s *stage) replicaKeys() (all []string) {
	s.t.Helper()
	must(s.t, s.store.View(func(v storage.View) error {
		for _, kind := range storage.Kinds() {
			for _, org := range []string{"acme", "partner", "north", storage.Shared} {
				err := v.Scan(kind, org, "", func(r storage.Record) bool {
					noTrace(s.t, "a key", r.Ref.String())
					noTrace(s.t, fmt.Sprintf("what is stored as %s", r.Ref), string(r.Value))
					if !r.Ref.Valid() {
						s.t.Errorf("there is a key %q", r.Ref)
					}
					all = append(all, r.Ref.String())
					return true
				})
				if err != nil {
					return err
				}
			}
		}
		return nil
	}))
	return all
}
