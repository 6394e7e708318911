package pricing_test

import (
	"encoding/json"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/urdb"
)

// FuzzParseURDB checks that any bytes give either a tariff that can be priced and
// encoded, or a *TariffError with the reason.
func FuzzParseURDB(f *testing.F) {
	for _, d := range []doc{
		jacksonEMC(), apsSaverChoicePlus(), selling("Buy All Sell All", 0.1, nil), flat(0.1),
		jacksonEMC().With("energyweekdayschedule", year("0x48", "1x96")),
		jacksonEMC().With("startdate", 1335880800).With("enddate", 1738393200),
		jacksonEMC().With("energyratestructure", []any{tiers(1e38, 0.1)}),
		{"items": []any{flat(0.2)}},
		taxed().With("holidays", []any{"federal", "2026-03-09"}).With("baseline", 10).With("exportvalues", "PG&E NBT26"), threeRates(), passthrough(),
	} {
		f.Add(d.JSON(f))
	}
	for _, s := range []string{
		``, `{}`, `[]`, `null`, `{"items":[{}]}`, `{"items":[[]]}`, `{"energyratestructure":[[{"rate":1e999}]]}`,
		`{"energyratestructure":[[{"rate":"nan","max":"inf","unit":3}],{},[[]]],"energyweekdayschedule":[[]]}`,
		`{"energyratestructure":[[{"adj":-0.0}]],"startdate":-1e300,"enddate":"2017-99-99","eiaid":1e12}`,
	} {
		f.Add([]byte(s))
	}
	w := window("2026-03-07T00:00:00Z", "2026-03-10T00:00:00Z")
	location := zone(f, "America/New_York")
	f.Fuzz(func(t *testing.T, data []byte) {
		tariff, err := urdb.Parse(data)
		if err != nil {
			var problems *urdb.Error
			if tariff != nil || !errors.As(err, &problems) || len(problems.Fields) == 0 || problems.Error() == "" {
				t.Fatalf("an error without a reason: %v, %v", tariff, err)
			}
			return
		}
		c, err := pricing.Price(pricing.Input{Tariff: tariff, Location: location}, w)
		var gap *pricing.NotInForceError
		var missing *pricing.NoMarketError
		if errors.As(err, &gap) || errors.As(err, &missing) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		for i := range c.Len() {
			// The rate and the riders are at most 100 each, and taxes double them.
			if math.Abs(c.Import[i]) > 400 || math.Abs(c.Export[i]) > 600 { // NaN fails the next check
				t.Fatalf("import %v, export %v", c.Import[i], c.Export[i])
			}
		}
		var back decodedSignal
		encoded := encode("h", c, "", time.Unix(0, 0), 0)
		if err := json.Unmarshal(encoded, &back); err != nil || len(back.Data) != w.Len() {
			t.Fatalf("the signal does not decode: %v", err)
		}
	})
}
