package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestImportGreenButton(t *testing.T) {
	f := newFake(t)
	f.on("/v1/admin/homes/h1/import_green_button", ok(`{"change":"created","months":[],"warnings":["2026-04 lacks 696 hours of readings"]}`))
	got := run(t, f, "", []string{"import", "--format", "greenbutton", "--org", "acme", "--home", "h1", writeFile(t, "usage.xml", "<feed/>")})
	if sent := f.last(); got.code != 0 || sent.body != "<feed/>" || sent.org != "acme" {
		t.Errorf("exit %d: %s, it sent %+v", got.code, got.err, sent)
	}
	if !strings.Contains(got.err, "usage.xml: warning: 2026-04 lacks 696 hours") || !strings.Contains(got.out, "1 line: 1 created, 0 updated, 0 unchanged, 0 wrong") {
		t.Errorf("it says %s%s", got.err, got.out)
	}
}

// Files named for their homes are imported together. A refused file is reported, and the
// others are imported.
func TestImportGreenButton_ManyHomes(t *testing.T) {
	f := newFake(t)
	path := func(home string) string { return "/v1/admin/homes/" + home + "/import_green_button" }
	f.on(path("h1"), ok(`{"change":"updated","months":[],"warnings":[]}`))
	f.on(path("h2"), answer{400, `{"error_code":"VALIDATION_FAILED","message":"m","field_errors":[{"field":"body","message":"the Green Button file does not decode"}]}`})
	f.on(path("h3"), answer{404, `{"error_code":"NOT_FOUND","message":"There is no home \"h3\""}`})
	f.on(path("h4"), answer{413, `{"error_code":"PAYLOAD_TOO_LARGE","message":"The body is too large"}`})
	files := []string{filepath.Join(t.TempDir(), "h5.xml")}
	for _, home := range []string{"h1", "h2", "h3", "h4"} {
		files = append(files, writeFile(t, home+".xml", "<feed/>"))
	}
	got := run(t, f, "", append([]string{"import", "--format", "greenbutton", "--org", "acme"}, files...))
	for _, want := range []string{
		"h2.xml:1: measuredLoad: body: the Green Button file does not decode", `h3.xml:1: measuredLoad: file: There is no home "h3"`,
		"h4.xml:1: measuredLoad: file: The body is too large", "h5.xml:1: measuredLoad: file: open",
	} {
		if !strings.Contains(got.err, want) {
			t.Errorf("it says\n%swant %s", got.err, want)
		}
	}
	if got.code != exitFailure || !strings.Contains(got.out, "5 lines: 0 created, 1 updated, 0 unchanged, 4 wrong") {
		t.Errorf("exit %d, %s", got.code, got.out)
	}
}

func TestImportGreenButton_Flags(t *testing.T) {
	f := newFake(t)
	for _, tt := range []struct{ args, want string }{
		{"--format greenbutton", "--org must be given"},
		{"--format greenbutton --org acme -", "--home must be given"},
		{"--home h1", "--home needs --format greenbutton"},
		{"--format greenbutton --org acme --market caiso", "need --format market"},
	} {
		if got := run(t, f, "", append([]string{"import", "usage.xml"}, strings.Fields(tt.args)...)); got.code != exitUsage || !strings.Contains(got.err, tt.want) {
			t.Errorf("%s: exit %d, %s", tt.args, got.code, got.err)
		}
	}
}

func TestHomeGet_MeasuredMonths(t *testing.T) {
	f := newFake(t)
	f.on("/v1/homes/h1/get", ok(`{"organizationId":"acme","id":"h1","measuredMonths":[{"month":"2026-06","kwh":812.4,"exportKwh":0,"watts":[1]},{"month":"2026-07","kwh":90,"missingHours":600.5,"watts":[1]}]}`))
	got := run(t, f, "", []string{"home", "get", "h1", "--org", "acme"})
	for _, want := range []string{"MEASURED MONTH", "2026-06", "812.4 kWh", "0 kWh", "600.5 h"} {
		if !strings.Contains(got.out, want) {
			t.Errorf("it shows\n%s, want %s", got.out, want)
		}
	}
}

// A file that every server refuses is reported, but not read into memory.
func TestImportGreenButton_LargeFile(t *testing.T) {
	name := writeFile(t, "h1.xml", "<feed/>")
	if err := os.Truncate(name, 1<<40); err != nil {
		t.Skip(err)
	}
	for in, file := range map[string]string{"a file": name, "a pipe": "-"} {
		f := newFake(t)
		stream := &counted{r: &wrongLines{}}
		got := runWith(t, f, "", []string{"import", "--format", "greenbutton", "--org", "acme", "--home", "h1", file}, func(g *globals) { g.in = stream })
		if got.code != exitFailure || !strings.Contains(got.err, "the file is larger than 64 MB: import it in parts") {
			t.Errorf("%s: exit %d, %s", in, got.code, got.err)
		}
		if stream.n.Load() > 2*maxMeterFile || len(f.requests) > 0 {
			t.Errorf("%s: read %d bytes and sent %d requests", in, stream.n.Load(), len(f.requests))
		}
	}
}
