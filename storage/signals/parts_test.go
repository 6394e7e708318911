package signals_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/signals"
	"github.com/gridhook/gridhook/storage/storagetest"
)

// composed returns a plan of parts: DELIVERY, GENERATION and then ADJUSTMENT.
func composed(id string, parts ...string) *storage.RatePlan {
	p := &storage.RatePlan{ID: id, Base: org}
	for i, part := range parts {
		p.Parts = append(p.Parts, pricing.PlanPart{PlanID: part, Role: pricing.PlanRoles()[min(i, 2)]})
	}
	return p
}

const care = `"name":"CARE","energyratestructure":[[{"rate":0}]],"riders":[{"name":"CARE","rate":-35,"unit":"%"}]`

func putCCA(t *testing.T, s *storage.Store) {
	t.Helper()
	storagetest.Put(t, s, storagetest.RatePlan("org", "delivery", 0.2), storagetest.RatePlan(storage.Shared, "cca", 0.1), plan("care", care),
		storagetest.RatePlan("org", "other-generation", 0.1), composed("composed", "delivery", "cca", "care"), composed("other", "delivery", "other-generation"),
		home("h", "composed", nil), home("neighbor", "composed", nil), home("other", "other", nil), home("plain", "delivery", nil))
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

// A change of any input of any part changes the signals of the composed plan's homes, and
// of no other homes.
func TestComposed_ChangeOfPart(t *testing.T) {
	s := newStore()
	putCCA(t, s)
	b := signals.NewPricer(10)
	before := signal(t, b, s, "h")
	if got := before.Import[0]; !near(got, 0.195) || before.RatePlanID != "composed" || before.ImportSource != "Flat delivery + Flat cca + CARE" {
		t.Fatalf("import %v by %s from %q", got, before.RatePlanID, before.ImportSource)
	}
	if signal(t, b, s, "neighbor").Curve != before.Curve {
		t.Error("neighbors do not share a curve")
	}
	from := storage.Time{Time: day.Start}
	peak := storage.PlanEvent{ID: "e", Kind: pricing.CriticalPeak, From: from, To: storage.Time{Time: from.Add(time.Hour)}, Adder: ptr(1.0)}
	for _, tt := range []struct {
		name   string
		change storage.Entity
		want   float64
	}{
		{"a part's tariff", storagetest.RatePlan(storage.Shared, "cca", 0.14), 0.221},
		{"a part's event", &storage.PlanEvents{PlanID: "cca", Events: []storage.PlanEvent{peak}, Base: storage.Base{OrganizationID: storage.Shared}}, 0.871},
		{"an own plan instead of a shared part", storagetest.RatePlan("org", "cca", 0.12), 0.208},
		{"the discount", plan("care", strings.Replace(care, "-35", "-20", 1)), 0.256},
		{"the parts", composed("composed", "delivery", "cca"), 0.32},
	} {
		other, plain := signal(t, b, s, "other"), signal(t, b, s, "plain")
		storagetest.Put(t, s, tt.change)
		after := signal(t, b, s, "h")
		if !near(after.Import[0], tt.want) || after.Revision <= before.Revision {
			t.Errorf("%s: import %v at revision %d, want %v after %d", tt.name, after.Import[0], after.Revision, tt.want, before.Revision)
		}
		if o, p := signal(t, b, s, "other"), signal(t, b, s, "plain"); o.Curve != other.Curve || p.Curve != plain.Curve || o.Revision != other.Revision || p.Revision != plain.Revision {
			t.Errorf("%s: other homes have other signals", tt.name)
		}
		before = after
	}
}

func TestComposed_MarketAndUsageOfPart(t *testing.T) {
	s := newStore()
	tiers := plan("tiers", `"name":"Tiers","energyratestructure":[[{"rate":0.1,"max":100},{"rate":0.3}]]`)
	hourly := plan("hourly", `"name":"Hourly","energyratestructure":[[{"rate":0}]],"market":{"node":"COMED","market":"REAL_TIME"}`)
	storagetest.Put(t, s, tiers, hourly, composed("composed", "tiers", "hourly"), home("h", "composed", nil), home("big", "composed", nil),
		&storage.Usage{HomeID: "big", AssumedMonthlyKwh: ptr(90000.0), Base: org}, &storage.Usage{HomeID: "h", AssumedMonthlyKwh: ptr(1.0), Base: org})
	b := signals.NewPricer(10)
	if _, err := signalAt(t, b, s, "h", day); err == nil || !strings.Contains(err.Error(), `"COMED"`) {
		t.Errorf("without a market: %v", err)
	}
	addPrices(t, s, "org", "COMED", day.Start, 24, 0.04)
	if small, big := signal(t, b, s, "h").Import[40], signal(t, b, s, "big").Import[40]; !near(small, 0.14) || !near(big, 0.34) {
		t.Errorf("imports are %v and %v, want 0.14 and 0.34", small, big)
	}
}

// Two parts that follow two markets: the delivery rate and the generation rate of a home,
// each with a series of its own.
func TestComposed_TwoMarkets(t *testing.T) {
	s := newStore()
	follows := func(id, node string) *storage.RatePlan {
		return plan(id, `"name":"`+id+`","energyratestructure":[[{"rate":0}]],"market":{"node":"`+node+`","market":"REAL_TIME"}`)
	}
	storagetest.Put(t, s, follows("delivery", "USCA-PGPG-0001"), follows("generation", "USCA-MCMC-0002"), composed("composed", "delivery", "generation"), home("h", "composed", nil))
	addPrices(t, s, "org", "USCA-PGPG-0001", day.Start, 24, 0.2)
	addPrices(t, s, storage.Shared, "USCA-MCMC-0002", day.Start, 24, 0.11)
	b := signals.NewPricer(10)
	before := signal(t, b, s, "h")
	addPrices(t, s, storage.Shared, "USCA-MCMC-0002", day.Start.Add(12*time.Hour), 1, 0.5)
	after := signal(t, b, s, "h")
	if !near(before.Import[48], 0.31) || !near(after.Import[48], 0.7) || !near(after.Import[52], 0.31) || after.Revision <= before.Revision {
		t.Errorf("imports are %v before and %v after the change", before.Import[48], after.Import[48:53])
	}
	reasons := explain(t, b, s, "h")
	if first := reasons[0]; len(first.Parts) != 2 || first.Parts[0].Rate != 0.2 || first.Parts[1].Rate != 0.11 || first.Parts[1].Name != "generation" {
		t.Errorf("the reason is %+v", first)
	}
}

func explain(t *testing.T, b *signals.Pricer, s *storage.Store, id string) (reasons []pricing.Reason) {
	t.Helper()
	err := s.View(func(v storage.View) (err error) {
		reasons, err = b.Explain(v, "org", id, day)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return reasons
}

// A part that is missing, has parts itself or does not decode leaves the home without a
// price. The reason names the part.
func TestComposed_UnpriceableNamesPart(t *testing.T) {
	s := newStore()
	putCCA(t, s)
	storagetest.Put(t, s, composed("gone", "delivery", "missing"), composed("nested", "delivery", "composed"),
		home("gone", "gone", nil), home("nested", "nested", nil))
	b := signals.NewPricer(10)
	for id, want := range map[string]string{
		"gone":   `the part "missing" of the home's rate plan "gone" does not exist`,
		"nested": `the part "composed" of the home's rate plan "nested" has parts itself`,
	} {
		_, err := signalAt(t, b, s, id, day)
		if lacks := (*signals.Unpriceable)(nil); !errors.As(err, &lacks) || lacks.Field != "ratePlanId" || !strings.Contains(lacks.Reason, want) {
			t.Errorf("%s: %v, want %s", id, err, want)
		}
	}
	part := storage.KindRatePlan.Ref("org", "delivery")
	_, err := priceIn(t, s, badView{ref: part, value: `{"tariff":{"name":7}}`}, "h")
	if lacks := (*signals.Unpriceable)(nil); !errors.As(err, &lacks) || !strings.Contains(lacks.Reason, `the part "delivery" of the home's rate plan "composed" cannot be read`) {
		t.Errorf("an unreadable part: %v", err)
	}
	storagetest.Put(t, s, storagetest.RatePlan("org", "missing", 0.1))
	if got := signal(t, b, s, "gone").Import[0]; !near(got, 0.3) {
		t.Errorf("after the part was added: %v", got)
	}
}

// The avoided costs of a home's own vintage are paid once: delivery by the utility,
// generation by the supplier.
func TestComposed_ExportValues(t *testing.T) {
	s := newStore()
	putCCA(t, s)
	b := signals.NewPricer(10)
	settings := storage.SolarSettings{ExportValues: "PG&E NBT24", AccPlus: "GENERAL", ConnectionYear: 2024}
	storagetest.Put(t, s, &storage.Solar{HomeID: "plain", SizeKw: 8, SolarSettings: settings, Base: org}, &storage.Solar{HomeID: "h", SizeKw: 8, SolarSettings: settings, Base: org})
	plain, h := signal(t, b, s, "plain"), signal(t, b, s, "h")
	for i := range plain.Len() {
		if math.Abs(plain.Export[i]-h.Export[i]) > 1.01e-6 || h.Export[i] == 0 {
			t.Fatalf("interval %d: %v of two parts, %v of one plan", i, h.Export[i], plain.Export[i])
		}
	}
}

// A composed plan is an OpenADR program at the place of its delivery's utility. A change of
// a part is a change of its events.
func TestComposed_Program(t *testing.T) {
	s := newStore()
	storagetest.Put(t, s, plan("delivery", pacific), storagetest.RatePlan("org", "cca", 0.1), composed("composed", "delivery", "cca"))
	b := signals.NewPricer(10)
	program, ok := programs(t, b, s)["composed"]
	if !ok || program.Location.String() != "America/Los_Angeles" || program.LongName != "composed" {
		t.Fatalf("program %+v", program)
	}
	today := program.Days(storagetest.Start)[0]
	_, before := encode(t, b, s, &today)
	storagetest.Put(t, s, storagetest.RatePlan("org", "cca", 0.2))
	if _, after := encode(t, b, s, &today); after == before {
		t.Error("a change of a part does not change the events")
	}
}
