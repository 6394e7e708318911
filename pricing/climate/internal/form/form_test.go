package form_test

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/gridhook/gridhook/pricing/climate/internal/form"
	"github.com/gridhook/gridhook/pricing/climate/internal/gen/hours"
)

// year returns a year of random weather.
func year() *form.Year {
	random := rand.New(rand.NewPCG(1, 2))
	column := func(spread float64) []float64 {
		values := make([]float64, form.Hours)
		for i := range values {
			values[i] = spread * random.NormFloat64()
		}
		return values
	}
	y := &form.Year{
		Temperature: hours.Steps(column(10), form.TemperatureStep), DNI: hours.Steps(column(300), form.SunStep),
		DHI: hours.Steps(column(100), form.SunStep), GHI: hours.Steps(column(300), form.SunStep),
	}
	for i := range y.Wind {
		y.Wind[i] = int16(random.IntN(100))
	}
	return y
}

func TestForm_RoundTrip(t *testing.T) {
	y := year()
	packed, err := hours.Encode(y)
	if err != nil {
		t.Fatal(err)
	}
	got, err := form.Decode(packed)
	if err != nil || !reflect.DeepEqual(got, y) {
		t.Errorf("the decoded year differs: %v", err)
	}
	for _, n := range []int{0, 1, len(packed) / 2, len(packed) - 1} {
		if _, err := form.Decode(packed[:n]); err == nil {
			t.Errorf("a year cut to %d bytes was accepted", n)
		}
	}
	y.DNI = y.DNI[1:]
	if _, err := hours.Encode(y); err == nil {
		t.Error("a short year was encoded")
	}
}

func TestSteps_Sums(t *testing.T) {
	values := make([]float64, 1000)
	sum := 0.0
	for i := range values {
		values[i] = 0.13 * float64(i%7)
		sum += values[i]
	}
	for _, s := range hours.Steps(values, form.TemperatureStep) {
		sum -= float64(s) * form.TemperatureStep
	}
	if math.Abs(sum) > form.TemperatureStep/2+1e-9 {
		t.Errorf("%v are lost", sum)
	}
	for i, s := range hours.Steps([]float64{0, 19, 19, 0, -1, 1000}, form.SunStep) {
		if want := []int16{0, 0, 1, 0, 0, 25}[i]; s != want {
			t.Errorf("step %d is %d, want %d", i, s, want)
		}
	}
}
