package main

import (
	"io"
	"strings"
	"testing"

	"github.com/gridhook/gridhook/pricing/feed"
	"github.com/gridhook/gridhook/pricing/market"
)

const caiso = `INTERVALSTARTTIME_GMT,INTERVALENDTIME_GMT,NODE,MARKET_RUN_ID,LMP_TYPE,MW
2026-07-01T22:00:00-00:00,2026-07-01T23:00:00-00:00,TH_NP15_GEN-APND,DAM,LMP,41.2
2026-07-01T22:00:00-00:00,2026-07-01T23:00:00-00:00,TH_NP15_GEN-APND,DAM,MCC,1
2026-07-01T23:00:00-00:00,2026-07-02T00:00:00-00:00,TH_NP15_GEN-APND,DAM,LMP,-3.12345
2026-07-02T02:00:00-00:00,2026-07-02T03:00:00-00:00,TH_NP15_GEN-APND,DAM,LMP,dear
2026-07-02T00:00:00-00:00,2026-07-02T01:00:00-00:00,TH_NP15_GEN-APND,DAM,LMP,50
2026-07-02T02:00:00-00:00,2026-07-02T03:00:00-00:00,TH_NP15_GEN-APND,DAM,LMP,60
`

func TestImportMarketPrices(t *testing.T) {
	f := newFake(t)
	f.on("/v1/admin/import", imported(2, 2, 0, ""))
	file := writeFile(t, "prices.csv", caiso)
	got := run(t, f, "", []string{"import", "--format", "market", "--market", "CAISO", file})
	head := `{"resource":"marketSeries","node":"TH_NP15_GEN-APND","market":"DAY_AHEAD","timezone":"America/Los_Angeles","stepMinutes":60,`
	want := head + `"startTime":"2026-07-01T22:00:00.000Z","prices":[0.0412,-0.00312345]}` + "\n" +
		head + `"startTime":"2026-07-02T00:00:00.000Z","prices":[0.05,null,0.06]}` + "\n"
	if f.last().body != want {
		t.Errorf("it sent\n%swant\n%s", f.last().body, want)
	}
	if says := file + `:5: marketSeries: MW: "dear" is not a number`; got.code != exitFailure || !strings.Contains(strings.ToLower(got.err), strings.ToLower(says)) {
		t.Errorf("exit %d, it says\n%swant\n%s", got.code, got.err, says)
	}
}

func TestImportMarketPrices_UnknownNode(t *testing.T) {
	f := newFake(t)
	f.on("/v1/admin/import", imported(1, 1, 0, ""))
	pjm := writeFile(t, "pjm.csv", "utc_start,rt_lmp_usd_mwh\n2026-07-01T05:00Z,25.4677\n2026-07-01T06:00Z,19.9098\n")
	got := run(t, f, "", []string{"import", "--org", "acme", "--format", "market", "--market", "pjm", "--node", "N ILLINOIS HUB", pjm})
	want := `{"resource":"marketSeries","organizationId":"acme","node":"N ILLINOIS HUB","market":"REAL_TIME","timezone":"America/New_York","stepMinutes":60,` +
		`"startTime":"2026-07-01T05:00:00.000Z","prices":[0.0254677,0.0199098]}` + "\n"
	if got.code != 0 || f.last().body != want {
		t.Errorf("exit %d: %s, it sent\n%swant\n%s", got.code, got.err, f.last().body, want)
	}
}

// An import and a source of one market give its series the same time zone.
func TestImportMarketPrices_Timezone(t *testing.T) {
	for _, operator := range operators {
		adapter, _ := feed.ByName(operator)
		f := newFake(t)
		f.on("/v1/admin/import", imported(2, 2, 0, ""))
		got := run(t, f, "", []string{"import", "--format", "market", "--market", operator, writeFile(t, "prices.csv", caiso)})
		if zone := `"timezone":"` + adapter.Timezone + `"`; adapter.Timezone == "" || !strings.Contains(f.last().body, zone) {
			t.Errorf("%s: it sent\n%swant %s\n%s", operator, f.last().body, zone, got.err)
		}
	}
}

