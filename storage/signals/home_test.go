package signals

import (
	"encoding/json"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/gridhook/gridhook/storage"
)

// TestHome_DecodesLikeStorage checks that the decoded part of a home equals the result
// of encoding/json.
func TestHome_DecodesLikeStorage(t *testing.T) {
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "plan", "America/Chicago", "60614", `a"b`, "{", "\u2028<&"}))
	r := NewPricer(1).Reader(nil, "org")
	rapid.Check(t, func(rt *rapid.T) {
		h := storage.NewHome("org")
		h.ID, h.Name, h.RatePlanID, h.Timezone, h.Zipcode = "h", text.Draw(rt, "name"), text.Draw(rt, "plan"), text.Draw(rt, "zone"), text.Draw(rt, "zipcode")
		h.Enabled, h.EnergyMarketBiddingEnabled = rapid.Bool().Draw(rt, "enabled"), rapid.Bool().Draw(rt, "bids")
		h.CarbonSignalIntensity = storage.CarbonSignalIntensity(text.Draw(rt, "carbon"))
		if rapid.Bool().Draw(rt, "address") {
			h.UnstructuredAddress = &h.Name
		}
		record := stored(rt, &h)
		want, err := storage.Decode[storage.Home](record)
		if err != nil {
			rt.Fatal(err)
		}
		got, err := r.Home(record)
		expected := newHome(&want)
		expected.Revision = record.Revision
		if err != nil || *got != *expected {
			rt.Fatalf("%s is %+v (%v), want %+v", record.Value, got, err, expected)
		}
	})
}

func TestSystem_DecodesLikeStorage(t *testing.T) {
	number := rapid.Ptr(rapid.OneOf(rapid.Float64Range(0, 99), rapid.SampledFrom([]float64{0, 20, 1e-7})), true)
	rapid.Check(t, func(rt *rapid.T) {
		s := storage.Solar{HomeID: "h", SizeKw: rapid.Float64Range(0.1, 1000).Draw(rt, "size"), NonNetMetered: rapid.Bool().Draw(rt, "rule")}
		s.Tilt, s.Azimuth, s.Losses = number.Draw(rt, "tilt"), number.Draw(rt, "azimuth"), number.Draw(rt, "losses")
		s.ExportValues = rapid.SampledFrom([]string{"", "SCE NBT24", "PG&E NBT24"}).Draw(rt, "values")
		var got system
		err := decode(stored(rt, &s), &got)
		if err != nil || got.SizeKw != s.SizeKw || got.NonNetMetered != s.NonNetMetered || !reflect.DeepEqual(got.SolarSettings, s.SolarSettings) {
			rt.Fatalf("%+v (%v), want %+v", got, err, s)
		}
	})
}

func stored(rt *rapid.T, e storage.Entity) storage.Record {
	value, err := json.Marshal(e)
	if err != nil {
		rt.Fatal(err)
	}
	return storage.Record{Ref: e.Ref(), Revision: 7, Value: value}
}
