package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// greenButton is a file of a meter with 1 kWh in each hour from a day to another, in
// Pacific time.
func greenButton(t *testing.T, name, from, to string) string {
	t.Helper()
	zone, err := time.LoadLocation("America/Los_Angeles")
	if err != nil {
		t.Fatal(err)
	}
	start, _ := time.ParseInLocation(time.DateOnly, from, zone)
	end, _ := time.ParseInLocation(time.DateOnly, to, zone)
	var s strings.Builder
	s.WriteString(`<feed xmlns="http://www.w3.org/2005/Atom"><entry><content><LocalTimeParameters><dstEndRule>B40E2000</dstEndRule><dstOffset>3600</dstOffset>
<dstStartRule>360E2000</dstStartRule><tzOffset>-28800</tzOffset></LocalTimeParameters></content></entry>
<entry><link rel="self" href="/ReadingType/1"/><content><ReadingType><flowDirection>1</flowDirection><uom>72</uom></ReadingType></content></entry>
<entry><link rel="up" href="/MeterReading/1/IntervalBlock"/><content><IntervalBlock>`)
	for at := start; at.Before(end); at = at.Add(time.Hour) {
		fmt.Fprintf(&s, `<IntervalReading><timePeriod><duration>3600</duration><start>%d</start></timePeriod><value>1000</value></IntervalReading>`, at.Unix())
	}
	return writeFile(t, name, s.String()+`</IntervalBlock></content></entry></feed>`)
}

const kilowatt = "1000,1000,1000,1000,1000,1000,1000,1000,1000,1000,1000,1000,1000,1000,1000,1000,1000,1000,1000,1000,1000,1000,1000,1000"

func TestImportGreenButton(t *testing.T) {
	f := newFake(t)
	f.on("/v1/admin/homes/h1/get", ok(`{"organizationId":"acme","id":"h1","timezone":"America/Los_Angeles"}`))
	f.on("/v1/admin/import", imported(1, 1, 0, ""))
	file := greenButton(t, "usage.xml", "2026-03-01", "2026-04-02")
	got := run(t, f, "", []string{"import", "--format", "greenbutton", "--org", "acme", "--home", "h1", file})
	want := `{"resource":"measuredLoad","organizationId":"acme","homeId":"h1","months":[` +
		`{"month":"2026-03","kwh":743,"watts":[` + kilowatt + `]},{"month":"2026-04","kwh":24,"missingHours":696,"watts":[` + kilowatt + `]}]}`
	if got.code != 0 || f.last().body != want {
		t.Errorf("exit %d: %s, it sent\n%s\nwant\n%s", got.code, got.err, f.last().body, want)
	}
	if !strings.Contains(got.err, "2026-04 lacks 696 hours of readings; a month that lacks more than 72 hours is not used") {
		t.Errorf("it says %s", got.err)
	}
}

// Files named for their homes are imported together. A file that cannot be read is
// reported, and the others are imported.
func TestImportGreenButton_ManyHomes(t *testing.T) {
	f := newFake(t)
	f.on("/v1/admin/homes/h1/get", ok(`{"organizationId":"acme","id":"h1","timezone":"America/New_York"}`))
	f.on("/v1/admin/homes/h2/get", ok(`{"organizationId":"acme","id":"h2","timezone":""}`))
	f.on("/v1/admin/homes/h3/get", answer{404, `{"error_code":"NOT_FOUND","message":"home not found"}`})
	f.on("/v1/admin/import", imported(1, 1, 0, ""))
	files := []string{
		greenButton(t, "h1.xml", "2026-03-01", "2026-04-01"), greenButton(t, "h2.xml", "2026-03-01", "2026-04-01"),
		greenButton(t, "h3.xml", "2026-03-01", "2026-04-01"), writeFile(t, "h4.xml", "<feed>"), filepath.Join(t.TempDir(), "h5.xml"),
	}
	got := run(t, f, "", append([]string{"import", "--format", "greenbutton", "--org", "acme"}, files...))
	for _, want := range []string{
		"h1.xml: warning: the file has the local time UTC-08:00", `h2.xml:1: measuredLoad: file: home "h2" has no time zone`,
		`h3.xml:1: measuredLoad: file: home "h3" not found in organization "acme"`, "h4.xml:1: measuredLoad: file: the Green Button file does not decode", "h5.xml",
	} {
		if !strings.Contains(got.err, want) {
			t.Errorf("it says\n%swant %s", got.err, want)
		}
	}
	if got.code != exitFailure || !strings.Contains(got.out, "5 lines: 1 created, 0 updated, 0 unchanged, 4 wrong") {
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
