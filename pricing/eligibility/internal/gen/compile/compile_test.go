package compile_test

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"testing/fstest"

	"github.com/gridhook/gridhook/pricing/eligibility/internal/facts"
	"github.com/gridhook/gridhook/pricing/eligibility/internal/gen/compile"
	"github.com/gridhook/gridhook/pricing/internal/embedded"
	"github.com/gridhook/gridhook/pricing/internal/embedded/pack"
)

// tables returns the tables of a small country: a county with a look-up row, a county
// without a row, a county whose row lacks the utility that delivers, and a misplaced
// zipcode.
func tables() fstest.MapFS {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	return fstest.MapFS{
		"geo/zip_master.csv": file("zip,state,county,city,lat,lon,tz\n" +
			"10001,AA,Saint Mary,Rows,40.1,-80.2,America/New_York\n" +
			"10002,AA,Saint Mary,Lost,0.0,0.0,America/New_York\n" +
			"10003,AA,Hole,Hole,41.0,-81.0,America/Chicago\n" +
			"10004,AA,Wires,Seller,42.0,-82.0,America/Chicago\n" +
			"10005,AA,Nowhere,None,42.0,-82.0,America/Chicago\n"),
		"geo/zip_utility.csv": file("zip,eia_id,state,service_type,source,res_rate_usd_kwh\n" +
			"10001,11522,AA,Bundled,iou2011,0.1\n10001,2,AA,Bundled,non_iou2020,0.1\n10002,2,AA,Bundled,iou2011,0.1\n10004,4,AA,Bundled,non_iou2020,0.1\n"),
		"geo/zip_utility_names.csv":     file("eia_id,name,ownership,in_861_2024\n2,Coop Old,Cooperative,1\n4,Seller,Retail Power Marketer,1\n"),
		"geo/eia861_2024_utilities.csv": file("eia_id,name,state,ownership,nerc,rto\n2,Coop,AA,Cooperative,X,PJM\n5,Wires,AA,Investor Owned,X,OTHER\n"),
		"geo/utility_ba_iso.csv":        file("eia_id,state,ba_code_2018,iso\n3,AA,ERCO,ERCOT\n3,BB,BA,\n"),
		"county_utilities.csv":          file("county_fips,county,state,eia_utility_ids\n1,St. Mary County,AA,2 1179\n2,Hole Parish,AA,9 6 3\n3,Wires County,AA,3 5\n"),
		"dr/dr_programs_seed.json":      file(`{"by_eia_id":{"3":["Saver"]},"by_iso":{"ERCOT":["ERS"]}}`),
		"utilities.csv": file("eia_utility_id,name,rtos,ownership,total_sales_mwh,residential_demand_response_customers,residential_time_of_use," +
			"residential_pv_net_metering_customers\n1179,Successor,,Investor Owned,7,0,,0\n3,Big,,Investor Owned,900,12,Y,34\n6,Dam,,Federal,9,0,,0\n"),
	}
}

// write writes the tables to a directory.
func write(t *testing.T, tables fstest.MapFS) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, tables); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestFacts_Tables(t *testing.T) {
	f, err := compile.Facts(write(t, tables()))
	if err != nil {
		t.Fatal(err)
	}
	type served struct {
		code      int
		utilities []int
		market    string
		basis     facts.Basis
	}
	var got []served
	for _, z := range f.Zips {
		s := served{code: z.Code, market: f.Markets[z.Market].Name, basis: z.Basis}
		for _, u := range f.Territories[z.Territory] {
			s.utilities = append(s.utilities, f.Utilities[u].EIAID)
		}
		got = append(got, s)
	}
	want := []served{
		{10001, []int{1179, 2}, "PJM", facts.ByZipcode},
		{10002, []int{1179, 2}, "PJM", facts.ByBoth},
		{10003, []int{3}, "ERCOT", facts.ByCounty},
		{10004, []int{5, 3, 4}, "", facts.ByBoth},
		{10005, nil, "", facts.ByNone},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if lost := f.Zips[1]; lost.Lat != 4010 || lost.Lon != -8020 {
		t.Errorf("the misplaced zipcode is at %d, %d", lost.Lat, lost.Lon)
	}
	big := facts.Utility{EIAID: 3, Name: "Big", Ownership: "Investor Owned", DynamicPricing: []string{"time-of-use"}, DemandResponseCustomers: 12, NetMeteringCustomers: 34, Programs: []string{"Saver"}}
	if u := f.Utilities[f.Territories[f.Zips[2].Territory][0]]; !reflect.DeepEqual(u, big) {
		t.Errorf("got %+v, want %+v", u, big)
	}
	if coop := f.Utilities[f.Territories[f.Zips[1].Territory][1]]; coop.Name != "Coop" {
		t.Errorf("the name is the older %q", coop.Name)
	}
}

func TestFacts_MissingTable(t *testing.T) {
	for name := range tables() {
		without := tables()
		delete(without, name)
		if _, err := compile.Facts(write(t, without)); err == nil {
			t.Errorf("without %s: no error", name)
		}
	}
}

// TestFacts_EmbeddedCurrent checks that the embedded file equals the result of the
// tables. Otherwise only one of them was changed.
func TestFacts_EmbeddedCurrent(t *testing.T) {
	dir := os.Getenv("GRIDHOOK_TESTDATA")
	if dir == "" {
		t.Skip("GRIDHOOK_TESTDATA is not set: the tables are not at hand")
	}
	want, err := compile.Facts(filepath.Join(dir, "data"))
	if err != nil {
		t.Fatal(err)
	}
	packed, err := os.ReadFile("../../../facts.bin")
	if err != nil {
		t.Fatal(err)
	}
	// The embedded form does not distinguish empty and absent lists.
	again, err := pack.Encode(want)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(embedded.Decode[facts.Facts]("facts.bin", packed), embedded.Decode[facts.Facts]("the tables", again)) {
		t.Error("facts.bin differs from the tables: run go generate in pricing/eligibility")
	}
}

// TestFacts_EmbeddedIndexes checks the order of the zipcodes and all indexes against their
// tables.
func TestFacts_EmbeddedIndexes(t *testing.T) {
	packed, err := os.ReadFile("../../../facts.bin")
	if err != nil {
		t.Fatal(err)
	}
	f := embedded.Decode[facts.Facts]("facts.bin", packed)
	within := func(i, n int) bool { return i >= 0 && i < n }
	if len(f.Shares) != len(f.Territories) {
		t.Fatalf("%d territories, %d shares", len(f.Territories), len(f.Shares))
	}
	for i, set := range f.Territories {
		if len(f.Shares[i]) != len(set) {
			t.Errorf("territory %d has %d shares of %d utilities", i, len(f.Shares[i]), len(set))
		}
		for _, u := range set {
			if !within(u, len(f.Utilities)) {
				t.Errorf("territory %d: no utility %d", i, u)
			}
		}
	}
	for _, rows := range [][]facts.Zip{f.Zips, f.Prefixes} {
		previous := -1
		for _, z := range rows {
			if z.Code <= previous || !within(z.City, len(f.Cities)) || !within(z.County, len(f.Counties)) ||
				!within(z.Zone, len(f.Zones)) || !within(z.Territory, len(f.Territories)) || !within(z.Market, len(f.Markets)) {
				t.Errorf("%05d is out of order or points outside a table", z.Code)
			}
			previous = z.Code
		}
	}
}