// TestImportMarketPrices_SecondFile checks that an error in a file is not an error of usage
// after another file was imported.
func TestImportMarketPrices_SecondFile(t *testing.T) {
	f := newFake(t)
	f.on("/v1/admin/import", imported(2, 2, 0, ""))
	good, plain := writeFile(t, "prices.csv", caiso), writeFile(t, "plain.csv", "start,price,unit\n2026-07-01T05:00:00Z,25,$/MWh\n")
	got := run(t, f, "", []string{"import", "--format", "market", good, plain})
	if got.code != exitFailure || !strings.HasSuffix(got.err, "gridhook: "+plain+": the prices do not name a node: name it with --node\n") || !strings.HasPrefix(got.out, "3 lines: 2 created") {
		t.Errorf("exit %d, %s; it shows\n%s", got.code, got.err, got.out)
	}
}

func TestImportMarketPrices_MissingInput(t *testing.T) {
	f := newFake(t)
	plain := writeFile(t, "plain.csv", "start,price,unit\n2026-07-01T05:00:00Z,25,$/MWh\n")
	for _, tt := range []struct{ args, want string }{
		{"--format market --market mars", "--market must be one of"},
		{"--format market --timezone Mars", "--timezone"},
		{"--format market --kind spot", "--kind"},
		{"--market caiso", "--format market"},
		{"--format xml", "--format must be"},
		{"--format market", "--node"},
		{"--format market --node N", "--kind"},
	} {
		if got := run(t, f, "", append([]string{"import", plain}, strings.Fields(tt.args)...)); got.code == 0 || !strings.Contains(got.err, tt.want) {
			t.Errorf("%s: exit %d, %s", tt.args, got.code, got.err)
		}
	}
	if len(f.requests) != 0 {
		t.Errorf("%d requests were sent", len(f.requests))
	}
}

// Lines of shared or operator resources stay unchanged.
func TestImport_OrganizationColumn(t *testing.T) {
	for _, resource := range []string{"organization", "utility", "demandResponse", "area", "ratePlan", "planEvent", "marketSeries"} {
		line := `{"resource":"` + resource + `"}`
		if got := string(withOrganization([]byte(line), "acme")); got != line {
			t.Errorf("%s became %s", line, got)
		}
	}
	for _, resource := range []string{"home", "solar", "usage", "homeMarket"} {
		if got := string(withOrganization([]byte(`{"resource":"`+resource+`"}`), "acme")); got != `{"organizationId":"acme","resource":"`+resource+`"}` {
			t.Errorf("it became %s", got)
		}
	}
}

// An unclosed quote does not read the rest of the file into memory, and nothing is sent.
func TestImportMarketPrices_OpenQuote(t *testing.T) {
	file := &counted{r: io.MultiReader(strings.NewReader(caiso+"\""), strings.NewReader(strings.Repeat("2026-07-01\n", 1<<20)))}
	f := newFake(t)
	got := runWith(t, f, "", []string{"import", "--format", "market", "-"}, func(g *globals) { g.in = file })
	if got.code != exitFailure || !strings.Contains(got.err, "after line 7: a row is longer than 1048576 bytes: look for an unclosed quote") {
		t.Errorf("exit %d, %s", got.code, got.err)
	}
	if file.n.Load() > 2*market.MaxRow || len(f.requests) > 0 {
		t.Errorf("read %d bytes of a file whose last row never ends, and sent %d requests", file.n.Load(), len(f.requests))
	}
}

func TestImportMarketPrices_LargeFile(t *testing.T) {
	file := io.MultiReader(strings.NewReader(caiso), &wrongLines{})
	got := runWith(t, newFake(t), "", []string{"import", "--format", "market", "-"}, func(g *globals) { g.in = file })
	if got.code != exitFailure || !strings.Contains(got.err, "gridhook: -: the file is larger than 256 MB: import it in parts\n") {
		t.Errorf("exit %d, %s", got.code, got.err)
	}
}

// wrongLines never ends.
type wrongLines struct{}

func (*wrongLines) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	p[len(p)-1] = '\n'
	return len(p), nil
}
