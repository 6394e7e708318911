// Package pack writes the compact form of the catalog for package form.
package pack

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/gridhook/gridhook/pricing/catalog/internal/form"
)

// Encode returns a comment followed by the rates. The rates must be grouped by utility.
func Encode(comment string, rates []form.Rate) []byte {
	var b bytes.Buffer
	for line := range strings.SplitSeq(comment, "\n") {
		fmt.Fprintf(&b, "# %s\n", line)
	}
	var last form.Utility
	for _, r := range rates {
		if r.Utility != last {
			u := r.Utility
			fmt.Fprintf(&b, "@%s\t%d\t%s\t%s\n", u.Name, u.EIAID, u.State, u.Timezone)
			last = u
		}
		weekend := "="
		if r.Weekend != r.Weekday {
			weekend = spell(r.Weekend)
		}
		fmt.Fprintf(&b, "%s\t%s\t%s\t%s\t%s\t%s\n", r.Name, r.Label, number(r.Daily), numbers(r.Rates), spell(r.Weekday), weekend)
	}
	return b.Bytes()
}

func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

func numbers(list []float64) string {
	words := make([]string, len(list))
	for i, f := range list {
		words[i] = number(f)
	}
	return strings.Join(words, " ")
}

func spell(day [form.HoursADay]int) string {
	var words []string
	for from := 0; from < form.HoursADay; {
		to := from
		for to < form.HoursADay && day[to] == day[from] {
			to++
		}
		words = append(words, fmt.Sprintf("%dx%d", to-from, day[from]))
		from = to
	}
	return strings.Join(words, " ")
}
