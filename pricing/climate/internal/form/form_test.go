package form_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gridhook/gridhook/pricing/climate/internal/form"
)

func sample() [][]float64 {
	random := rand.New(rand.NewPCG(1, 2))
	values := make([][]float64, len(form.Columns))
	for i, column := range form.Columns {
		for range form.Hours {
			values[i] = append(values[i], math.Round(random.Float64()*1000-100)/column.Scale)
		}
	}
	return values
}

func TestAYearSurvivesItsForm(t *testing.T) {
	want := sample()
	packed, err := form.Encode(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := form.Decode(packed)
	if err != nil {
		t.Fatal(err)
	}
	for i := range want {
		for hour := range want[i] {
			if math.Abs(got[i][hour]-want[i][hour]) > 1e-9 {
				t.Fatalf("%s, hour %d: %v, want %v", form.Columns[i].Name, hour, got[i][hour], want[i][hour])
			}
		}
	}
}

func TestSpoiltYearsAreRefused(t *testing.T) {
	values := sample()
	if _, err := form.Encode(values[1:]); err == nil {
		t.Error("packed without a column")
	}
	packed, err := form.Encode(values)
	if err != nil {
		t.Fatal(err)
	}
	for _, cut := range []int{0, 5, len(packed) / 2, len(packed) - 1} {
		if _, err := form.Decode(packed[:cut]); err == nil {
			t.Errorf("taken with %d of %d bytes", cut, len(packed))
		}
	}
	values[3] = values[3][1:]
	if _, err := form.Encode(values); err == nil {
		t.Error("packed a short year")
	}
}
