package storage_test

import (
	"slices"
	"testing"
	"time"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/market"
	"github.com/gridhook/gridhook/storage"
)

func TestUsage_Check(t *testing.T) {
	valid := func() storage.Usage { return storage.Usage{HomeID: "h", AssumedMonthlyKwh: ptr(700.0)} }
	check(t, valid, slices.Concat(
		[]tweak[storage.Usage]{
			{"nothing", func(u *storage.Usage) { u.AssumedMonthlyKwh = nil }, "monthToDateKwh"},
			{"metered", func(u *storage.Usage) { u.MonthToDateKwh, u.AsOf = ptr(1.0), "2026-07-15" }, ""},
			{"metered at no time", func(u *storage.Usage) { u.MonthToDateKwh = ptr(1.0) }, "asOf"},
			{"a day without a meter", func(u *storage.Usage) { u.AsOf = "2026-07-15" }, "monthToDateKwh"},
			{"the last billing day", func(u *storage.Usage) { u.BillingDay = 28 }, ""},
		},
	))
}

func TestUsage_Pricing(t *testing.T) {
	u := storage.Usage{
		MonthToDateKwh: ptr(420.0), AsOf: "2026-07-15", AssumedMonthlyKwh: ptr(730.0), BillingDay: 5, BaselineDailyKwh: ptr(9.0),
	}
	want := pricing.Usage{
		DailyKWh: 24, MonthToDateKWh: 420, AsOf: pricing.Date{Year: 2026, Month: time.July, Day: 15}, BillingDay: 5, BaselineDailyKWh: 9,
	}
	if got := u.Pricing(); got != want || u.AnnualKWh() != 8760 {
		t.Errorf("%+v and %v kWh a year, want %+v and 8760", got, u.AnnualKWh(), want)
	}
	if got := (&storage.Usage{}).Pricing(); got != (pricing.Usage{}) {
		t.Errorf("empty usage is %+v", got)
	}
}

func TestHomeMarket_Check(t *testing.T) {
	valid := func() storage.HomeMarket {
		return storage.HomeMarket{HomeID: "h", Node: "TH_NP15_GEN-APND", Market: market.DayAhead}
	}
	check(t, valid, slices.Concat(
		[]tweak[storage.HomeMarket]{
			{"no market", func(m *storage.HomeMarket) { m.Market = "" }, "market"},
		},
	))
}
