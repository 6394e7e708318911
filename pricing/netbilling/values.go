package netbilling

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gridhook/gridhook/pricing/netbilling/internal/form"
)

// Values are what one utility pays the homes of some vintages. They are
// immutable and safe for concurrent use.
type Values struct{ table form.Table }

// Value is what an exported kWh earns, $/kWh.
type Value struct {
	// Generation is paid by who supplies the home's energy: the utility to its
	// bundled customers, a community choice aggregator by its own terms.
	Generation float64
	Delivery   float64
	// Published is false where the year is not among those published, and the
	// value is that of the nearest one.
	Published bool
}

// Total is Generation and Delivery.
func (v Value) Total() float64 { return v.Generation + v.Delivery }

//go:embed values.bin
var packed []byte

var all = sync.OnceValue(func() []*Values {
	tables, err := form.Decode(packed)
	if err != nil {
		panic(fmt.Sprintf("netbilling: embedded values.bin: %v", err)) // the tests read every value
	}
	list := make([]*Values, len(tables))
	for i, t := range tables {
		list[i] = &Values{t}
	}
	return list
})

// Names are the names of all values, such as "PG&E NBT26".
func Names() []string {
	var names []string
	for _, v := range all() {
		for _, vintage := range v.table.Vintages {
			names = append(names, v.table.Utility+" "+vintage)
		}
	}
	return names
}

// Named finds values by utility and vintage, such as "PG&E NBT26" or "sce nbt24";
// the utility may also be its EIA number. Other signs than letters and digits do
// not count.
func Named(name string) (*Values, bool) {
	wanted := plain(name)
	for _, v := range all() {
		for _, vintage := range v.table.Vintages {
			if wanted == plain(v.table.Utility+vintage) || wanted == plain(strconv.Itoa(v.table.EIAID)+vintage) {
				return v, true
			}
		}
	}
	return nil, false
}

func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, strings.ToLower(s))
}

// Utility is who pays, by name and EIA number.
func (v *Values) Utility() (name string, eiaID int) { return v.table.Utility, v.table.EIAID }

// String is the utility with its vintages.
func (v *Values) String() string {
	return v.table.Utility + " " + strings.Join(v.table.Vintages, "/")
}

// Years are the first and the last year that are published.
func (v *Values) Years() (first, last int) {
	last = v.table.FirstYear + v.table.Years - 1
	if v.table.ExactThrough != 0 {
		last = min(last, v.table.ExactThrough)
	}
	return v.table.FirstYear, last
}

// At is the value in an hour (0 to 23) of the local wall clock. Holidays count as
// weekend. Of a year that is not published it is that of the nearest one.
func (v *Values) At(year int, month time.Month, weekend bool, hour int) Value {
	first, last := v.Years()
	y := min(max(year, first), v.table.FirstYear+v.table.Years-1)
	kind := 0
	if weekend {
		kind = 1
	}
	at := ((int(month)-1)*form.Kinds+kind)*form.Hours + hour
	const component = form.Months * form.Kinds * form.Hours
	values := v.table.Values[(y-first)*form.PerYear:][:form.PerYear]
	return Value{
		Generation: float64(values[at]) / form.Steps, Delivery: float64(values[component+at]) / form.Steps,
		Published: year >= first && year <= last,
	}
}
