package urdb_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/urdb"
)

func TestParse_Fields(t *testing.T) {
	tariff, err := urdb.Parse([]byte(`{"utility":"Co","name":"Two seasons","startdate":"2026-01-01","energyratestructure":[[{"rate":0.1,"max":500},{"rate":"0.2"}]],
		"holidays":["2026-07-03","christmas"],"riders":[{"rate":0.01}],"demandratestructure":[[{"rate":8.4}]],"baseline":null}`))
	if err != nil {
		t.Fatal(err)
	}
	day := tariff.AnyDay(tariff.Info().EffectiveFrom)
	tiers := day.Tiers(0)
	if info := tariff.Info(); info.Name != "Two seasons" || info.EffectiveFrom != (pricing.Date{Year: 2026, Month: 1, Day: 1}) {
		t.Errorf("the info is %+v", info)
	}
	if len(tiers) != 2 || *tiers[0].Max != 500 || tiers[1].Rate != 0.2 || tiers[1].Unit != pricing.UnitKWh {
		t.Errorf("the tiers are %+v", tiers)
	}
	if riders := tariff.Riders(); len(riders) != 1 || riders[0].Name != "rider 1" || riders[0].Rate != 0.01 {
		t.Errorf("the riders are %+v", riders)
	}
	if demand := day.Demand(); len(demand.TimeOfUse) != 1 || demand.TimeOfUse[0].Tiers[0].Rate != 8.4 || demand.Problem != "" {
		t.Errorf("the demand charges are %+v", demand)
	}
}

func TestParse_EveryProblem(t *testing.T) {
	_, err := urdb.Parse([]byte(`{"energyratestructure":[[{"rate":101},{}]],"startdate":"soon","holidays":[7]}`))
	var wrong *urdb.Error
	if !errors.As(err, &wrong) || !strings.HasPrefix(err.Error(), "invalid tariff: ") {
		t.Fatalf("got %v", err)
	}
	paths := map[string]bool{}
	for _, p := range wrong.Fields {
		paths[p.Field] = true
	}
	for _, path := range []string{"energyratestructure[0][0].rate", "energyratestructure[0][1]", "startdate", "holidays[0]"} {
		if !paths[path] {
			t.Errorf("no problem with %s: %v", path, err)
		}
	}
}

func TestVersions_SameDay(t *testing.T) {
	const rate = `{"name":"P","startdate":"2026-01-01","energyratestructure":[[{"rate":0.1}]]}`
	_, err := urdb.Parse([]byte("[" + rate + "," + rate + "]"))
	if err == nil || !strings.Contains(err.Error(), "items: two versions start on 2026-01-01") {
		t.Errorf("got %v", err)
	}
	if _, err := pricing.NewTariff(nil); !errors.Is(err, pricing.ErrNoTariff) {
		t.Errorf("a tariff without versions: %v", err)
	}
}

// TestParse_Numbers checks that a rate in a string is a decimal number only.
func TestParse_Numbers(t *testing.T) {
	for rate, want := range map[string]bool{`"0.1"`: true, `"1e-1"`: true, `0.1`: true, `"0x1p3"`: false, `"1_0"`: false, `"0X1p-2"`: false} {
		_, err := urdb.Parse([]byte(`{"name":"P","energyratestructure":[[{"rate":` + rate + `}]]}`))
		if (err == nil) != want {
			t.Errorf("the rate %s: %v", rate, err)
		}
	}
}
