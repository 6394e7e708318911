package pricing_test

import (
	"testing"
	"time"

	"github.com/gridhook/gridhook/pricing"
)

// selling is a tariff with two periods whose first tiers have the given sell rates. nil
// omits the field.
func selling(rules string, first, second any) doc {
	tier := func(rate float64, sell any) []any {
		fields := map[string]any{"rate": rate, "unit": "kWh", "max": 1e38}
		if sell != nil {
			fields["sell"] = sell
		}
		return []any{fields}
	}
	return doc{
		"dgrules": rules, "source": "sheet 7", "startdate": "2020-05-01",
		"energyratestructure":   []any{tier(0.30134, first), tier(0.08364, second)},
		"energyweekdayschedule": year("0x12 1x12", "0x12 1x12"),
	}
}

func TestExportCompensation_Types(t *testing.T) {
	netMetered, notNetMetered := &pricing.Solar{SizeKw: 5}, &pricing.Solar{SizeKw: 5, NonNetMetered: true}
	for _, tt := range []struct {
		name             string
		tariff           doc
		solar            *pricing.Solar
		want             pricing.CompensationType
		morning, evening float64
	}{
		{"net metering", selling("Net Metering", nil, nil), netMetered, pricing.NetMetering, 0.30134, 0.08364},
		{"net metering, no solar known", selling("Net Metering", nil, nil), nil, pricing.NetMetering, 0.30134, 0.08364},
		{"net metering wins over sell", selling("Net Metering", 0.05, 0.05), netMetered, pricing.NetMetering, 0.30134, 0.08364},
		{"not net metered is never paid retail", selling("Net Metering", nil, nil), notNetMetered, pricing.NoExport, 0, 0},
		{"not net metered, with sell", selling("Net Metering", 0.1096, 0.05819), notNetMetered, pricing.NetBilling, 0.1096, 0.05819},
		{"net billing", selling("Net Billing Hourly", 0.1096, 0.05819), netMetered, pricing.NetBilling, 0.1096, 0.05819},
		{"net billing in one period", selling("", 0.1096, nil), netMetered, pricing.NetBilling, 0.1096, 0},
		{"sell of zero", selling("", 0.0, 0.0), netMetered, pricing.NoExport, 0, 0},
		{"rules without sell", selling("Net Billing Instantaneous", nil, nil), netMetered, pricing.NoExport, 0, 0},
		{"buy all sell all", selling("Buy All Sell All", 0.07, 0.07), netMetered, pricing.FeedIn, 0.07, 0.07},
		{"feed-in", selling("Feed-In Tariff", 0.07, 0.07), notNetMetered, pricing.FeedIn, 0.07, 0.07},
		{"feed-in without sell", selling("Feed-in", nil, nil), nil, pricing.NoExport, 0, 0},
		{"no rules", selling("", nil, nil), nil, pricing.NoExport, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := pricing.Input{Tariff: tt.tariff.Parse(t), Location: time.UTC, Solar: tt.solar}
			c := price(t, in, window("2026-01-05T00:00:00Z", "2026-01-06T00:00:00Z"))
			got := c.ExportCompensation
			if got.Type != tt.want || c.Export[0] != tt.morning || c.Export[95] != tt.evening {
				t.Errorf("got %s, %v and %v; want %s, %v and %v", got.Type, c.Export[0], c.Export[95], tt.want, tt.morning, tt.evening)
			}
			if got.Source != "sheet 7" || got.Description == "" || got.EffectiveFrom.String() != "2020-05-01" || !got.EffectiveTo.IsZero() {
				t.Errorf("got %+v", got)
			}
		})
	}
}
