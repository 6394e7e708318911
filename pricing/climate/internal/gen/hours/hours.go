// Package hours converts weather to the compact form of a typical year for package form.
package hours

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/gridhook/gridhook/pricing/climate/internal/form"
)

// Steps converts a column to steps. An hour of night keeps 0 sun.
func Steps(values []float64, step float64) []int16 {
	steps := make([]int16, len(values))
	carried := 0.0
	for i, v := range values {
		if v == 0 && step == form.SunStep {
			continue
		}
		steps[i] = int16(math.Round((v + carried) / step))
		if step == form.SunStep && steps[i] < 0 {
			steps[i] = 0
		}
		carried += v - float64(steps[i])*step
	}
	return steps
}

// Winds returns the mean winds by month and hour of the day.
func Winds(values []float64) (winds [form.Months * form.HoursADay]int16) {
	var sums, counts [form.Months * form.HoursADay]float64
	for i, v := range values {
		at := form.WindAt(i)
		sums[at] += v
		counts[at]++
	}
	for at := range winds {
		winds[at] = int16(math.Round(sums[at] / counts[at] / form.WindStep))
	}
	return winds
}

// Encode returns the packed form of a year.
func Encode(y *form.Year) ([]byte, error) {
	var plain []byte
	put := func(steps, expected int) { plain = binary.AppendVarint(plain, int64(steps-expected)) }
	for _, column := range [][]int16{y.Temperature, y.DNI, y.DHI} {
		if len(column) != form.Hours || len(y.GHI) != form.Hours {
			return nil, fmt.Errorf("form: a column of %d hours, want %d", len(column), form.Hours)
		}
		last := 0
		for _, v := range column {
			put(int(v), last)
			last = int(v)
		}
	}
	var h form.Heights
	for i, v := range y.GHI {
		put(int(v), h.Expect(i, y.DNI[i], y.DHI[i]))
		h.See(i, y.DNI[i], y.DHI[i], v)
	}
	for _, v := range y.Wind {
		put(int(v), 0)
	}
	var packed bytes.Buffer
	w, err := flate.NewWriter(&packed, flate.BestCompression)
	if err == nil {
		_, err = w.Write(plain)
		err = errors.Join(err, w.Close())
	}
	if err != nil {
		return nil, fmt.Errorf("form: %w", err)
	}
	return packed.Bytes(), nil
}
