package netbilling

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gridhook/gridhook/pricing/internal/embedded"
	"github.com/gridhook/gridhook/pricing/internal/plain"
	"github.com/gridhook/gridhook/pricing/netbilling/internal/form"
)

// Values holds one utility's export values for the homes of some vintages. It is
// immutable and safe for concurrent use.
type Values struct {
	table form.Table
	only  Component
	// series identifies equal values: vintages of one calculator have the same series.
	series int
}

// Component selects a component of a Value. The empty value selects both.
type Component string

// The values of Component.
const (
	Generation Component = "generation"
	Delivery   Component = "delivery"
)

// Only returns values whose other component is zero. Delivery includes the adder. Only of
// nil is nil.
func (v *Values) Only(c Component) *Values {
	if v == nil {
		return nil
	}
	selected := *v
	selected.only = c
	return &selected
}

// Value is the payment for one exported kWh, $/kWh.
type Value struct {
	// Generation is paid by the supplier of the home's energy. A utility pays its bundled
	// customers. A community choice aggregator pays by its own terms.
	Generation float64
	Delivery   float64
	// Published is false if the year is not published. The value is then from the nearest
	// published year.
	Published bool
}

// Total returns the sum of Generation and Delivery.
func (v Value) Total() float64 { return v.Generation + v.Delivery }

//go:embed values.bin
var packed []byte

var all = sync.OnceValue(func() (list []*Values) {
	for _, t := range embedded.Decode[[]form.Table]("values.bin", packed) {
		v := &Values{table: t, series: len(list)}
		if i := slices.IndexFunc(list, v.sameAs); i >= 0 {
			v.series = list[i].series
		}
		list = append(list, v)
	}
	return list
})

// Names returns the names of all values, such as "PG&E NBT26".
func Names() []string {
	var names []string
	for _, v := range all() {
		for _, vintage := range v.table.Vintages {
			names = append(names, v.table.Utility+" "+vintage)
		}
	}
	return names
}

// Named returns values by utility and vintage, such as "PG&E NBT26" or "sce nbt24". The
// utility may also be its EIA number. Only letters and digits count.
func Named(name string) (*Values, bool) {
	wanted := plain.Name(name)
	for _, v := range all() {
		for _, vintage := range v.table.Vintages {
			if wanted == plain.Name(v.table.Utility+vintage) || wanted == plain.Name(strconv.Itoa(v.table.EIAID)+vintage) {
				return v, true
			}
		}
	}
	return nil, false
}

// Payer returns the EIA number of the utility that pays the values.
func (v *Values) Payer() int { return v.table.EIAID }

// Newest returns the newest values of a utility by its EIA number, or nil.
func Newest(eiaID int) (newest *Values) {
	for _, v := range all() { // a utility's vintages are in order
		if v.Payer() == eiaID {
			newest = v
		}
	}
	return newest
}

// Payers returns the EIA numbers of all utilities with values.
func Payers() (list []int) {
	for _, v := range all() {
		if !slices.Contains(list, v.Payer()) {
			list = append(list, v.Payer())
		}
	}
	return list
}

// String returns the utility with its vintages.
func (v *Values) String() string {
	return v.table.Utility + " " + strings.Join(v.table.Vintages, "/")
}

// Years returns the first and the last published year.
func (v *Values) Years() (first, last int) {
	last = v.table.FirstYear + len(v.table.Years) - 1
	if v.table.ExactThrough != 0 {
		last = min(last, v.table.ExactThrough)
	}
	return v.table.FirstYear, last
}

// At returns the value in an hour (0 to 23) of the local wall clock. Holidays count as
// weekend. An unpublished year has the values of the nearest year.
func (v *Values) At(year int, month time.Month, weekend bool, hour int) Value {
	first, last := v.Years()
	values := &v.table.Years[min(max(year-first, 0), len(v.table.Years)-1)]
	kind := 0
	if weekend {
		kind = 1
	}
	found := Value{
		Generation: float64(values.Generation[month-1][kind][hour]) / form.Steps,
		Delivery:   float64(values.Delivery[month-1][kind][hour]) / form.Steps,
		Published:  year >= first && year <= last,
	}
	switch v.only {
	case Generation:
		found.Delivery = 0
	case Delivery:
		found.Generation = 0
	}
	return found
}
