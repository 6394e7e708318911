package api_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/api/rest"
)

const meterPath = "/v1/admin/homes/home1/import_green_button"

// meterFile is a Green Button file with 0.25 kWh in each quarter hour of some days, in the
// time zone of Chicago.
func meterFile(t *testing.T, from, to string) string {
	t.Helper()
	zone, err := time.LoadLocation("America/Chicago")
	must(t, err)
	start, err := time.ParseInLocation(time.DateOnly, from, zone)
	must(t, err)
	end, err := time.ParseInLocation(time.DateOnly, to, zone)
	must(t, err)
	var s strings.Builder
	s.WriteString(`<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom">
<entry><link rel="self" href="/ReadingType/1"/><content><ReadingType><flowDirection>1</flowDirection><uom>72</uom></ReadingType></content></entry>
<entry><link rel="up" href="/MeterReading/1/IntervalBlock"/><content><IntervalBlock>`)
	for at := start; at.Before(end); at = at.Add(15 * time.Minute) {
		fmt.Fprintf(&s, "<IntervalReading><timePeriod><duration>900</duration><start>%d</start></timePeriod><value>250</value></IntervalReading>\n", at.Unix())
	}
	return s.String() + "</IntervalBlock></content></entry></feed>"
}

func compressed(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write([]byte(text))
	must(t, err)
	must(t, w.Close())
	return b.String()
}

func TestGreenButton_Import(t *testing.T) {
	e := newEnv(t, rest.Options{})
	e.billHome()
	file := meterFile(t, "2026-03-01", "2026-04-02") // the clock changes on 8 March
	packed := http.Header{"Content-Encoding": {"gzip"}}
	for _, tt := range []struct {
		name, body string
		header     http.Header
		want       string
	}{
		{"new", file, nil, "created"},
		{"again", file, nil, "unchanged"},
		{"compressed", compressed(t, file), packed, "unchanged"},
		{"corrected", strings.ReplaceAll(file, ">250<", ">500<"), nil, "updated"},
		{"fewer hours", meterFile(t, "2026-03-01", "2026-03-20"), nil, "unchanged"},
	} {
		got := e.importMeter("acme", meterPath, tt.body, tt.header).ok(t)
		if got["change"] != tt.want {
			t.Errorf("%s: %v, want %s", tt.name, got, tt.want)
		}
		if tt.name != "new" {
			continue
		}
		march := got["months"].([]any)[0].(map[string]any)
		if march["month"] != "2026-03" || march["kwh"] != 743.0 || march["missingHours"] != nil || march["watts"].([]any)[2] != 1000.0 {
			t.Errorf("March is %v", march)
		}
		if want := "[2026-04 lacks 696 hours of readings; a month that lacks more than 72 hours is not used]"; fmt.Sprint(got["warnings"]) != want {
			t.Errorf("the warnings are %v, want %s", got["warnings"], want)
		}
	}
	home := e.operate("/v1/admin/homes/home1/get", `{"organizationId":"acme"}`).ok(t)
	if months := home["measuredMonths"].([]any); len(months) != 2 || months[0].(map[string]any)["kwh"] != 1486.0 {
		t.Errorf("the home has %v", months)
	}
	if entries := fmt.Sprint(e.operate("/v1/admin/audit/list", `{}`).ok(t)["data"]); strings.Count(entries, "operation:importGreenButton") != 5 || !strings.Contains(entries, "objectId:home1") {
		t.Errorf("the audit log is %s", entries)
	}
}

func TestGreenButton_Refuses(t *testing.T) {
	e := newEnv(t, rest.Options{MaxXMLBody: 1 << 20})
	e.billHome()
	e.load(`{"resource":"home","organizationId":"acme","id":"nowhere"}`)
	good := meterFile(t, "2026-03-01", "2026-03-03")
	packed := http.Header{"Content-Encoding": {"gzip"}}
	for _, tt := range []struct {
		name, path, body string
		header           http.Header
		status           int
		want             string
	}{
		{"no file", meterPath, "", nil, 400, "no readings of energy"},
		{"JSON", meterPath, `{"months":[]}`, nil, 400, "no readings of energy"},
		{"another document", meterPath, "<html><body><p>Log in</p></body></html>", nil, 400, "no readings of energy"},
		{"a page", meterPath, "<!DOCTYPE html><html><p></html>", nil, 400, "document type"},
		{"entities", meterPath, `<!DOCTYPE feed [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><feed>&b;</feed>`, nil, 400, "document type"},
		{"cut off", meterPath, good[:len(good)/2], nil, 400, "does not decode"},
		{"deep", meterPath, strings.Repeat("<a>", 10_000), nil, 400, "nested deeper than 32"},
		{"too large", meterPath, good + strings.Repeat(" ", 1<<20), nil, 413, "1048576"},
		{"a bomb", meterPath, compressed(t, strings.Repeat("<!-- -->", 1<<21)), packed, 413, "1048576"},
		{"half a gzip", meterPath, compressed(t, good)[:300], packed, 400, "ended before it was complete"},
		{"in the future", meterPath, meterFile(t, "2027-03-01", "2027-03-03"), nil, 400, "must not be after the present month"},
		{"no such home", "/v1/admin/homes/none/import_green_button", good, nil, 404, `no home \"none\"`},
		{"no time zone", "/v1/admin/homes/nowhere/import_green_button", good, nil, 400, `of home \"nowhere\" is missing`},
		{"no such organization", meterPath, good, http.Header{rest.OrganizationHeader: {"none"}}, 404, "organization"},
	} {
		got := e.importMeter("acme", tt.path, tt.body, tt.header)
		if got.status != tt.status || !strings.Contains(string(got.body), tt.want) {
			t.Errorf("%s: %d %s, want %d with %q", tt.name, got.status, got.body, tt.status, tt.want)
		}
	}
	if home := e.operate("/v1/admin/homes/home1/get", `{"organizationId":"acme"}`).ok(t); home["measuredMonths"] != nil {
		t.Errorf("a refused file is stored: %v", home)
	}
}

// The samples of two utilities and of the standard are imported, or refused with a reason.
func TestGreenButton_Samples(t *testing.T) {
	folder := os.Getenv("GRIDHOOK_TESTDATA")
	if folder == "" {
		t.Skip("GRIDHOOK_TESTDATA is not set: no files of utilities")
	}
	files, err := filepath.Glob(filepath.Join(folder, "data", "greenbutton", "spec", "fixtures", "*.xml"))
	must(t, err)
	e := newEnv(t, rest.Options{})
	e.billHome()
	imported := 0
	for _, name := range files {
		text, err := os.ReadFile(name)
		must(t, err)
		switch got := e.importMeter("acme", meterPath, string(text), nil); {
		case got.status == http.StatusOK:
			imported++
			if months := got.object(t)["months"].([]any); filepath.Base(name) != "BulkSCEIntervalBlock.xml" || months[0].(map[string]any)["kwh"] != 24.38 {
				t.Errorf("%s: %s", filepath.Base(name), got.body)
			}
		case got.status != http.StatusBadRequest || !strings.Contains(string(got.body), "the Green Button file "):
			t.Errorf("%s: %d %s", filepath.Base(name), got.status, got.body)
		}
	}
	if len(files) != 25 || imported != 1 {
		t.Errorf("%d of %d samples are imported, want 1 of 25", imported, len(files))
	}
}
