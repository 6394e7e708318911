package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func imported(lines, created, failed int, errs string) answer {
	return ok(fmt.Sprintf(`{"lines":%d,"created":%d,"failed":%d,"errors":[%s]}`, lines, created, failed, errs))
}

func writeFile(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestImport_ByteOrderMark(t *testing.T) {
	f := newFake(t)
	f.on("/v1/admin/import", imported(1, 1, 0, ""))
	got := run(t, f, byteOrderMark+`{"resource":"home","id":"h1"}`, []string{"import", "--org", "acme", "-"})
	if want := `{"organizationId":"acme","resource":"home","id":"h1"}` + "\n"; got.code != 0 || f.last().body != want {
		t.Errorf("exit %d, %s; it sent %q, want %q", got.code, got.err, f.last().body, want)
	}
}

func TestImport_NDJSON(t *testing.T) {
	f := newFake(t)
	f.on("/v1/admin/import", imported(3, 2, 1, `{"line":2,"resource":"home","id":"h 2","fields":[{"field":"id","message":"is bad"},{"field":"zipcode","message":"is worse"}]}`))
	file := writeFile(t, "homes.ndjson", "{\"resource\":\"home\",\"id\":\"h1\"}\r\n\n  {\"resource\":\"home\",\"id\":\"h 2\"}\n{\"resource\":\"organization\",\"id\":\"beta\"}")
	got := run(t, f, "", []string{"import", "--org", "acme", file})
	sent := "{\"organizationId\":\"acme\",\"resource\":\"home\",\"id\":\"h1\"}\n{\"organizationId\":\"acme\",\"resource\":\"home\",\"id\":\"h 2\"}\n{\"resource\":\"organization\",\"id\":\"beta\"}\n"
	if r := f.last(); r.body != sent || r.org != "" {
		t.Errorf("it sent for %q\n%swant\n%s", r.org, r.body, sent)
	}
	says := file + ":3: home h 2: id: is bad\n" + file + ":3: home h 2: zipcode: is worse\ngridhook: some lines were not imported: 1 of 3\n"
	if got.code != exitFailure || got.err != says || got.out != "3 lines: 2 created, 0 updated, 0 unchanged, 1 wrong\n" {
		t.Errorf("exit %d\n%s%swant\n%s", got.code, got.out, got.err, says)
	}
}

func TestImport_CSV(t *testing.T) {
	f := newFake(t)
	f.on("/v1/admin/import", imported(2, 1, 1, `{"line":2,"resource":"home","id":"h5","fields":[{"field":"zipcode","message":"is bad"}]}`))
	file := writeFile(t, "homes.CSV", byteOrderMark+`"id",name,enabled,zipcode,organizationId`+"\n"+
		"h1,\"Blue, \"\"old\"\"\nhouse\",TRUE,60614,\n"+ // two lines of the file
		"h2,x,perhaps,60614,\n"+
		"h3,x\n"+
		"h4,\xff,true,60614,\n"+
		"h5,,,606x,beta\n")
	got := run(t, f, "", []string{"import", "--org", "acme", file})
	sent := `{"enabled":true,"id":"h1","name":"Blue, \"old\"\nhouse","organizationId":"acme","resource":"home","zipcode":"60614"}` + "\n" +
		`{"id":"h5","organizationId":"beta","resource":"home","zipcode":"606x"}` + "\n"
	if r := f.last(); r.body != sent {
		t.Errorf("it sent\n%swant\n%s", r.body, sent)
	}
	says := file + ":4: home h2: enabled: must be true or false\n" +
		file + ":5: line: must have 5 cells, like the header row\n" +
		file + ":6: home h4: name: is not valid UTF-8\n" +
		file + ":7: home h5: zipcode: is bad\n" +
		"gridhook: some lines were not imported: 4 of 5\n"
	if got.code != exitFailure || got.err != says || got.out != "5 lines: 1 created, 0 updated, 0 unchanged, 4 wrong\n" {
		t.Errorf("exit %d\n%s%swant\n%s", got.code, got.out, got.err, says)
	}
}

// Homes that name an unknown plan or zipcode are imported with a warning for each kind.
// With --strict they are skipped.
func TestImport_UnknownPlansAndZipcodes(t *testing.T) {
	lines := `{"resource":"ratePlan","id":"new","tariff":{}}
{"resource":"home","id":"h1","ratePlanId":"shared","zipcode":"60614"}
{"resource":"home","id":"h2","ratePlanId":"new"}
{"resource":"home","id":"h3","ratePlanId":"private"}
{"resource":"home","id":"h4","ratePlanId":"private"}
{"resource":"home","id":"h5","zipcode":"9411"}
`
	serve := func() *fake {
		f := newFake(t)
		plan := func(id string) answer { return ok(data(strings.Replace(planJSON, `"flat"`, `"`+id+`"`, 1))) }
		f.on("/v1/admin/plans/list", plan("shared"), ok(data()), plan("private")) // of all, of beta, of acme
		f.on("/v1/admin/organizations/list", ok(data(`{"id":"acme","name":"A"}`)))
		f.on("/v1/admin/import", imported(6, 6, 0, ""))
		return f
	}
	got := run(t, serve(), lines, []string{"import", "--org", "beta", "-"})
	want := "warning: homes of beta name a plan that does not exist for them: private, private to acme (2)\nwarning: homes have an unknown zipcode: 9411 (1)\n"
	if got.code != 0 || got.err != want {
		t.Errorf("exit %d, it says\n%swant\n%s", got.code, got.err, want)
	}
	refused := serve()
	refused.on("/v1/admin/import", imported(6, 4, 2, `{"line":4,"resource":"home","id":"h3","fields":[{"field":"name","message":"is bad"}]},{"line":6,"resource":"home","id":"h5","fields":[{"field":"name","message":"is bad"}]}`))
	got = run(t, refused, lines, []string{"import", "--org", "beta", "-"})
	want = "warning: homes of beta name a plan that does not exist for them: private, private to acme (1)\n"
	if got.code != exitFailure || !strings.Contains(got.err, want) || strings.Contains(got.err, "unknown zipcode") {
		t.Errorf("of stored homes it says\n%swant\n%s", got.err, want)
	}
	f := serve()
	got = run(t, f, lines, []string{"import", "--org", "beta", "--strict", "-"})
	want = "-:4: home h3: ratePlanId: plan \"private\" does not exist for this home\n"
	if got.code != exitFailure || !strings.HasPrefix(got.err, want) || !strings.Contains(got.err, "-:6: home h5: zipcode: \"9411\" is unknown\n") {
		t.Errorf("exit %d, it says\n%swant\n%s", got.code, got.err, want)
	}
	if sent := f.last().body; strings.Contains(sent, "h3") || strings.Contains(sent, "h5") || !strings.Contains(sent, "h2") {
		t.Errorf("it sent\n%s", sent)
	}
}

// TestImport_PlansOfFile checks homes of an organization that the file creates, and plans of
// the catalog, which need no identifier.
func TestImport_PlansOfFile(t *testing.T) {
	f := newFake(t)
	f.on("/v1/admin/plans/list", ok(data()), answer{400, `{"error_code":"VALIDATION_FAILED","message":"No."}`}) // shared, of new
	f.on("/v1/admin/organizations/list", ok(data()))
	f.on("/v1/admin/import", imported(4, 4, 0, ""))
	got := run(t, f, `{"resource":"organization","id":"new","name":"N"}
{"resource":"ratePlan","catalogId":"pge-e-elec"}
{"resource":"home","organizationId":"new","id":"h1","ratePlanId":"pge-e-elec"}
{"resource":"home","organizationId":"new","id":"h2","ratePlanId":"nowhere"}
`, []string{"import", "-"})
	want := "warning: homes of new name a plan that does not exist for them: nowhere (1)\n"
	if got.code != 0 || got.err != want {
		t.Errorf("exit %d, it says\n%swant\n%s", got.code, got.err, want)
	}
}

func TestImport_CSVHeader(t *testing.T) {
	for content, says := range map[string]string{
		"":                     "empty file: the first row must name the columns",
		"id,Name,id,enabled\n": `invalid columns in the header row: "Name", "id"; each column must be a different field of a home: organizationId, id,`,
		"id,\"\n":              "read the header row: ",
		"id,name\nh1,Lake\n":   "no column names the organization of the homes: name it with --org, or add the column organizationId",
	} {
		got := run(t, newFake(t), content, []string{"import", "--format", "csv", "-"})
		if got.code != exitFailure || !strings.HasPrefix(got.err, "gridhook: -: "+says) {
			t.Errorf("%q: exit %d, %s", content, got.code, got.err)
		}
	}
}

func TestImport_JSON(t *testing.T) {
	f := newFake(t)
	f.on("/v1/admin/import", ok(`{"lines":2,"created":1,"updated":0,"unchanged":0,"failed":1,"errors":[{"line":1,"resource":"home","id":"h","fields":[{"field":"id","message":"is bad"}]}],
		"secrets":[{"line":2,"id":"ep_1","secret":"whsec_1"},{"line":2,"id":"key_1","secret":"ghk_key_1_ab"}]}`))
	got := run(t, f, "\n{}\n{}\n", []string{"import", "--json", "-"})
	want := `{"lines":2,"created":1,"updated":0,"unchanged":0,"failed":1,
		"errors":[{"file":"-","line":2,"resource":"home","id":"h","fields":[{"field":"id","message":"is bad"}]}],
		"secrets":[{"line":3,"id":"ep_1","secret":"whsec_1"},{"line":3,"id":"key_1","secret":"ghk_key_1_ab"}]}`
	if got.code != exitFailure || !sameJSON(t, got.out, want) {
		t.Errorf("exit %d\n%s", got.code, got.out)
	}
	got = run(t, f, "{}\n{}\n", []string{"import", "-"})
	if !strings.HasPrefix(got.out, "endpoint ep_1: secret whsec_1; store it now\nkey key_1: secret ghk_key_1_ab; store it now\n") {
		t.Errorf("it shows %s", got.out)
	}
}

func TestImport_RetryAfter(t *testing.T) {
	f := newFake(t)
	busy := answer{503, `{"error_code":"UNAVAILABLE","message":"Not now.","retry_after_seconds":0}`}
	f.on("/v1/admin/import", busy, busy, imported(1, 1, 0, ""))
	if got := run(t, f, "{}\n", []string{"import", "-"}); got.code != 0 || len(f.requests) != 3 {
		t.Errorf("exit %d after %d requests: %s", got.code, len(f.requests), got.err)
	}
	f = newFake(t)
	f.on("/v1/admin/import", busy)
	got := run(t, f, "\n{}\n", []string{"import", "-"})
	if want := "-: stopped before line 2; a repeated import does not change stored lines\ngridhook: Not now\n"; got.code != exitFailure || got.err != want || len(f.requests) != sendTries {
		t.Errorf("exit %d after %d requests: %s", got.code, len(f.requests), got.err)
	}
}

// TestImport_Stopped checks that an import that stops shows what it stored, and the secrets
// above all: no later import shows them.
func TestImport_Stopped(t *testing.T) {
	f := newFake(t)
	f.on("/v1/admin/import", ok(`{"lines":1,"created":1,"errors":[],"secrets":[{"line":1,"id":"ep_1","secret":"whsec_1"}]}`))
	missing := filepath.Join(t.TempDir(), "missing")
	got := run(t, f, "{}\n", []string{"import", "-", missing})
	want := "endpoint ep_1: secret whsec_1; store it now\n1 line: 1 created, 0 updated, 0 unchanged, 0 wrong\n"
	if got.code != exitFailure || got.out != want || !strings.Contains(got.err, "no such file") {
		t.Errorf("exit %d, %s\nit shows\n%swant\n%s", got.code, got.err, got.out, want)
	}
	got = run(t, f, "{}\n", []string{"import", "--json", "-", missing})
	if got.code != exitFailure || !strings.Contains(got.out, "whsec_1") {
		t.Errorf("as JSON: exit %d, %s", got.code, got.out)
	}
}

// TestImport_ManyWrongLines checks that the table output has the first wrong lines and the
// number of the others, and the JSON output all of them.
func TestImport_ManyWrongLines(t *testing.T) {
	var errs []string
	for i := range 50 {
		errs = append(errs, fmt.Sprintf(`{"line":%d,"resource":"home","fields":[{"field":"organizationId","message":"there is none"}]}`, i+1))
	}
	f := newFake(t)
	f.on("/v1/admin/import", imported(50, 0, 50, strings.Join(errs, ",")))
	lines := strings.Repeat("{}\n", 50)
	got := run(t, f, lines, []string{"import", "-"})
	if n := strings.Count(got.err, "there is none"); n != 20 || !strings.Contains(got.err, "\nand 30 more wrong fields; --json lists all of them\n") {
		t.Errorf("it shows %d of them:\n%s", n, got.err)
	}
	if got := run(t, f, lines, []string{"import", "--json", "-"}); strings.Count(got.out, "there is none") != 50 {
		t.Errorf("as JSON:\n%s", got.out)
	}
}

func TestImport_NoFile(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	if got := run(t, newFake(t), "", []string{"import", missing}); got.code != exitFailure || got.err != "gridhook: open "+missing+": no such file or directory\n" {
		t.Errorf("exit %d: %s", got.code, got.err)
	}
}

// collect returns a chunker that records its chunks.
func collect(chunks *[]chunk) *chunker {
	return newChunker(func(c *chunk) error {
		kept := chunk{numbers: c.numbers}
		kept.body.Write(c.body.Bytes())
		*chunks = append(*chunks, kept)
		return nil
	})
}

func TestImport_ChunkSize(t *testing.T) {
	var input strings.Builder
	line := `{"name":"` + strings.Repeat("x", 1<<20) + `"}`
	for range 9 {
		input.WriteString(line + "\n\n")
	}
	input.WriteString(strings.Repeat("{}\n", maxChunkLines+1))
	var chunks []chunk
	if err := readNDJSON(strings.NewReader(input.String()), "", collect(&chunks), nil); err != nil {
		t.Fatal(err)
	}
	lines := 0
	for i, c := range chunks {
		if c.body.Len() > maxChunk || len(c.numbers) > maxChunkLines || bytes.Count(c.body.Bytes(), []byte("\n")) != len(c.numbers) {
			t.Errorf("chunk %d has %d bytes and %d lines", i, c.body.Len(), len(c.numbers))
		}
		lines += len(c.numbers)
	}
	if lines != 9+maxChunkLines+1 {
		t.Errorf("%d lines were sent", lines)
	}
	if got := chunks[1].number(1); got != 7 { // three lines in a chunk, each with a blank one after it
		t.Errorf("the second chunk begins with line %d, want 7", got)
	}
	if got := chunks[1].number(99); got != 99 {
		t.Errorf("a rejected line has the number %d, want the server's number", got)
	}
}

func TestImport_LongLines(t *testing.T) {
	var chunks []chunk
	var left []fileError
	input := "{}\n" + strings.Repeat("x", maxLine+1) + "\n{}\n"
	err := readNDJSON(strings.NewReader(input), "", collect(&chunks), func(e fileError) { left = append(left, e) })
	if err != nil || len(left) != 1 || left[0].Line != 2 || len(chunks) != 1 || fmt.Sprint(chunks[0].numbers) != "[1 3]" {
		t.Errorf("skipped %+v, sent %d chunks, %v", left, len(chunks), err)
	}
}

// TestImport_EndlessLine checks that a line that is too long does not stay in memory.
func TestImport_EndlessLine(t *testing.T) {
	const length = 1 << 30
	var before, after runtime.MemStats
	var left []fileError
	runtime.ReadMemStats(&before)
	err := readNDJSON(io.LimitReader(endless{}, length), "", newChunker(nil), func(e fileError) { left = append(left, e) })
	runtime.ReadMemStats(&after)
	if allocated := after.TotalAlloc - before.TotalAlloc; err != nil || len(left) != 1 || allocated > length/4 {
		t.Errorf("allocated %d bytes, skipped %+v, %v", allocated, left, err)
	}
}

// endless is a line without an end.
type endless struct{}

func (endless) Read(p []byte) (int, error) { p[0] = 'x'; return len(p), nil }

func TestImport_SendFailure(t *testing.T) {
	broken := errors.New("broken")
	err := readNDJSON(strings.NewReader("{}\n"), "", newChunker(func(*chunk) error { return broken }), nil)
	if !errors.Is(err, broken) {
		t.Errorf("the error is %v", err)
	}
}

func TestImport_WithOrganization(t *testing.T) {
	tests := []struct{ line, want string }{
		{`{"resource":"home","id":"h"}`, `{"organizationId":"acme","resource":"home","id":"h"}`},
		{`{ "resource":"solar"}`, `{"organizationId":"acme", "resource":"solar"}`},
		{`{"resource":"home","organizationId":"beta"}`, `{"resource":"home","organizationId":"beta"}`},
		{`{"resource":"home","organizationId":""}`, `{"resource":"home","organizationId":""}`},
		{`{"resource":"organization","id":"beta"}`, `{"resource":"organization","id":"beta"}`},
		{`{"resource":"ratePlan","id":"p"}`, `{"resource":"ratePlan","id":"p"}`},
		{`{}`, `{}`},
		{`[]`, `[]`},
		{`{"resource":"home"`, `{"resource":"home"`},
		{`{"resource":7}`, `{"resource":7}`},
	}
	for _, test := range tests {
		if got := string(withOrganization([]byte(test.line), "acme")); got != test.want {
			t.Errorf("%s became %s, want %s", test.line, got, test.want)
		}
	}
}

// A home's row gives JSON with the values of its cells, whatever they contain.
func TestReadCSV_Cells(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.String().Draw(t, "name")
		line, wrong := homeLine([]string{"id", "name"}, []string{"h", name}, "")
		var got struct{ Resource, ID, Name string }
		if err := json.Unmarshal(line, &got); err != nil || len(wrong) > 0 {
			t.Fatalf("%q became %s: %v, %v", name, line, err, wrong)
		}
		if got.Resource != "home" || got.ID != "h" || got.Name != strings.TrimSpace(name) {
			t.Fatalf("%q became %s", name, line)
		}
	})
}

// Reading ends for any file, and each line is sent once or reported once, under its own
// number.
func FuzzReadNDJSON(f *testing.F) {
	f.Add([]byte("{\"resource\":\"home\"}\n\n[]\r\n{"))
	f.Fuzz(func(t *testing.T, input []byte) {
		var chunks []chunk
		if err := readNDJSON(bytes.NewReader(input), "acme", collect(&chunks), func(e fileError) { t.Errorf("left out %+v", e) }); err != nil {
			t.Fatal(err)
		}
		var sent []int
		for _, c := range chunks {
			sent = append(sent, c.numbers...)
		}
		var want []int
		for i, line := range bytes.Split(bytes.TrimPrefix(input, []byte(byteOrderMark)), []byte("\n")) {
			if len(bytes.TrimSpace(line)) > 0 {
				want = append(want, i+1)
			}
		}
		if fmt.Sprint(sent) != fmt.Sprint(want) {
			t.Errorf("lines %v were sent, want %v", sent, want)
		}
	})
}
