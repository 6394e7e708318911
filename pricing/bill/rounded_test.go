package bill

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// A rounded bill adds up in whole cents, and differs by less than a cent in each month.
func TestBill_Rounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		amount := rapid.Float64Range(-500, 5000)
		exact := Bill{Credit: amount.Draw(t, "credit"), OpenCredit: amount.Draw(t, "open")}
		for range rapid.IntRange(1, 12).Draw(t, "months") {
			exact.Months = append(exact.Months, Month{
				Fixed: amount.Draw(t, "fixed"), Minimum: amount.Draw(t, "minimum"), Energy: amount.Draw(t, "energy"), Demand: amount.Draw(t, "demand"),
			})
		}
		b := exact
		b.Months = append([]Month(nil), exact.Months...)
		b.Rounded()
		cents := func(v float64) int { return int(math.Round(100 * v)) }
		total := -cents(exact.Credit)
		for i, m := range b.Months {
			total += cents(m.Fixed) + cents(m.Minimum) + cents(m.Energy) + cents(m.Demand)
			if off := math.Abs(m.Energy - exact.Months[i].Energy); off > 0.005+1e-9 || float64(cents(m.Energy))/100 != m.Energy {
				t.Errorf("%v became %v", exact.Months[i].Energy, m.Energy)
			}
		}
		if cents(b.Total) != total || float64(cents(b.Total))/100 != b.Total {
			t.Errorf("total %v, but the months are %v", b.Total, float64(total)/100)
		}
	})
}
