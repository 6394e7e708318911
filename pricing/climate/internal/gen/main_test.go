package main

import (
	"math"
	"testing"

	"github.com/gridhook/gridhook/pricing/climate/internal/form"
)

func TestSteps_Sums(t *testing.T) {
	values := make([]float64, 1000)
	sum := 0.0
	for i := range values {
		values[i] = 0.13 * float64(i%7)
		sum += values[i]
	}
	for _, s := range steps(values, form.TemperatureStep) {
		sum -= float64(s) * form.TemperatureStep
	}
	if math.Abs(sum) > form.TemperatureStep/2+1e-9 {
		t.Errorf("%v are lost", sum)
	}
	for i, s := range steps([]float64{0, 19, 19, 0, -1, 1000}, form.SunStep) {
		if want := []int{0, 0, 1, 0, 0, 25}[i]; s != want {
			t.Errorf("step %d is %d, want %d", i, s, want)
		}
	}
}
