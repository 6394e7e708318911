package form_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/gridhook/gridhook/pricing/catalog/internal/form"
	"github.com/gridhook/gridhook/pricing/catalog/internal/gen/pack"
)

func rates() []form.Rate {
	a := form.Utility{Name: "A & Co", EIAID: 7, State: "AZ", Timezone: "America/Phoenix"}
	b := form.Utility{Name: "B", EIAID: 8, State: "CA", Timezone: "America/Los_Angeles"}
	timeOfUse := form.Rate{Utility: b, Name: "Time of use", Label: "2", Daily: 0.5, Rates: []float64{0.1, 0.25, 0.3}}
	for h := 7; h < 19; h++ {
		timeOfUse.Weekday[h] = 1
	}
	timeOfUse.Weekend[23] = 2
	return []form.Rate{{Utility: a, Name: "Flat", Label: "1", Rates: []float64{0.12345}}, {Utility: a, Name: "Other", Label: "3", Rates: []float64{-0.01}}, timeOfUse}
}

func TestForm_RoundTrip(t *testing.T) {
	text := pack.Encode("two\nlines", rates())
	got, err := form.Decode(text)
	if err != nil || !reflect.DeepEqual(got, rates()) {
		t.Errorf("got %+v, %v from\n%s", got, err, text)
	}
	if want := "@B\t8\tCA\tAmerica/Los_Angeles\nTime of use\t2\t0.5\t0.1 0.25 0.3\t7x0 12x1 5x0\t23x0 1x2\n"; !strings.HasSuffix(string(text), want) {
		t.Errorf("got\n%s", text)
	}
}

func TestDecode_ErrorLine(t *testing.T) {
	for name, text := range map[string]string{
		"utility":      "@A\t7\tAZ\n",
		"number":       "@A\tseven\tAZ\tUTC\n",
		"rate":         "@A\t7\tAZ\tUTC\nFlat\t1\t0\n",
		"charge":       "@A\t7\tAZ\tUTC\nFlat\t1\tfree\t0.1\t24x0\t=\n",
		"price":        "@A\t7\tAZ\tUTC\nFlat\t1\t0\tcheap\t24x0\t=\n",
		"short day":    "@A\t7\tAZ\tUTC\nFlat\t1\t0\t0.1\t23x0\t=\n",
		"long day":     "@A\t7\tAZ\tUTC\nFlat\t1\t0\t0.1\t25x0\t=\n",
		"no rate":      "@A\t7\tAZ\tUTC\nFlat\t1\t0\t0.1\t24x1\t=\n",
		"weekend":      "@A\t7\tAZ\tUTC\nFlat\t1\t0\t0.1\t24x0\tall\n",
		"under nobody": "# a comment\n\nFlat\t1\t0\t0.1\n",
	} {
		if _, err := form.Decode([]byte(text)); !errors.Is(err, form.ErrForm) || !strings.Contains(err.Error(), "line ") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
