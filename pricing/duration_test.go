package pricing_test

import (
	"testing"
	"time"

	"github.com/gridhook/gridhook/pricing"
)

func TestAddDuration_Forms(t *testing.T) {
	start := time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC)
	for duration, want := range map[string]string{
		"PT1H": "2026-01-31T01:00:00Z", "PT15M": "2026-01-31T00:15:00Z", "P1D": "2026-02-01T00:00:00Z", "P1M": "2026-03-03T00:00:00Z",
		"P1W": "2026-02-07T00:00:00Z", "P1Y2M3DT4H5M6.5S": "2027-04-03T04:05:06.5Z", "PT0S": "2026-01-31T00:00:00Z", "PT3H0M0S": "2026-01-31T03:00:00Z",
		"P9999Y": "", "": "", "P": "", "PT": "", "-PT1H": "", "PT1H ": "", "1H": "", "PT1..5S": "", "PT1D": "", "P1H": "", "PT9999999999S": "", "P99999999D": "",
	} {
		end, ok := pricing.AddDuration(start, duration)
		if got := end.Format(time.RFC3339Nano); ok != (want != "") || ok && got != want {
			t.Errorf("after %q it is %s, %v, want %s", duration, got, ok, want)
		}
	}
}
